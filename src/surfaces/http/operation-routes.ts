import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Service } from '../../operations/gate/context.ts'
import type { Answer, Call, Operation } from '../../operations/gate/declaration.ts'
import { jsonType, sendLines } from './answer.ts'
import { type BrowserParts, readBrowser } from './browser.ts'
import { readCall } from './call.ts'
import { inSpan } from './tracing.ts'

/** The parts of the routes of operations. */
export interface OperationRoutesParts extends BrowserParts {
  service: Service
  operations: readonly Operation[]
}

/** Serves each operation at the path that it declares. */
export async function operationRoutes(
  app: FastifyInstance,
  { service, operations, ...parts }: OperationRoutesParts,
): Promise<void> {
  for (const operation of operations) {
    const { name, access, streams } = operation
    const { method, path } = operation.http
    app.route({
      method,
      url: path,
      handler: (request, reply) =>
        inSpan(request, reply, path, name, async () => {
          const read = readCall(request, reply, parts.addresses, access)
          const call = Object.assign(read, { browser: () => readBrowser(request, reply, parts) })
          const { status, body, json } = await ask(operation, service, call, reply)
          reply.code(status)
          if (isStream(body)) return sendLines(reply, body, streams)
          reply.type(jsonType)
          return json ?? jsonOf(operation, body)
        }),
    })
  }
}

/** Runs an operation, and adds the headers of its gate to the reply, also if the gate refuses. */
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

/** Writes a body as JSON. Throws if the body has no JSON form. */
function jsonOf({ write }: Operation, body: unknown): string | Buffer {
  if (write !== undefined) return Buffer.from(write(body), 'latin1')
  const json: string | undefined = JSON.stringify(body)
  if (json === undefined) throw new Error('an operation returned no answer')
  return json
}
