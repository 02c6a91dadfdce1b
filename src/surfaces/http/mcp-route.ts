import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { createMcp } from '../mcp/mcp.ts'
import type { McpParts } from '../mcp/server.ts'
import type { AddressSettings } from './address.ts'
import { readText } from './body.ts'
import { readCall } from './call.ts'
import { isOwnOrigin } from './origin.ts'

/** The parts of the route. */
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
export async function mcpRoute(app: FastifyInstance, parts: McpRouteParts): Promise<void> {
  const answerMcp = createMcp(parts)

  app.post('/mcp', async (request, reply) => {
    const { host, origin } = request.headers
    const fault = hostFault(host, parts.baseUrls()) ?? originFault(origin, host, parts.baseUrls())
    if (fault !== null) {
      const error = { code: -32_000, message: fault }
      return reply.code(403).send({ jsonrpc: '2.0', error, id: null })
    }
    const { address, credential, headers, gone } = readCall(
      request,
      reply,
      parts.addresses,
      'keyed',
    )
    const answer = await answerMcp({
      headers: headersOf(request.raw),
      body: await readText(request.raw, reply.raw, maxBodyBytes),
      caller: { address, credential, headers, gone },
    })
    return sendResponse(reply.headers(headers), answer)
  })
}

/** Sends the response of the protocol's handler: events as they come, any other body at once. */
async function sendResponse(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  const { status, headers, body } = answer
  reply.code(status).headers(Object.fromEntries(headers))
  if (headers.get('content-type') === 'text/event-stream') return reply.send(body)
  const bytes = Buffer.from(await answer.arrayBuffer())
  return bytes.length === 0 ? reply.send() : reply.send(bytes)
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
  return origin === undefined || isOwnOrigin(origin, host, baseUrls)
    ? null
    : `This server does not accept requests from the origin "${origin.slice(0, 100)}".`
}

function nameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}
