import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../operations/gate/refusal.ts'

/**
 * Refuses a request that two readers could read in two ways, such as a proxy and this server; null for
 * one that has one reading. The connection is closed, because the same holds for what follows.
 */
export function ambiguityOf(request: IncomingMessage): Refusal | null {
  const { httpVersionMajor, httpVersion, headers, rawHeaders } = request
  if (httpVersionMajor < 1) return ambiguous.versionless
  let hosts = 0
  let credentials = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    // Compare lengths first, because most names then need no conversion to lower case.
    if (name.length === hostLength && name.toLowerCase() === 'host') hosts += 1
    if (name.length === credentialLength && name.toLowerCase() === 'authorization') credentials += 1
  }
  if (hosts > 1) return ambiguous.hosts
  if (credentials > 1) return ambiguous.credentials
  if (hosts === 0 && httpVersion === '1.1') return ambiguous.hostless
  // Node's parser refuses a list that does not end in chunked.
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

function refusedUnread(detail: string): Refusal {
  return new Refusal(400, 'bad_request', { detail }, { connection: 'close' })
}
