import {
  createMcpHandler,
  type McpRequestContext,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { parseJson } from '../../core/text.ts'
import type { ToolCaller } from '../../operations/gate/tool.ts'
import { type Asked, createServers, type McpParts } from './server.ts'
import { createSessionTokens } from './session.ts'

/** One POST to the endpoint with its body. */
export interface McpRequest {
  headers: Headers
  body: string
  caller: Omit<ToolCaller, 'session'>
}

/** The caller and its request; null stands for any request. */
interface McpCall {
  caller: ToolCaller
  asked: Asked | null
}

const sessionHeader = 'mcp-session-id'
/** An address for the handler of the protocol, which needs one and does not use it. */
const address = 'http://localhost/mcp'

/**
 * Answers the tool protocol over Streamable HTTP and keeps no state: each request gets a server that knows
 * the caller. It speaks both eras of the protocol. A 2025-era client gets a signed random session token
 * when it initializes, and every node can check the token.
 */
export function createMcp(parts: McpParts): (request: McpRequest) => Promise<Response> {
  const newServer = createServers(parts)
  const tokens = createSessionTokens(parts.service)
  const handler = createMcpHandler(
    (context) => {
      const { caller, asked } = callOf(context)
      return newServer(caller, asked)
    },
    // The handler reports faults of callers here, and the callers get them as answers.
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
      answer.headers.set(sessionHeader, await tokens.issue())
    }
    // The HTTP server decides whether it keeps the connection.
    answer.headers.delete('connection')
    return answer
  }
}

/** Leaves out a body that is already parsed, because the request would copy it. */
function requestOf(headers: Headers, body: string | null = null): Request {
  return new Request(address, { method: 'POST', headers, body })
}

function callOf({ authInfo }: McpRequestContext): McpCall {
  const call = authInfo?.extra?.call
  if (call === undefined) throw new Error('a request of the tool endpoint without its caller')
  return call as McpCall
}

/**
 * Reads what a message asks for: a batch may ask for anything, and a value that is no message asks for
 * nothing.
 */
function askedBy(message: unknown): Asked | null {
  if (Array.isArray(message)) return null
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } }
  if (typeof method !== 'string') return { method: '', tool: null }
  const isCall = method === 'tools/call' && typeof params?.name === 'string'
  return { method, tool: isCall ? String(params.name) : null }
}

const maxBatch = 20
/** Methods of which each call is counted, or has an answer of one word. */
const maybeRepeated = /^(tools\/call|ping|notifications\/.*)$/

/**
 * Returns the reason to refuse a batch, or null. Lists are long, cost no daily call, and are the same
 * within a batch, so a batch may ask for each list once.
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
