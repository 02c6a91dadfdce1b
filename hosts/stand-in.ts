import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A call of a tool, as one host names it. */
export interface Call {
  name: string
  args: Record<string, unknown>
  /** The text that a tool takes which has no fields. */
  input?: string
  /** The tool with which the agent loads this one: it can be called though only that one is offered. */
  loader?: string
}

/** One answer of the model: words, and calls. Of the calls in one list the first whose tool is offered is made. */
export interface Answer {
  say?: string
  calls?: readonly (readonly Call[])[]
  /** A name for the moment at which this is asked for. */
  mark?: string
}

/** What the model answers: for each prompt of the person a list, and for sub-agents by a mark in their task. */
export interface Script {
  turns: readonly (readonly Answer[])[]
  agents: Readonly<Record<string, readonly Answer[]>>
}

/** What one request to a model says. */
interface Asked {
  /** What persons have said, and the answers since the last of it. */
  people: readonly string[]
  answered: number
  tools: readonly string[]
}

type Fields = Record<string, unknown>

const wrapping =
  /<(system-reminder|environment_context|session_context|user_instructions|permissions instructions|[a-z_]+_instructions|collaboration_mode)[\s\S]*?<\/\1>/g

/** How a prompt begins in a request that says that a sub-agent has ended. */
const news = JSON.stringify('<task-notification>\n<task-id>').slice(1, -1)

/** A model on loopback. */
export interface StandIn {
  url: string
  /** The tools that the host has offered so far. */
  offered: ReadonlySet<string>
  /** Whether the host has handed over a prompt that says that a sub-agent has ended. */
  hasNews(): boolean
  close(): Promise<void>
}

/** Gives the answer to what a host has asked. */
type Play = (asked: Asked) => Promise<Answer>

/**
 * A model on loopback that plays a script. It speaks the four protocols that the hosts use, streamed or not. `onMark` is
 * waited for when an answer with a mark is asked for, once for each mark.
 */
