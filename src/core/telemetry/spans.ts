import { actOf } from '../hosts/act.ts'
import { byProgram } from '../hosts/attended.ts'
import { readClaudeCode } from '../hosts/claude-code.ts'
import {
  amountOf,
  digestOf,
  digestOfValue,
  type Fields,
  fieldsOf,
  listOf,
  parsedFields,
  textOf,
} from '../hosts/fields.ts'
import { readGeminiCli } from '../hosts/gemini-cli.ts'
import { promptWords } from '../hosts/gemini-family.ts'
import type { HostEvent, HostFact, HostName } from '../hosts/host-event.ts'
import { spokenBy } from '../hosts/speaker.ts'
import { factsOfTool } from '../hosts/tool-facts.ts'
import { parseJson } from '../text.ts'
import type { TelemetryRecord } from './records.ts'
import type { NotedFact, SpanKind, SpanNote } from './trace.ts'

/**
 * Reads a span into what is kept of it until its trace is folded: OpenTelemetry's conventions for generative AI,
 * OpenInference, those of the AI SDK, and the spans of Claude Code and Gemini CLI. It holds no content of files and no
 * output, as acts do not. A span of another kind is kept for its place in the trace alone. Null for spans of Codex,
 * which are internal and say less than its logs.
 */
export function readSpan(span: TelemetryRecord): SpanNote | null {
  const { scope, attributes, traceId, spanId, parentSpanId, at, ended } = span
  if (/^codex/.test(scope) || !isId(traceId) || !isId(spanId)) return null
  const host = hostOf(scope)
  const kind = kindOf(span, host)
  return {
    ...{ traceId, spanId, parentSpanId, host, kind },
    at: at ?? null,
    session: sessionOf(attributes),
    agent: textOf(attributes['gen_ai.agent.id'], attributes['plumbline.agent_id']),
    isChild: host === 'gemini-cli' && kind === 'agent',
    call: callOf(attributes),
    tells: host === 'claude-code' ? toldOfOthers(span) : null,
    facts: kind === null ? [] : factsOf(span, kind, host).map(timed({ at, ended })),
  }
}

/** An id as a text of the protocol, or as some exporters write it. */
function isId(text: string): boolean {
  return /^[\w+/=-]{1,64}$/.test(text)
}

function hostOf(scope: string): HostName {
  if (scope.startsWith('com.anthropic.claude_code')) return 'claude-code'
  return scope.startsWith('gemini-cli') ? 'gemini-cli' : 'otlp'
}

const operations: Readonly<Record<string, SpanKind>> = {
  invoke_agent: 'agent',
  create_agent: 'agent',
  execute_tool: 'tool',
  chat: 'model',
  plan: 'model',
  generate_content: 'model',
  text_completion: 'model',
  // Gemini CLI names them in its own way.
  agent_call: 'agent',
  tool_call: 'tool',
  llm_call: 'model',
  AGENT: 'agent',
  TOOL: 'tool',
  LLM: 'model',
  'ai.generateText': 'agent',
  'ai.streamText': 'agent',
  'ai.toolCall': 'tool',
  'ai.generateText.doGenerate': 'model',
  'ai.streamText.doStream': 'model',
}

function kindOf({ name, attributes }: TelemetryRecord, host: HostName): SpanKind | null {
  if (host === 'claude-code' && name === 'claude_code.llm_request') return 'model'
  const names = ['gen_ai.operation.name', 'openinference.span.kind', 'ai.operationId']
  for (const each of names) {
    const told = textOf(attributes[each])
    if (Object.hasOwn(operations, told)) return operations[told] ?? null
  }
  return textOf(attributes['plumbline.goal'], attributes['plumbline.ground']) === ''
    ? null
    : 'agent'
}

function sessionOf(attributes: Fields): string {
  return textOf(
    attributes['gen_ai.conversation.id'],
    attributes['session.id'],
    attributes['thread.id'],
    attributes['ai.telemetry.metadata.sessionId'],
  )
}

function callOf(attributes: Fields): string {
  return textOf(
    attributes['gen_ai.tool.call.id'],
    attributes['gen_ai.tool.call_id'],
    attributes['ai.toolCall.id'],
    attributes['tool_call.id'],
  )
}

/** What a span of Claude Code says of the call of a tool above it, or of the prompt. */
function toldOfOthers({ name, attributes, hasFailed }: TelemetryRecord): SpanNote['tells'] {
  if (attributes.query_source_safe === byProgram) return 'handed over'
  if (name === 'claude_code.tool.execution') {
    return hasFailed || attributes.success === false || attributes.success === 'false'
      ? 'failed'
      : 'ok'
  }
  const isGranted =
    name === 'claude_code.tool.blocked_on_user' &&
    attributes.decision === 'accept' &&
    /^user/i.test(textOf(attributes.source))
  return isGranted ? 'granted' : null
}

