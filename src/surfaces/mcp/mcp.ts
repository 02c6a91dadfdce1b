import {
  createMcpHandler,
  type McpRequestContext,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { parseJson } from '../../core/text.ts'
import type { ToolCaller } from '../../operations/gate/tool.ts'
import { type Asked, createServers, type McpParts } from './server.ts'
import { createSessionTokens } from './session.ts'

/** One POST to the endpoint, its body read. */
export interface McpRequest {
  headers: Headers
  body: string
  caller: Omit<ToolCaller, 'session'>
}

/** Who asks, and for what; null is anything. */
interface McpCall {
  caller: ToolCaller
  asked: Asked | null
}

const sessionHeader = 'mcp-session-id'
/** What the protocol's handler is told of the address, of which it uses nothing. */
const address = 'http://localhost/mcp'

/**
 * Answers the tool protocol over Streamable HTTP without a memory of its own: each request gets a
 * server that knows the caller. Both protocol eras are spoken; a 2025-era client is given a signed
 * random session token when it initializes, which any node can check.
 */
export function createMcp(parts: McpParts): (request: McpRequest) => Promise<Response> {
  const newServer = createServers(parts)
  const tokens = createSessionTokens(parts.service)
  const handler = createMcpHandler(
    (context) => {
      const { caller, asked } = callOf(context)
      return newServer(caller, asked)
    },
    // It tells of what callers got wrong, and they are told.
    { onerror: () => {} },
  )

  return async ({ headers, body, caller }) => {
    const session = headers.get(sessionHeader)
    if (session !== null && !(await tokens.isOurs(session))) {
      return refused(404, unknownSession, 'This session is not known; initialize again.')
    }
    const message = parseJson(body)
    const fault = Array.isArray(message) ? batchFault(message) : null
    if (fault !== null) return refused(400, ProtocolErrorCode.InvalidRequest, fault)
    const call: McpCall = { caller: { ...caller, session }, asked: askedBy(message) }
    const authInfo = { token: '', clientId: '', scopes: [], extra: { call } }
    const answer =
      message === undefined
        ? await handler.fetch(requestOf(headers, body), { authInfo })
        : await handler.fetch(requestOf(headers), { authInfo, parsedBody: message })
    if (call.asked?.method === 'initialize' && answer.ok) {
      answer.headers.set(sessionHeader, await tokens.give())
    }
    // Whether a connection is kept is the HTTP server's to say.
    answer.headers.delete('connection')
    return answer
  }
}

/** Without the body where it was read, since a request would copy it. */
function requestOf(headers: Headers, body: string | null = null): Request {
  return new Request(address, { method: 'POST', headers, body })
}

function callOf({ authInfo }: McpRequestContext): McpCall {
  const call = authInfo?.extra?.call
  if (call === undefined) throw new Error('a request of the tool endpoint without its caller')
  return call as McpCall
}

/** Several messages in one body ask for anything; what is no message asks for nothing. */
function askedBy(message: unknown): Asked | null {
  if (Array.isArray(message)) return null
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } }
  if (typeof method !== 'string') return { method: '', tool: null }
  const isCall = method === 'tools/call' && typeof params?.name === 'string'
  return { method, tool: isCall ? String(params.name) : null }
}

const maxBatch = 20
/** What is counted for each caller, or answered in a word. */
const maybeRepeated = /^(tools\/call|ping|notifications\/.*)$/

/**
 * Why a batch is not answered, or null. Lists are long, cost no caller any of its daily calls, and do not
 * differ within a batch, so each is asked for once.
 */
function batchFault(messages: readonly unknown[]): string | null {
  if (messages.length > maxBatch) {
    return `A batch has at most ${maxBatch} messages; this one has ${messages.length}.`
  }
  const methods = new Set<string>()
  for (const message of messages) {
    const method = askedBy(message)?.method ?? ''
    if (methods.has(method) && !maybeRepeated.test(method)) {
      return `Send ${method.slice(0, 100)} once in a batch.`
    }
    if (method !== '') methods.add(method)
  }
  return null
}

const unknownSession = -32_001

function refused(status: number, code: number, message: string): Response {
  const error = { code, message }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status })
}
