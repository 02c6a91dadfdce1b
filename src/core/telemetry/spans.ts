import { actOf, familyOf } from '../hosts/act.ts'
import { byProgram } from '../hosts/attended.ts'
import { readClaudeCode } from '../hosts/claude-code.ts'
import {
  amountOf,
  digestOf,
  digestOfValue,
  type Fields,
  fieldsOf,
  given,
  parsedFields,
  textOf,
} from '../hosts/fields.ts'
import { readGeminiCli } from '../hosts/gemini-cli.ts'
import { promptWords } from '../hosts/gemini-family.ts'
import type { HostEvent, HostFact, HostName } from '../hosts/host-event.ts'
import { idOf } from '../hosts/place.ts'
import { spokenBy } from '../hosts/speaker.ts'
import { factsOfTool, isDelegating } from '../hosts/tool-facts.ts'
import { maxPlanLength } from '../runs/step-request.ts'
import { isOfLogfire, sessionOf } from './conversation.ts'
import { wordsOfModel, wordsOfPerson } from './messages.ts'
import type { TelemetryRecord } from './records.ts'
import { type NotedFact, type SpanKind, type SpanNote, wordsMark } from './trace.ts'

/**
 * Reads a span into what is kept of it until its trace is folded: OpenTelemetry's conventions for generative AI,
 * OpenInference, OpenLLMetry, LangSmith, Logfire's of the OpenAI Agents SDK, those of the AI SDK, and the spans of Claude
 * Code and Gemini CLI. It holds no content of files and no output, as acts do not. A span of another kind is kept for its
 * place in the trace alone. Null for spans of Codex, which are internal and say less than its logs.
 */
export function readSpan(span: TelemetryRecord): SpanNote | null {
  const { attributes, reported, traceId, spanId, parentSpanId, at, ended } = span
  const host = hostIn(span)
  if (host === 'codex') return null
  const kind = kindOf(span, host)
  const input = kind === 'tool' ? inputOf(attributes) : {}
  return {
    ...{ traceId, spanId, parentSpanId, host, kind },
    at: at ?? null,
    ended: ended ?? null,
    session: sessionOf(span),
    agent: textOf(attributes['gen_ai.agent.id']),
    ...given('name', kind === 'agent' ? agentName(span) : ''),
    ...given('named', reported.agentId),
    ...given('responseId', idOf(attributes['gen_ai.response.id'])),
    ...given('asks', kind === 'tool' && host === 'otlp' ? asksOf(input) : undefined),
    isChild: host === 'gemini-cli' && kind === 'agent',
    call: callOf(attributes),
    tells: host === 'claude-code' ? toldOfOthers(span) : null,
    facts: factsOf(span, kind, host, input).map(timed({ at, ended })),
  }
}

/** The host whose instrumentation made a record. */
export function hostIn({ scope }: Pick<TelemetryRecord, 'scope'>): HostName {
  if (scope.startsWith('com.anthropic.claude_code')) return 'claude-code'
  if (scope.startsWith('codex')) return 'codex'
  return scope.startsWith('gemini-cli') ? 'gemini-cli' : 'otlp'
}

/** A text that can be the task of an agent: at least three words. */
const task = /\S\s+\S+\s+\S/

/** Digests of the texts that a tool was given, by which the task of an agent is known that works for it. */
function asksOf(input: Fields): string[] | undefined {
  const texts = Object.values(input).flatMap((value) =>
    typeof value === 'string' && task.test(value) ? digestOf(value.trim()) : [],
  )
  return texts.length === 0 ? undefined : texts.slice(0, 8)
}

function agentName({ scope, attributes }: TelemetryRecord): string {
  const { name } = attributes
  return idOf(
    attributes['gen_ai.agent.name'],
    attributes['agent.name'],
    attributes['traceloop.entity.name'],
    isOfLogfire(scope) ? name : undefined,
  )
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
  agent: 'agent',
  tool: 'tool',
  llm: 'model',
  completion: 'model',
  'ai.generateText': 'agent',
  'ai.streamText': 'agent',
  'ai.toolCall': 'tool',
  'ai.generateText.doGenerate': 'model',
  'ai.streamText.doStream': 'model',
}

/** Where spans say what they are, the surest first. */
const kindNames = [
  'gen_ai.operation.name',
  'openinference.span.kind',
  'ai.operationId',
  'traceloop.span.kind',
  'langsmith.span.kind',
  'llm.request.type',
]