/** A fact before it has its time: facts at the end of a span come after what the span has begun. */
type UntimedFact = Omit<NotedFact, 'at'> & { isLate: boolean }

function timed({ at, ended }: Pick<TelemetryRecord, 'at' | 'ended'>) {
  return ({ isLate, ...noted }: UntimedFact): NotedFact => ({
    ...noted,
    at: (isLate ? (ended ?? at) : at) ?? null,
  })
}

function factsOf(span: TelemetryRecord, kind: SpanKind, host: HostName): UntimedFact[] {
  const { attributes, spanId } = span
  const ground = textOf(attributes['plumbline.ground'])
  const goal = textOf(attributes['plumbline.goal'])
  const plan = listOf(attributes['plumbline.plan']).map((item) => textOf(item))
  const items = plan.flatMap((text) => (text === '' ? [] : [{ text, state: 'open' as const }]))
  const early = (fact: HostFact, id: string) => ({ fact, id, isLate: false })
  const own = [
    ...(ground === ''
      ? []
      : [early({ kind: 'prompt', text: ground, by: 'person' }, `${spanId}#ground`)]),
    ...(items.length === 0 ? [] : [early({ kind: 'plan', items, whole: true }, `${spanId}#plan`)]),
    ...(goal === '' ? [] : [early({ kind: 'intent', text: goal }, `${spanId}#goal`)]),
  ]
  if (kind === 'tool') {
    const call = callOf(attributes)
    // The hooks and logs of Gemini CLI name no call, so this does not either: it is known by what was done.
    const id = host === 'gemini-cli' ? digestOfValue({ spanId, call }) : call || spanId
    const facts = toolFacts(span, host).map((fact, nth) => ({
      ...{ fact, id: nth === 0 ? id : `${id}#${nth}`, isLate: true },
    }))
    return [...own, ...facts]
  }
  const delegated = delegatedIn(span, kind, host)
  const words = ground === '' && delegated.length === 0 ? wordsOfPerson(attributes) : ''
  const spoken = words === '' ? null : spokenIn(words, host)
  const said = kind === 'model' ? wordsOfModel(attributes) : ''
  const tokens = kind === 'model' ? tokensOf(attributes) : 0
  return [
    ...delegated,
    ...(spoken === null ? [] : [early({ kind: 'prompt', ...spoken }, `#words#${digestOf(words)}`)]),
    ...own,
    ...(said === ''
      ? []
      : [{ fact: { kind: 'say', text: said } as const, id: `${spanId}#said`, isLate: true }]),
    ...(tokens === 0
      ? []
      : [
          {
            fact: { kind: 'tokens', count: tokens } as const,
            id: `${spanId}#tokens`,
            isLate: true,
          },
        ]),
  ]
}

/** A context that Gemini CLI puts before the first words of a session. */
const sessionContext = /<session_context>[\s\S]*?<\/session_context>/g

function spokenIn(words: string, host: HostName) {
  if (host === 'claude-code') return spokenBy(words, undefined, 'unknown')
  const own = host === 'gemini-cli' ? promptWords(words.replace(sessionContext, '')) : words
  // A context that was cut before its end leaves no words of the person.
  return own.startsWith('<session_context>') ? null : spokenBy(own)
}

/** A sub-agent of Gemini CLI, with its task. */
function delegatedIn(
  { attributes, spanId }: TelemetryRecord,
  kind: SpanKind,
  host: HostName,
): UntimedFact[] {
  if (host !== 'gemini-cli' || kind !== 'agent') return []
  const { prompt, agent_name } = parsedFields(attributes['gen_ai.input.messages'])
  const task = textOf(prompt)
  const agentType = textOf(agent_name)
  const fact: HostFact = { kind: 'delegate', task, label: agentType, agentType, child: spanId }
  return task === '' ? [] : [{ fact, id: `${spanId}#task`, isLate: false }]
}

