import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { parse } from 'node:querystring'
import type { Call, Operation } from '../../operations/gate/declaration.ts'
import { type AddressSettings, addressBucket } from './address.ts'
import { readText } from './body.ts'
import type { Exchange } from './exchange.ts'
import { queryOf } from './route.ts'

/**
 * One HTTP request as the gate sees it; nothing of its body is read yet. The operator's
 * credential is read from the header alone, because proxies log addresses.
 */
export function readCall(
  exchange: Exchange,
  addresses: AddressSettings,
  access: Operation['access'],
): Call {
  const { request, response, headers: answerHeaders } = exchange
  const { headers, method = '', url = '' } = request
  const query = parametersOf(queryOf(url))
  let signal: AbortSignal | null = null
  return {
    method,
    address: addressBucket(addresses, request, request.socket.remoteAddress),
    credential: credentialOf(headers.authorization, access === 'admin' ? undefined : query.key),
    idempotencyKey: headerText(headers['idempotency-key']),
    query: lastValues(query),
    contentType: contentTypeOf(headers),
    readBody: (maxBytes) => readText(exchange, maxBytes),
    headers: answerHeaders,
    gone() {
      signal ??= goneSignal(response)
      return signal
    },
  }
}

/** Aborted when the connection closes before the answer is out. */
function goneSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (response.closed) controller.abort()
  else response.once('close', () => controller.abort())
  return controller.signal
}

type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>

const none: Parameters = {}

function parametersOf(query: string): Parameters {
  if (query === '') return none
  return parse(query, '&', '=', { maxKeys: 0, decodeURIComponent: decoded })
}

/** What cannot be decoded is taken as it was sent. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The header decides alone when it is present; a parameter that was sent more than once is no key. */
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

function contentTypeOf({ 'content-type': sent = '' }: IncomingHttpHeaders): string {
  const [type = ''] = sent.split(';')
  return type.trim().toLowerCase()
}
