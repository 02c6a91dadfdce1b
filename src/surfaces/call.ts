import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Call, Operation } from '../operations/operation.ts'
import { type AddressSettings, addressBucket } from './address.ts'
import { readText } from './body.ts'

/**
 * One HTTP request as the gate sees it; nothing of its body is read yet. The credential of whoever
 * runs the server is read from the header alone, because addresses are logged.
 */
export function readCall(
  request: FastifyRequest,
  addresses: AddressSettings,
  access: Operation['access'],
): Call {
  const { headers } = request
  const query = request.query as Record<string, string | string[]>
  const body = request.body as IncomingMessage | undefined
  return {
    method: request.method,
    address: addressBucket(addresses, headers, request.socket.remoteAddress),
    credential: credentialOf(headers.authorization, access === 'admin' ? undefined : query.key),
    idempotencyKey: headerText(headers['idempotency-key']),
    query: lastValues(query),
    contentType: contentTypeOf(request),
    readBody: async (maxBytes) => (body === undefined ? '' : readText(body, maxBytes)),
    headers: {},
  }
}

/** The header decides alone when it is present; a parameter that was sent more than once is no key. */
function credentialOf(
  header: string | undefined,
  parameter: string | string[] | undefined,
): string | undefined {
  if (header !== undefined) return /^bearer +(\S+) *$/i.exec(header)?.[1] ?? ''
  return Array.isArray(parameter) ? '' : parameter
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}

function lastValues(query: Record<string, string | string[]>): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(query)) {
    if (name !== 'key') values[name] = Array.isArray(value) ? (value.at(-1) ?? '') : value
  }
  return values
}

/** From the headers as sent: the surface replaces the parsed one, so that none is ever refused. */
function contentTypeOf({ raw }: FastifyRequest): string {
  const at = raw.rawHeaders.findIndex((name, i) => i % 2 === 0 && /^content-type$/i.test(name))
  const [type = ''] = at < 0 ? [] : (raw.rawHeaders[at + 1] ?? '').split(';')
  return type.trim().toLowerCase()
}
