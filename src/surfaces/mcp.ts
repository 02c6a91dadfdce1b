import { createHmac, timingSafeEqual } from 'node:crypto'
import {
  createMcpHandler,
  type McpRequestContext,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { parseJson } from '../core/text.ts'
import type { Service } from '../operations/operation.ts'
import { Refusal } from '../operations/refusal.ts'
import type { Tool, ToolCaller } from '../operations/tool.ts'
import { isUnavailable } from '../storage/database.ts'

/** What the tool endpoint is made from. */
export interface McpParts {
  service: Service
  tools: readonly Tool[]
  /** Of this program. */
  version: string
  /** Told of what is a fault of the server. */
  onFault(error: unknown, tool: string): void
  /** More to register on every server; tests add the fixtures of a conformance suite. */
  extend?: ((server: McpServer) => void) | undefined
}

/** One HTTP request to the endpoint, its body read. */
export interface McpRequest {
  url: string
  method: string
  headers: Headers
  body: string | undefined
  caller: Omit<ToolCaller, 'session'>
}

const sessionHeader = 'mcp-session-id'
const resultHeaders = { 'content-type': 'application/json' }

/**
 * Answers the tool protocol over Streamable HTTP without a memory of its own: each request gets a
 * server that knows the caller. Both protocol eras are spoken; a 2025-era client is given a signed
 * random session token when it initializes, which any node can check.
 */
export function createMcp(parts: McpParts): (request: McpRequest) => Promise<Response> {
  const handler = createMcpHandler((context) => createServer(parts, callOf(context)), {
    onerror: () => {},
  })
  const signing = createSigning(parts.service)

  return async ({ url, method, headers, body, caller }) => {
    const token = headers.get(sessionHeader)
    if (token !== null && !(await signing.isSigned(token))) {
      return refused(404, 'This session is not known; initialize again.')
    }
    const message = body === undefined ? undefined : parseJson(body)
    const call: McpCall = {
      caller: { ...caller, session: token },
      onlyTool: calledTool(message),
    }
    const request = new Request(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    })
    const answer = await handler.fetch(request, {
      authInfo: { token: '', clientId: '', scopes: [], extra: { call } },
      ...(message === undefined ? {} : { parsedBody: message }),
    })
    const told = new Headers(answer.headers)
    // Whether a connection is kept is the HTTP server's to say.
    told.delete('connection')
    if (isInitialize(message) && answer.ok) told.set(sessionHeader, await signing.newToken())
    return new Response(answer.body, { status: answer.status, headers: told })
  }
}

/** A server with the tools, resources and prompt, for one caller. */
export function createServer(parts: McpParts, { caller, onlyTool }: McpCall): McpServer {
  const server = new McpServer(
    { name: 'plumbline', title: 'Plumbline', version: parts.version },
    { instructions },
  )
  // Building every tool is most of what a call would cost.
  const tools =
    onlyTool === null ? parts.tools : parts.tools.filter(({ name }) => name === onlyTool)
  for (const tool of tools) registerTool(server, parts, tool, caller)
  if (onlyTool === null || tools.length === 0) {
    registerResources(server, parts, caller)
    registerPrompt(server)
    parts.extend?.(server)
  }
  return server
}

/** Who asks, and the one tool that is called, or null when it is something else. */
export interface McpCall {
  caller: ToolCaller
  onlyTool: string | null
}

const instructions =
  'Plumbline tells whether you are still on your errand. When the user gives you a task, call check_state with their own words as the goal; then at each new step with what you are doing now. Set user_turn when the user redirects you, and parent_goal for a sub-task. A verdict states facts; the ground moves only when the user speaks.'

function callOf({ authInfo }: McpRequestContext): McpCall {
  const call = authInfo?.extra?.call
  if (call === undefined) throw new Error('a request of the tool endpoint without its caller')
  return call as McpCall
}

function calledTool(message: unknown): string | null {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } }
  return method === 'tools/call' && typeof params?.name === 'string' ? params.name : null
}

function isInitialize(message: unknown): boolean {
  const first = Array.isArray(message) ? message[0] : message
  return (first as { method?: unknown } | null | undefined)?.method === 'initialize'
}

function registerTool(server: McpServer, parts: McpParts, tool: Tool, caller: ToolCaller): void {
  server.registerTool(
    tool.name,
    {
      title: tool.title,
      description: tool.description,
      annotations: { title: tool.title, ...tool.hints },
      inputSchema: readByTheGate(tool.input),
      outputSchema: tool.output,
    },
    async (sent: unknown) => {
      try {
        const answer = await tool.answer(parts.service, caller, sent)
        return {
          content: [{ type: 'text', text: JSON.stringify(answer) }],
          structuredContent: answer,
        }
      } catch (error) {
        return {
          isError: true,
          content: [{ type: 'text', text: JSON.stringify(faultOf(error, parts, tool.name)) }],
        }
      }
    },
  )
}

