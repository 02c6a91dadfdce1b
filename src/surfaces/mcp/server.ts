import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  type ServerOptions,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Service } from '../../operations/gate/context.ts'
import { Refusal } from '../../operations/gate/refusal.ts'
import type { Tool, ToolCaller } from '../../operations/gate/tool.ts'
import { isUnavailable, mayBeStored } from '../../storage/database/database.ts'

/** The parts of a server of the tool protocol. */
export interface McpParts {
  service: Service
  tools: readonly Tool[]
  /** The version of this program. */
  version: string
  /** Called with a fault of the server. */
  onFault(error: unknown, tool: string): void
  /** Additions to the served tools; tests add the fixtures of a conformance suite. */
  extension?: McpExtension | undefined
}

/** Options and registrations that this program does not have itself. */
export interface McpExtension {
  options: ServerOptions
  register(server: McpServer): void
}

/** The request that a server is made for. */
export interface Asked {
  method: string
  /** The called tool; null if the request calls none. */
  tool: string | null
}

/**
 * Creates servers with the tools, resources and prompt, each for one caller. Registering is most of the
 * cost of an answer, so a server for one request registers only what the request needs.
 */
export function createServers(
  parts: McpParts,
): (caller: ToolCaller, asked: Asked | null) => McpServer {
  const { tools, version, extension } = parts
  const info = { name: 'plumbline', title: 'Plumbline', version }
  const options: ServerOptions = {
    instructions,
    // Declared here, because a server may have registered nothing. The lists never change.
    capabilities: {
      tools: { listChanged: false },
      resources: { listChanged: false },
      prompts: { listChanged: false },
    },
    ...extension?.options,
  }
  const configs = new Map(tools.map((tool) => [tool, configOf(tool)]))

  return (caller, asked) => {
    const server = new McpServer(info, options)
    const asks = (area: string) => asked === null || asked.method.startsWith(area)
    if (asks('tools/')) {
      for (const [tool, config] of configs) {
        if (asked?.tool === tool.name || (asked?.tool ?? null) === null) {
          server.registerTool(tool.name, config, (sent) => answerTool(parts, tool, caller, sent))
        }
      }
    }
    if (asks('resources/')) registerResources(server, parts, caller)
    if (asks('prompts/')) registerPrompt(server)
    extension?.register(server)
    return server
  }
}

const instructions =
  'Plumbline tells whether you are still on your errand. When the user gives you a task, call check_state with their own words as ground and what you begin with as goal; send your plan with it, or as soon as you have one. Then call it at each new step with what you are doing now. When the user speaks, send their words as user_message, word for word: thanks and questions move nothing, a request does. Set parent_goal for a sub-task. If you work on several tasks, or continue one of an earlier connection, name it with session. A verdict states facts; the ground moves only when the user speaks.'

function configOf({ title, description, hints, input, output }: Tool) {
  return {
    title,
    description,
    annotations: { title, ...hints },
    inputSchema: listedSchema(input, 'input'),
    outputSchema: listedSchema(output, 'output'),
  }
}

/**
 * The schema for the list of tools, built once and not for every call. It validates nothing: the gate of
 * the tool reads the input, after the count, and answers for the output.
 */
function listedSchema(schema: z.ZodObject, direction: 'input' | 'output'): StandardSchemaWithJSON {
  let schemaAsJson: Record<string, unknown> | null = null
  const asJson = () => {
    schemaAsJson ??= withOneType(z.toJSONSchema(schema, { io: direction, target: 'draft-2020-12' }))
    return schemaAsJson
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'plumbline',
      validate: (value) => ({ value }),
      jsonSchema: { input: asJson, output: asJson },
    },
  }
}

/** Gives each part of a schema one type, because some hosts cannot read several. */
function withOneType(schema: Record<string, unknown>): Record<string, unknown> {
  const { type, ...rest } = schema
  const parts = Object.entries(rest).map(([name, part]) => [name, withOneTypeEach(part)])
  const types = Array.isArray(type) ? { anyOf: type.map((each) => ({ type: each })) } : { type }
  return { ...(type === undefined ? {} : types), ...Object.fromEntries(parts) }
}

function withOneTypeEach(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withOneTypeEach)
  return typeof part === 'object' && part !== null ? withOneType({ ...part }) : part
}

async function answerTool(parts: McpParts, tool: Tool, caller: ToolCaller, sent: unknown) {
  const content = (answer: unknown) => [{ type: 'text' as const, text: JSON.stringify(answer) }]
  try {
    const answer = await tool.answer(parts.service, caller, sent)
    return { content: content(answer), structuredContent: answer }
  } catch (error) {
    return { isError: true, content: content(faultOf(error, parts, tool.name)) }
  }
}

function faultOf(
  error: unknown,
  { onFault }: McpParts,
  tool: string,
): Record<string, unknown> & { error: string } {
  if (error instanceof Refusal) return { error: error.word, ...error.fields }
  if (isUnavailable(error)) {
    const detail = mayBeStored(error)
      ? 'The database did not confirm this in time. It may or may not have been stored; read what is there before you repeat it.'
      : 'The database cannot be reached right now; try again.'
    return { error: 'unavailable', detail }
  }
  onFault(error, tool)
  return { error: 'internal', detail: 'This is a fault of the server; its log tells more.' }
}

function registerResources(server: McpServer, parts: McpParts, caller: ToolCaller): void {
  const { service, tools } = parts
  const read = async (uri: URL, name: string, sent: object) => {
    const tool = tools.find((known) => known.name === name)
    if (tool === undefined) throw new Error(`there is no tool ${name}`)
    try {
      const answer = await tool.answer(service, caller, sent)
      const text = JSON.stringify(answer)
      return { contents: [{ uri: uri.href, mimeType: 'application/json', text }] }
    } catch (error) {
      throw protocolErrorOf(faultOf(error, parts, name))
    }
  }
  server.registerResource(
    'grammar',
    'plumbline://grammar',
    {
      title: 'The detector described as data',
      description: 'Fields, normaliser, formulas, thresholds, and the reasons in their order.',
      mimeType: 'application/json',
    },
    (uri) => read(uri, 'drift_grammar', {}),
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
    (uri, { session }) =>
      read(uri, 'get_history', { session: decoded(String(session)), limit: 200 }),
  )
}

/** Turns a fault into an error of the protocol, because a resource has no error of its own. */
function protocolErrorOf(fault: Record<string, unknown> & { error: string }): ProtocolError {
  const { error, detail = error } = fault
  const isSenders = error === 'bad_request'
  const code = isSenders ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
  return new ProtocolError(code, String(detail), fault)
}

/** Decodes a part of a URI; returns a malformed part as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const promptArguments = z.object({
  errand: z.string().optional().describe('The errand in the user’s own words.'),
})

function registerPrompt(server: McpServer): void {
  server.registerPrompt(
    'report_step',
    {
      title: 'Report a step',
      description: 'How to report what you are doing so that drift is seen early.',
      argsSchema: promptArguments,
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
    'A sub-task carries the larger goal in parent_goal. When the user speaks, the next report carries their words as user_message, word for word.',
    'A drifting verdict states what was measured. If the user did redirect you, report their words as user_message; if this is a sub-task, declare its parent; otherwise the ground it names is still the errand.',
  ].join('\n\n')
}