export async function startStandIn(
  script: Script,
  onMark: (mark: string) => Promise<void> = async () => {},
): Promise<StandIn> {
  let count = 0
  let hasNews = false
  const offered = new Set<string>()
  const marks = new Map<string, Promise<void>>()
  const play: Play = async (asked) => {
    for (const tool of asked.tools) offered.add(tool)
    const { mark, ...answer } = answerTo(script, asked)
    if (mark === undefined) return answer
    const passed = marks.get(mark) ?? onMark(mark)
    marks.set(mark, passed)
    await passed
    return answer
  }
  const server = createServer(async (request, response) => {
    // A host may break a request off.
    const sent = await textOf(request).catch(() => '')
    hasNews ||= sent.includes(news)
    const body = fieldsOf(parsed(sent))
    const path = new URL(request.url ?? '/', 'http://x').pathname
    count++
    if (path.endsWith('/count_tokens')) json(response, { input_tokens: 100 })
    else if (path.endsWith(':countTokens')) json(response, { totalTokens: 100 })
    else if (path.endsWith('/messages')) await messages(response, body, count, play)
    else if (path.endsWith('/responses')) await responses(response, body, count, play)
    else if (path.endsWith('/chat/completions')) await completions(response, body, count, play)
    else if (/:(?:stream)?generateContent$/i.test(path)) {
      await contents(response, body, count, play, path.includes(':stream'))
    } else if (path.endsWith('/models')) json(response, { object: 'list', data: [], models: [] })
    else json(response, { error: { type: 'not_found', message: 'no such route here' } }, 404)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    offered,
    hasNews: () => hasNews,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The answer to play. A request that offers no tool wants a title or the like. */
function answerTo({ turns, agents }: Script, { people, answered, tools }: Asked): Answer {
  if (tools.length === 0) return { say: 'A short title' }
  const mark = Object.keys(agents).find((each) => people.join('\n').includes(each))
  const list = mark === undefined ? turns[Math.min(people.length, turns.length) - 1] : agents[mark]
  const playable = (list ?? []).flatMap((answer): Answer[] => {
    if (answer.calls === undefined) return [answer]
    const calls = answer.calls.flatMap((options) => {
      const found = options.find(
        ({ name, loader }) =>
          tools.includes(name) || (loader !== undefined && tools.includes(loader)),
      )
      return found === undefined ? [] : [[found]]
    })
    return calls.length === 0 ? [] : [{ ...answer, calls }]
  })
  return playable[Math.min(answered, playable.length - 1)] ?? { say: 'Done.' }
}

/** Anthropic Messages. */
async function messages(
  response: ServerResponse,
  body: Fields,
  count: number,
  play: Play,
): Promise<void> {
  const people: string[] = []
  let answered = 0
  for (const message of listOf(body.messages)) {
    const parts =
      typeof message.content === 'string'
        ? [{ type: 'text', text: message.content }]
        : listOf(message.content)
    if (message.role === 'assistant') answered++
    else if (message.role === 'user' && !parts.some(({ type }) => type === 'tool_result')) {
      answered = heard(people, wordsOf(parts)) ? 0 : answered
    }
  }
  const tools = listOf(body.tools).map(({ name }) => String(name))
  const { say, calls = [] } = await play({ people, answered, tools })
  const blocks: Fields[] = say === undefined ? [] : [{ type: 'text', text: say }]
  for (const [nth, [call]] of calls.entries()) {
    const id = `toolu_${String(count).padStart(6, '0')}${nth}`
    blocks.push({ type: 'tool_use', id, name: call?.name, input: call?.args })
  }
  const usage = { input_tokens: 120, output_tokens: 30 }
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn'
  const message = {
    id: `msg_${count}`,
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: blocks,
    stop_reason,
    stop_sequence: null,
    usage,
  }
  if (body.stream !== true) {
    json(response, message)
    return
  }
  const events: Fields[] = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
  ]
  for (const [index, block] of blocks.entries()) {
    const isText = block.type === 'text'
    const content_block = isText ? { type: 'text', text: '' } : { ...block, input: {} }
    const delta = isText
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
    events.push({ type: 'content_block_start', index, content_block })
    events.push(
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    )
  }
  events.push({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage })
  events.push({ type: 'message_stop' })
  stream(
    response,
    events.map((data) => ({ event: String(data.type), data })),
  )
}

/** OpenAI Responses, with tools in name spaces and tools that take a text. */
async function responses(
  response: ServerResponse,
  body: Fields,
  count: number,
  play: Play,
): Promise<void> {
  const people: string[] = []
  let answered = 0
  const input =
    typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : listOf(body.input)
  for (const item of input as Fields[]) {
    const type = item.type ?? 'message'
    if (type === 'message' && item.role === 'user') {
      answered = heard(people, wordsOf(item.content)) ? 0 : answered
    } else if (/^(?:function|custom_tool|local_shell)_call$/.test(String(type))) answered++
  }
  const spaces = new Map<string, unknown>()
  const texts = new Set<string>()
  const given = [
    ...listOf(body.tools),
    ...(input as Fields[]).flatMap(({ type, tools }) =>
      type === 'additional_tools' ? listOf(tools) : [],
    ),
  ]
  const tools = given.flatMap((tool) => {
    const inner = tool.type === 'namespace' ? listOf(tool.tools) : [tool]
    return inner.map((each) => {
      const name = String(each.name ?? each.type)
      if (tool.type === 'namespace') spaces.set(name, tool.name)
      if (each.type === 'custom') texts.add(name)
      return name
    })
  })
  const { say, calls = [] } = await play({ people, answered, tools })
  const output: Fields[] = []
  if (say !== undefined) {
    const content = [{ type: 'output_text', text: say, annotations: [] }]
    output.push({
      type: 'message',
      id: `msg_${count}`,
      role: 'assistant',
      status: 'completed',
      content,
      ...(calls.length > 0 ? { phase: 'commentary' } : {}),
    })
  }
  const agent = /agent_id\\*":\s*\\*"([\w-]+)/.exec(JSON.stringify(input))?.[1] ?? 'none'
  for (const [nth, [call]] of calls.entries()) {
    if (call === undefined) continue
    const space = spaces.get(call.name)
    const common = {
      call_id: `call_${count}_${nth}`,
      name: call.name,
      status: 'completed',
      ...(space === undefined ? {} : { namespace: space }),
    }
    output.push(
      texts.has(call.name)
        ? {
            ...common,
            type: 'custom_tool_call',
            id: `ctc_${count}${nth}`,
            input: call.input ?? call.args.input,
          }
        : {
            ...common,
            type: 'function_call',
            id: `fc_${count}${nth}`,
            arguments: JSON.stringify(call.args).replace('@AGENT@', agent),
          },
    )
  }
  const usage = {
    input_tokens: 120,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 30,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 150,
  }
  const whole = {
    id: `resp_${count}`,
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: body.model,
    output,
    usage,
  }
  if (body.stream !== true) {
    json(response, whole)
    return
  }
  const events: Fields[] = [
    { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
  ]
  for (const [output_index, item] of output.entries()) {
    const added = {
      ...item,
      status: 'in_progress',
      ...(item.type === 'message' ? { content: [] } : {}),
    }
    events.push({ type: 'response.output_item.added', output_index, item: added })
    events.push({ type: 'response.output_item.done', output_index, item })
  }
  events.push({ type: 'response.completed', response: whole })
  stream(
    response,
    events.map((data, sequence_number) => ({
      event: String(data.type),
      data: { ...data, sequence_number },
    })),
  )
}

/** OpenAI Chat Completions. */
async function completions(
  response: ServerResponse,
  body: Fields,
  count: number,
  play: Play,
): Promise<void> {
  const people: string[] = []
  let answered = 0
  for (const { role, content } of listOf(body.messages)) {
    if (role === 'assistant') answered++
    else if (role === 'user') answered = heard(people, wordsOf(content)) ? 0 : answered
  }
  const tools = listOf(body.tools).map((tool) => String(fieldsOf(tool.function).name))
  const { say, calls = [] } = await play({ people, answered, tools })
  const tool_calls = calls.map(([call], index) => ({
    index,
    id: `call_${count}_${index}`,
    type: 'function',
    function: { name: call?.name, arguments: JSON.stringify(call?.args) },
  }))
  const usage = { prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 }
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop'
  const base = { id: `chat_${count}`, created: 1, model: body.model }
  const asked = calls.length > 0 ? { tool_calls } : {}
  if (body.stream !== true) {
    const message = { role: 'assistant', content: say ?? null, ...asked }
    json(response, {
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
      usage,
    })
    return
  }
  const chunk = (delta: Fields, reason: string | null = null) => ({
    data: {
      ...base,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: reason }],
    },
  })
  const last = { data: { ...base, object: 'chat.completion.chunk', choices: [], usage } }
  stream(response, [
    chunk({ role: 'assistant', content: say ?? '' }),
    chunk(asked),
    chunk({}, finish_reason),
    last,
    { data: '[DONE]' },
  ])
}

/** Gemini generateContent. */
async function contents(
  response: ServerResponse,
  body: Fields,
  count: number,
  play: Play,
  streamed: boolean,
): Promise<void> {
  const people: string[] = []
  let answered = 0
  for (const { role, parts } of listOf(body.contents)) {
    if (role !== 'user') answered++
    else if (!listOf(parts).some((part) => part.functionResponse !== undefined)) {
      answered = heard(people, wordsOf(parts)) ? 0 : answered
    }
  }
  const tools = listOf(body.tools).flatMap((tool) =>
    listOf(tool.functionDeclarations).map(({ name }) => String(name)),
  )
  const { responseJsonSchema, responseSchema } = fieldsOf(body.generationConfig)
  const isForm = responseJsonSchema !== undefined || responseSchema !== undefined
  const { say, calls = [] } = isForm
    ? {
        say: JSON.stringify({ reasoning: 'stand-in', next_speaker: 'user', model_choice: 'flash' }),
      }
    : await play({ people, answered, tools })
  const parts: Fields[] = say === undefined ? [] : [{ text: say }]
  for (const [call] of calls) parts.push({ functionCall: { name: call?.name, args: call?.args } })
  const answer = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 120, candidatesTokenCount: 30, totalTokenCount: 150 },
    modelVersion: 'stand-in',
    responseId: `r${count}`,
  }
  if (streamed) stream(response, [{ data: answer }])
  else json(response, answer)
}

/**
 * Adds what a person said, and says whether it was a person: hosts put contexts among the messages of the user, and the
 * news of a sub-agent that has ended.
 */
function heard(people: string[], text: string): boolean {
  const own = text.replace(wrapping, '').trim()
  if (own === '' || own.startsWith('<task-notification')) return false
  people.push(text)
  return true
}

function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('\n')
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

function stream(
  response: ServerResponse,
  events: readonly { event?: string; data: unknown }[],
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const { event, data } of events) {
    if (event !== undefined) response.write(`event: ${event}\n`)
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
  }
  response.end()
}
