import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../operations/gate/refusal.ts'
import type { Exchange } from './exchange.ts'

/** Something that can be asked over HTTP; a GET is answered to HEAD too, which node:http leaves bodiless. */
export interface Route {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  /** Sends the answer. What it throws before is answered as a refusal or a fault. */
  answer(exchange: Exchange): Promise<void> | void
}

/** What answers a request; `path` is the route's, or `unknown`. */
export type Answering = Pick<Route, 'path' | 'answer'>

/** What answers a request that has no route: 405 where its path has one of another method, else 404. */
export function refusalFor(routes: readonly Route[]): (request: IncomingMessage) => Answering {
  const byPath = new Map<string, Answering>()
  for (const [path, same] of Map.groupBy(routes, ({ path }) => path)) {
    const methods = same.map(({ method }) => method)
    byPath.set(path, refusing(methods.includes('GET') ? [...methods, 'HEAD'] : methods))
  }
  return ({ url = '' }) => {
    const path = pathOf(url)
    return path === null ? undecodable : (byPath.get(path) ?? missing)
  }
}

/** What stands behind the `?` of an address, as sent; '' without. */
export function queryOf(url: string): string {
  const end = pathEnd(url)
  return end < 0 ? '' : url.slice(end + 1)
}

/** The decoded path of an address, or null when it cannot be decoded. */
function pathOf(url: string): string | null {
  const end = pathEnd(url)
  const sent = end < 0 ? url : url.slice(0, end)
  // A proxy may send the whole address.
  const path = sent.startsWith('/') ? sent : sent.replace(/^https?:\/\/[^/]*/i, '')
  if (!path.includes('%')) return path
  try {
    return decodeURI(path)
  } catch {
    return null
  }
}

function pathEnd(url: string): number {
  const query = url.indexOf('?')
  const fragment = url.indexOf('#')
  return fragment < 0 || (query >= 0 && query < fragment) ? query : fragment
}

/** Answers a path that is not percent-encoded UTF-8. */
export const undecodable = refusedRoute(
  new Refusal(400, 'bad_request', {
    detail: 'The path cannot be decoded; send it percent-encoded in UTF-8.',
  }),
)

/**
 * What refuses a request that two readers could read in two ways, such as a proxy and this server;
 * null for one that has one reading. The connection is closed, because the same holds for what follows.
 */
export function ambiguityOf(request: IncomingMessage): Answering | null {
  const { httpVersionMajor, httpVersion, headers, rawHeaders } = request
  if (httpVersionMajor < 1) return ambiguous.versionless
  let hosts = 0
  let credentials = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    // Most names have another length, and are not put into lower case.
    if (name.length === hostLength && name.toLowerCase() === 'host') hosts += 1
    if (name.length === credentialLength && name.toLowerCase() === 'authorization') credentials += 1
  }
  if (hosts > 1) return ambiguous.hosts
  if (credentials > 1) return ambiguous.credentials
  if (hosts === 0 && httpVersion === '1.1') return ambiguous.hostless
  // One that does not end in chunked is refused by Node's parser.
  const encodings = headers['transfer-encoding']?.split(',').length ?? 0
  return encodings > 1 ? ambiguous.encoding : null
}

const hostLength = 'host'.length
const credentialLength = 'authorization'.length

const ambiguous = {
  versionless: refusedUnread('The request names no HTTP version; send HTTP/1.1.'),
  hosts: refusedUnread('The header Host was sent more than once; send it once.'),
  hostless: refusedUnread('The header Host is missing; send the name of this server.'),
  credentials: refusedUnread('The header Authorization was sent more than once; send it once.'),
  encoding: refusedUnread(
    'The server reads no transfer encoding except chunked; send that or none.',
  ),
}

function refusedUnread(detail: string): Answering {
  return refusedRoute(new Refusal(400, 'bad_request', { detail }, { connection: 'close' }))
}

const missing = refusedRoute(
  new Refusal(404, 'not_found', { detail: 'There is no such route; see /v1/openapi.json.' }),
)

function refusing(methods: readonly string[]): Answering {
  const allow = [...methods].sort().join(', ')
  return refusedRoute(
    new Refusal(405, 'method_not_allowed', { detail: `Send ${allow}.` }, { allow }),
  )
}

function refusedRoute(refusal: Refusal): Answering {
  return {
    path: 'unknown',
    answer() {
      throw refusal
    },
  }
}