function toolFacts(span: TelemetryRecord, host: HostName): HostFact[] {
  const { attributes, spanId } = span
  const given =
    attributes['gen_ai.tool.call.arguments'] ??
    attributes['ai.toolCall.args'] ??
    attributes['input.value'] ??
    attributes.tool_input ??
    parsedFields(attributes['gen_ai.input.messages']).args
  const input = typeof given === 'string' ? parsedFields(given) : fieldsOf(given)
  const facts =
    host === 'claude-code'
      ? factsIn(readClaudeCode({ ...hostUse(span, input), hook_event_name: 'PostToolUse' }))
      : host === 'gemini-cli'
        ? factsIn(readGeminiCli({ ...hostUse(span, input), ...geminiAnswer(span) }))
        : libraryFacts(span, input)
  if (Object.keys(input).length > 0) return facts
  // Calls whose arguments are not told are not equal, and a plan without them is not an empty one.
  return facts.flatMap((fact) => {
    if (fact.kind === 'plan') return []
    return fact.kind === 'act' ? { ...fact, argsHash: digestOf(spanId) } : fact
  })
}

function hostUse({ attributes, name }: TelemetryRecord, input: Fields): Fields {
  return {
    session_id: 'any',
    tool_name: textOf(attributes['gen_ai.tool.name'], attributes.tool_name) || name,
    tool_input: input,
  }
}

function geminiAnswer({ attributes, hasFailed }: TelemetryRecord): Fields {
  const { status } = parsedFields(attributes['gen_ai.output.messages'])
  const didFail = hasFailed || status === 'error'
  return {
    hook_event_name: 'AfterTool',
    tool_response: { llmContent: '', ...(didFail ? { error: true } : {}) },
  }
}

/** The facts of events, whose place comes from their trace. */
function factsIn(events: readonly HostEvent[]): HostFact[] {
  return events.map(({ runId: _, agentId: __, eventId: ___, at: ____, ...fact }) => fact)
}

function libraryFacts(
  { attributes, name, hasFailed, at, ended }: TelemetryRecord,
  input: Fields,
): HostFact[] {
  const answer =
    attributes['gen_ai.tool.call.result'] ??
    attributes['ai.toolCall.result'] ??
    attributes['output.value']
  const use = {
    tool:
      textOf(
        attributes['gen_ai.tool.name'],
        attributes['tool.name'],
        attributes['ai.toolCall.name'],
      ) || name,
    input,
    root: '',
    outcome: hasFailed ? ('failed' as const) : ('ok' as const),
    output:
      typeof answer === 'string'
        ? answer
        : answer === undefined
          ? undefined
          : JSON.stringify(answer),
    ms: at === undefined || ended === undefined ? undefined : ended - at,
  }
  const facts = factsOfTool(use, parsedFields(answer))
  return facts.length > 0 ? facts : [actOf(use)]
}

/** The newest words of the user among the messages that a model was given. */
function wordsOfPerson(attributes: Fields): string {
  const direct = textOf(attributes.user_prompt, attributes['ai.prompt.text'])
  if (direct !== '') return direct
  const messages = messagesIn(
    attributes['gen_ai.input.messages'] ??
      attributes['ai.prompt.messages'] ??
      attributes['ai.prompt'],
  )
  const last = messages.findLast(({ role }) => role === 'user')
  if (last !== undefined) return textIn(last)
  let words = ''
  for (let nth = 0; nth < 200; nth++) {
    const role = attributes[`llm.input_messages.${nth}.message.role`]
    if (role === undefined) break
    if (role === 'user') words = textOf(attributes[`llm.input_messages.${nth}.message.content`])
  }
  return words
}

/** What a model answered in words. */
function wordsOfModel(attributes: Fields): string {
  const messages = messagesIn(attributes['gen_ai.output.messages'])
  const last = messages.at(-1)
  if (last !== undefined) return textIn(last)
  return textOf(attributes['ai.response.text'], attributes['llm.output_messages.0.message.content'])
}

function messagesIn(value: unknown): Fields[] {
  const read = typeof value === 'string' ? parseJson(value) : value
  const list = Array.isArray(read)
    ? read
    : (fieldsOf(read).messages ?? (read === undefined ? [] : [read]))
  const prompt = textOf(fieldsOf(read).prompt)
  return prompt !== '' && !Array.isArray(read)
    ? [{ role: 'user', content: prompt }]
    : listOf(list).map(fieldsOf)
}

/** The text of a message, as a text, or as parts of which some hold text. */
function textIn({ content, parts }: Fields): string {
  if (typeof content === 'string') return textOf(content)
  const texts = listOf(parts ?? content).map((part) =>
    textOf(fieldsOf(part).content, fieldsOf(part).text),
  )
  return texts.filter((text) => text !== '').join('\n')
}

function tokensOf(attributes: Fields): number {
  const sum = (...names: string[]) =>
    names.reduce((total, name) => total + (amountOf(attributes[name]) ?? 0), 0)
  return (
    sum('gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens') ||
    sum('ai.usage.promptTokens', 'ai.usage.completionTokens') ||
    sum('input_tokens', 'output_tokens') ||
    sum('llm.token_count.total')
  )
}
