import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Service } from '../../operations/gate/context.ts'
import type { Answer, Call, Operation } from '../../operations/gate/declaration.ts'
import type { AddressSettings } from './address.ts'
import { jsonType, sendLines } from './answer.ts'
import { readCall } from './call.ts'
import { inSpan } from './tracing.ts'

/** What the routes of operations are made from. */
export interface OperationRoutesParts {
  service: Service
  operations: readonly Operation[]
  addresses: AddressSettings
}

/** Serves each operation where it declares. */
export async function operationRoutes(
  app: FastifyInstance,
  { service, operations, addresses }: OperationRoutesParts,
): Promise<void> {
  for (const operation of operations) {
    const { name, access } = operation
    const { method, path } = operation.http
    app.route({
      method,
      url: path,
      handler: (request, reply) =>
        inSpan(request, reply, path, name, async () => {
          const call = readCall(request, reply, addresses, access)
          const { status, body, json } = await ask(operation, service, call, reply)
          reply.code(status)
          if (isStream(body)) return sendLines(reply, body)
          reply.type(jsonType)
          return json ?? jsonOf(operation, body)
        }),
    })
  }
}

/** Has an operation answer, and hands on the headers that its gate has added, refused or not. */
async function ask(
  operation: Operation,
  service: Service,
  call: Call,
  reply: FastifyReply,
): Promise<Answer> {
  try {
    return await operation.answer(service, call)
  } finally {
    reply.headers(call.headers)
  }
}

function isStream(body: unknown): body is AsyncIterable<string> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

/** The JSON of a body. Throws when it has none. */
function jsonOf({ write }: Operation, body: unknown): string | Buffer {
  if (write !== undefined) return Buffer.from(write(body), 'latin1')
  const json: string | undefined = JSON.stringify(body)
  if (json === undefined) throw new Error('an operation answered nothing')
  return json
}