function kindOf({ name, scope, attributes }: TelemetryRecord, host: HostName): SpanKind | null {
  if (host === 'claude-code' && name === 'claude_code.llm_request') return 'model'
  // LangSmith calls the filling of a template a chat too.
  if (attributes['langsmith.span.kind'] === 'prompt') return null
  // OpenInference calls a handoff a tool. The agent that takes over goes on with the same conversation.
  if (/^handoff to /.test(name) && attributes['tool.name'] === undefined) return null
  for (const each of kindNames) {
    const told = textOf(attributes[each])
    if (Object.hasOwn(operations, told)) return operations[told] ?? null
  }
  if (!isOfLogfire(scope)) return null
  return name.startsWith('Function: ') ? 'tool' : name.startsWith('Agent run: ') ? 'agent' : null
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

function factsOf(
  span: TelemetryRecord,
  kind: SpanKind | null,
  host: HostName,
  input: Fields,
): UntimedFact[] {
  const { attributes, spanId } = span
  const { report } = span.reported
  const early = (fact: HostFact, id: string) => ({ fact, id, isLate: false })
  const own = report === null ? [] : [early({ kind: 'report', ...report }, `${spanId}#report`)]
  if (kind === null) return own
  if (kind === 'tool') {
    const call = callOf(attributes)
    // The hooks and logs of Gemini CLI name no call, so this does not either: it is known by what was done.
    const id = host === 'gemini-cli' ? digestOfValue({ spanId, call }) : call || spanId
    const facts = toolFacts(span, host, input).map((fact, nth) => ({
      fact,
      id: nth === 0 ? id : `${id}#${nth}`,
      // A task has to be known before its agent begins.
      isLate: host !== 'otlp' || fact.kind !== 'delegate',
    }))
    return [...own, ...facts]
  }
  const delegated = delegatedIn(span, kind, host)
  const words = delegated.length === 0 ? wordsOfPerson(attributes) : ''
  const spoken = words === '' ? null : spokenIn(words, host)
  const said = kind === 'model' ? wordsOfModel(attributes) : ''
  const isPlan = attributes['gen_ai.operation.name'] === 'plan' && report?.plan === undefined
  const plan = isPlan ? plannedIn(said) : []
  const tokens = kind === 'model' ? tokensOf(attributes) : 0
  return [
    ...delegated,
    ...(spoken === null
      ? []
      : [early({ kind: 'prompt', ...spoken }, `${wordsMark}${digestOf(words)}`)]),
    ...own,
    ...(plan.length === 0
      ? []
      : [
          {
            fact: { kind: 'report', plan } as const,
            id: `${spanId}#plan`,
            isLate: true,
          },
        ]),
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

/** The items of a plan in the words of a model: its lines that begin with a number or a mark. Nobody tells what is done. */
function plannedIn(words: string): string[] {
  const lines = [...words.matchAll(/^[ \t]*(?:\d+[.)]|[-*•])[ \t]+(.+)$/gm)]
  return lines.slice(0, maxPlanLength).map(([, text = '']) => text.trim())
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

/** Where the arguments of a tool stand. */
const argumentNames = [
  'gen_ai.tool.call.arguments',
  'ai.toolCall.args',
  'input.value',
  'tool_input',
  'traceloop.entity.input',
  'gen_ai.prompt',
  'tool_arguments',
  'input',
]

/** The arguments of a tool, without what LangChain's callbacks put around them. */
function inputOf(attributes: Fields): Fields {
  const own =
    argumentNames.map((name) => attributes[name]).find((value) => value !== undefined) ??
    parsedFields(attributes['gen_ai.input.messages']).args
  const read = parsedFields(own)
  if (read.input_str !== undefined) {
    const inner = parsedFields(read.inputs)
    return Object.keys(inner).length > 0 ? inner : soleInput(attributes, read.input_str)
  }
  if (read.kwargs !== undefined && read.args !== undefined) return parsedFields(read.kwargs)
  return Object.keys(read).length > 0 ? read : soleInput(attributes, own)
}

/** The argument of a tool that has one, which OpenInference writes without its name: told by what the tool does. */
function soleInput(attributes: Fields, value: unknown): Fields {
  const text = textOf(value)
  if (text === '' || text === '{}' || text === '[]') return {}
  const tool = toolName(attributes)
  const family = familyOf(tool)
  if (isDelegating(tool)) return { prompt: text }
  if (family === 'read' || family === 'edit') return { path: text }
  if (family === 'run') return { command: text }
  // Of other tools it may be the content of a file.
  return family === 'search' || family === 'web' ? { query: text } : { input: text }
}

function toolName(attributes: Fields, span = ''): string {
  return textOf(
    attributes['gen_ai.tool.name'],
    attributes['tool.name'],
    attributes['ai.toolCall.name'],
    attributes['traceloop.entity.name'],
    attributes['langsmith.trace.name'],
    span.startsWith('Function: ') ? attributes.name : span.replace(/^execute_tool /, ''),
  )
}

function toolFacts(span: TelemetryRecord, host: HostName, input: Fields): HostFact[] {
  const { spanId } = span
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

/** Where the answer of a tool stands. */
const answerNames = [
  'gen_ai.tool.call.result',
  'ai.toolCall.result',
  'output.value',
  'traceloop.entity.output',
  'gen_ai.completion',
  'tool_response',
  'output',
]

/** The message of a tool in the answer that LangChain's callbacks tell; empty for other answers. */
function toolMessage(answer: unknown): Fields {
  const read = parsedFields(answer)
  const message = fieldsOf(read.output ?? read)
  const forms = [message, message.kwargs, message.data].map(fieldsOf)
  return forms.find(({ type }) => type === 'tool') ?? {}
}

function libraryFacts(
  { attributes, name, hasFailed, at, ended }: TelemetryRecord,
  input: Fields,
): HostFact[] {
  const told = answerNames.map((own) => attributes[own]).find((value) => value !== undefined)
  const { content, status } = toolMessage(told)
  // The message has an id of its own, by which equal answers differ.
  const answer = content ?? told
  const use = {
    tool: toolName(attributes, name),
    input,
    root: '',
    outcome: hasFailed || status === 'error' ? ('failed' as const) : ('ok' as const),
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

/** Names of the tokens of a call of a model, the newest first. */
const tokenNames = [
  ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'],
  ['gen_ai.usage.prompt_tokens', 'gen_ai.usage.completion_tokens'],
  ['gen_ai.usage.total_tokens'],
  ['ai.usage.inputTokens', 'ai.usage.outputTokens'],
  ['ai.usage.promptTokens', 'ai.usage.completionTokens'],
  ['input_tokens', 'output_tokens'],
  ['llm.token_count.total'],
  ['llm.usage.total_tokens'],
] as const

function tokensOf(attributes: Fields): number {
  const sums = tokenNames.map((names) =>
    names.reduce((sum, name) => sum + (amountOf(attributes[name]) ?? 0), 0),
  )
  return sums.find((sum) => sum > 0) ?? 0
}
