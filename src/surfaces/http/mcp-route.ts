import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { createMcp } from '../mcp/mcp.ts'
import type { McpParts } from '../mcp/server.ts'
import type { AddressSettings } from './address.ts'
import { readText } from './body.ts'
import { readCall } from './call.ts'
import { type Exchange, sendJson, sendResponse } from './exchange.ts'
import type { Route } from './route.ts'

/** What the route is made from. */
export interface McpRouteParts extends McpParts {
  addresses: AddressSettings
  /** Base addresses, the main one first. */
  baseUrls(): readonly string[]
}

const maxBodyBytes = 256 * 1024

/**
 * Serves the tool endpoint, which is POST alone: there is no stream to open and no session to end.
 * Pages of other sites can have a browser send requests here, also under a name that leads to this
 * machine, so the host must be one this server is known by (its base addresses, an IP address or
 * localhost) and an origin must be the server's own.
 */
export function mcpRoutes(parts: McpRouteParts): Route[] {
  const answerMcp = createMcp(parts)

  async function answer(exchange: Exchange): Promise<void> {
    const { request } = exchange
    const { host, origin } = request.headers
    const fault = hostFault(host, parts.baseUrls()) ?? originFault(origin, host, parts.baseUrls())
    if (fault !== null) {
      const error = { code: -32_000, message: fault }
      return sendJson(exchange, 403, { jsonrpc: '2.0', error, id: null })
    }
    const { address, credential, headers, gone } = readCall(exchange, parts.addresses, 'keyed')
    const answered = await answerMcp({
      headers: headersOf(request),
      body: await readText(exchange, maxBodyBytes),
      caller: { address, credential, headers, gone },
    })
    await sendResponse(exchange, answered)
  }

  return [{ method: 'POST', path: '/mcp', answer }]
}

/** The headers as they were sent, repeated ones too. */
function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  }
  return headers
}

function hostFault(host: string | undefined, baseUrls: readonly string[]): string | null {
  const name = nameOf(`http://${host ?? ''}`)
  const known = baseUrls.map(nameOf)
  if (name === 'localhost' || isIP(name.replace(/^\[|\]$/g, '')) !== 0 || known.includes(name)) {
    return null
  }
  return `This server does not know the host "${name}"; set PLUMBLINE_BASE_URL to its address.`
}

function originFault(
  origin: string | undefined,
  host: string | undefined,
  baseUrls: readonly string[],
): string | null {
  if (origin === undefined) return null
  const own = URL.canParse(origin) ? new URL(origin) : null
  const accepted =
    own?.host === host || baseUrls.some((baseUrl) => new URL(baseUrl).origin === own?.origin)
  return accepted
    ? null
    : `This server does not accept requests from the origin "${origin.slice(0, 100)}".`
}

function nameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}