/** The schema as it is described; what arrives is read by the tool's own gate, once it was counted. */
function readByTheGate(schema: z.ZodObject): typeof schema {
  const standard = {
    ...schema['~standard'],
    validate: (value: unknown) => ({ value }),
  }
  return { '~standard': standard } as unknown as z.ZodObject
}

function faultOf(error: unknown, { onFault }: McpParts, tool: string): unknown {
  if (error instanceof Refusal) return error.body
  if (isUnavailable(error)) {
    return { error: 'unavailable', detail: 'The database cannot be reached right now; try again.' }
  }
  onFault(error, tool)
  return { error: 'internal', detail: 'This is a fault of the server; its log tells more.' }
}

function registerResources(server: McpServer, parts: McpParts, caller: ToolCaller): void {
  const { service, tools } = parts
  const ask = async (name: string, sent: object) => {
    const tool = tools.find((known) => known.name === name)
    if (tool === undefined) throw new Error(`there is no tool ${name}`)
    return tool.answer(service, caller, sent)
  }
  const contents = (uri: URL, answer: unknown) => ({
    contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(answer) }],
  })
  server.registerResource(
    'grammar',
    'plumbline://grammar',
    {
      title: 'The detector described as data',
      description: 'Fields, normaliser, formulas, thresholds, and the reasons in their order.',
      mimeType: 'application/json',
    },
    async (uri) => contents(uri, await ask('drift_grammar', {})),
  )
  server.registerResource(
    'trace',
    new ResourceTemplate('plumbline://tasks/{session}', { list: undefined }),
    {
      title: 'The trace of a task',
      description:
        'The ground of a task and its latest 200 steps, by the session it is kept under.',
      mimeType: 'application/json',
    },
    async (uri, { session }) =>
      contents(
        uri,
        await ask('get_history', { session: decodeURIComponent(String(session)), limit: 200 }),
      ),
  )
}

function registerPrompt(server: McpServer): void {
  server.registerPrompt(
    'report_step',
    {
      title: 'Report a step',
      description: 'How to report what you are doing so that drift is seen early.',
      argsSchema: z.object({
        errand: z.string().optional().describe('The errand in the user’s own words.'),
      }),
    },
    ({ errand }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: reportStep(errand) } }],
    }),
  )
}

function reportStep(errand: string | undefined): string {
  const first =
    errand === undefined
      ? 'the user’s own words for the errand as goal'
      : `this errand, as the user worded it, as goal: ${JSON.stringify(errand)}`
  return [
    `Report your work with the tool check_state. Begin with ${first}, progress "advancing" and an honest distance (10 is nothing done, 0 is done).`,
    'Then, at each new step: say in one line what you are doing now, naming the thing and not the tool; keep distance honest; say stuck or circling when it is so.',
    'A sub-task carries the larger goal in parent_goal. When the user redirects you, set user_turn.',
    'A drifting verdict states what was measured. If the user did redirect you, report it with user_turn; if this is a sub-task, declare its parent; otherwise the ground it names is still the errand.',
  ].join('\n\n')
}

function refused(status: number, message: string): Response {
  const body = { jsonrpc: '2.0', error: { code: -32_001, message }, id: null }
  return new Response(JSON.stringify(body), { status, headers: resultHeaders })
}

/** Tokens that say of themselves that this installation gave them out. */
function createSigning({ store, newId }: Pick<Service, 'store' | 'newId'>) {
  let secret: Promise<string> | null = null

  function take(): Promise<string> {
    secret ??= store.secrets.take('sessions', newId('secret')).catch((error) => {
      secret = null
      throw error
    })
    return secret
  }

  async function signatureOf(name: string): Promise<Buffer> {
    return createHmac('sha256', await take())
      .update(name)
      .digest()
  }

  return {
    async newToken(): Promise<string> {
      const name = newId('session')
      return `${name}.${(await signatureOf(name)).toString('base64url')}`
    },
    async isSigned(token: string): Promise<boolean> {
      const [name = '', given = '', ...more] = token.split('.')
      const signature = Buffer.from(given, 'base64url')
      const expected = await signatureOf(name)
      return (
        more.length === 0 &&
        signature.length === expected.length &&
        timingSafeEqual(signature, expected)
      )
    },
  }
}
