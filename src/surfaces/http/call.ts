import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { parse } from 'node:querystring'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Call, Operation } from '../../operations/gate/declaration.ts'
import { type AddressSettings, addressBucket } from './address.ts'
import { readText } from './body.ts'

/**
 * One HTTP request as the gate sees it; nothing of its body is read yet. The operator's
 * credential is read from the header alone, because proxies log addresses.
 */
export function readCall(
  request: FastifyRequest,
  reply: FastifyReply,
  addresses: AddressSettings,
  access: Operation['access'],
): Call {
  const { headers, method, raw, ip, id } = request
  const query = request.query as Parameters
  let signal: AbortSignal | null = null
  return {
    method,
    address: addressBucket(addresses, raw, ip),
    credential: credentialOf(headers.authorization, access === 'admin' ? undefined : query.key),
    idempotencyKey: headerText(headers['idempotency-key']),
    lastEventId: headerText(headers['last-event-id']),
    query: lastValues(query),
    contentType: contentTypeOf(headers),
    readBody: (maxBytes) => readText(raw, reply.raw, maxBytes),
    headers: { 'x-request-id': id },
    gone() {
      signal ??= goneSignal(reply.raw)
      return signal
    },
  }
}

/** A signal that aborts if the connection closes before the answer is sent. */
function goneSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (response.closed) controller.abort()
  else response.once('close', () => controller.abort())
  return controller.signal
}

type Parameters = Record<string, string | string[] | undefined>

const none: Parameters = {}

/** Parses the query of a URL. */
export function parametersOf(query: string): Parameters {
  if (query === '') return none
  return parse(query, '&', '=', { maxKeys: 0, decodeURIComponent: decoded })
}

/** Decodes a text, or returns it unchanged if it cannot be decoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The credential of the header, or without a header that of the parameter. A repeated parameter is no key. */
function credentialOf(
  header: string | undefined,
  parameter: Parameters[string],
): string | undefined {
  if (header !== undefined) return /^bearer +(\S+) *$/i.exec(header)?.[1] ?? ''
  return typeof parameter === 'object' ? '' : parameter
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}

function lastValues(query: Parameters): Record<string, string> {
  const values: Record<string, string> = {}
  for (const name in query) {
    const value = query[name]
    if (name !== 'key') values[name] = (typeof value === 'object' ? value.at(-1) : value) ?? ''
  }
  return values
}

/** The type of a body, without its parameters. */
export function contentTypeOf({ 'content-type': sent = '' }: IncomingHttpHeaders): string {
  const [type = ''] = sent.split(';')
  return type.trim().toLowerCase()
}
