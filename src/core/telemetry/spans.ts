import { actOf } from '../hosts/act.ts'
import { amountOf, type Fields, fieldsOf, listOf, parsedFields, textOf } from '../hosts/fields.ts'
import type { HostEvent, HostFact } from '../hosts/host-event.ts'
import { placed } from '../hosts/place.ts'
import { spokenBy } from '../hosts/speaker.ts'
import { factsOfTool } from '../hosts/tool-facts.ts'
import { parseJson } from '../text.ts'
import type { TelemetryRecord } from './records.ts'

/** What a span of an agent is, by the conventions of the libraries. */
type SpanKind = 'agent' | 'model' | 'tool'

/**
 * Reads the spans of one request into events: OpenTelemetry's conventions for generative AI, OpenInference, and those of
 * the AI SDK. Spans of other kinds are no events. A span arrives after its end, and the root of a trace last; so what a
 * person said is read from the model's first call too.
 */
export function readSpans(spans: readonly TelemetryRecord[]): HostEvent[] {
  const own = spans.filter(({ scope }) => !hosts.test(scope))
  const byId = new Map(own.map((span) => [span.spanId, span]))
  const events = own.flatMap((span) => {
    const kind = kindOf(span)
    return kind === null ? [] : eventsOf(span, kind, agentOf(span, byId))
  })
  return events.sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
}

/** The hosts whose log records say more than their spans: both would be two runs of one session. */
const hosts = /^(?:com\.anthropic\.claude_code|codex|gemini-cli)/

const operations: Readonly<Record<string, SpanKind>> = {
  invoke_agent: 'agent',
  create_agent: 'agent',
  execute_tool: 'tool',
  chat: 'model',
  generate_content: 'model',
  text_completion: 'model',
  AGENT: 'agent',
  TOOL: 'tool',
  LLM: 'model',
  'ai.generateText': 'agent',
  'ai.streamText': 'agent',
  'ai.toolCall': 'tool',
  'ai.generateText.doGenerate': 'model',
  'ai.streamText.doStream': 'model',
}

function kindOf({ attributes }: TelemetryRecord): SpanKind | null {
  const names = ['gen_ai.operation.name', 'openinference.span.kind', 'ai.operationId']
  for (const name of names) {
    const told = textOf(attributes[name])
    if (Object.hasOwn(operations, told)) return operations[told] ?? null
  }
  return textOf(attributes['plumbline.goal'], attributes['plumbline.ground']) === ''
    ? null
    : 'agent'
}

/** The sub-agent that a span belongs to: the nearest agent above it that has an agent above itself. '' is the main one. */
function agentOf(span: TelemetryRecord, byId: ReadonlyMap<string, TelemetryRecord>): string {
  const agents: TelemetryRecord[] = []
  let at: TelemetryRecord | undefined = span
  for (let depth = 0; at !== undefined && depth < 64; depth++) {
    if (kindOf(at) === 'agent') agents.push(at)
    at = byId.get(at.parentSpanId)
  }
  const [own] = agents
  if (own === undefined || agents.length < 2) return ''
  return (
    textOf(own.attributes['gen_ai.agent.id'], own.attributes['plumbline.agent_id']) || own.spanId
  )
}

function eventsOf(span: TelemetryRecord, kind: SpanKind, agentId: string): HostEvent[] {
  const { attributes, at, ended, spanId, traceId } = span
  const session = textOf(
    attributes['gen_ai.conversation.id'],
    attributes['session.id'],
    attributes['thread.id'],
    attributes['ai.telemetry.metadata.sessionId'],
    traceId,
  )
  const place = (id: string, time: number | undefined) => ({
    host: 'otlp' as const,
    session,
    agentId,
    at: time,
    id,
    event: attributes,
  })
  const ground = textOf(attributes['plumbline.ground'])
  const goal = textOf(attributes['plumbline.goal'])
  const own: HostEvent[] = [
    ...(ground === ''
      ? []
      : placed(place(`${spanId}#ground`, at), [{ kind: 'prompt', text: ground, by: 'person' }])),
    ...(goal === '' ? [] : placed(place(`${spanId}#goal`, at), [{ kind: 'intent', text: goal }])),
  ]
  if (kind === 'tool')
    return [...own, ...placed(place(toolId(attributes) || spanId, ended ?? at), toolFacts(span))]
  const words = ground === '' ? wordsOfPerson(attributes) : ''
  const spoken = words === '' ? null : spokenBy(words)
  const asked: HostFact[] =
    spoken === null
      ? []
      : [
          agentId === ''
            ? { kind: 'prompt', ...spoken }
            : { kind: 'delegate', task: spoken.text, child: agentId },
        ]
  const said = kind === 'model' ? wordsOfModel(attributes) : ''
  const tokens = kind === 'model' ? tokensOf(attributes) : 0
  const after: HostFact[] = [
    ...(said === '' ? [] : [{ kind: 'say', text: said } as const]),
    ...(tokens === 0 ? [] : [{ kind: 'tokens', count: tokens } as const]),
  ]
  // What a person said is the same in every call of the model until the next time.
  const prompts = placed(place(`${session}#${words.length}#${words.slice(0, 80)}`, at), asked)
  return [...prompts, ...own, ...placed(place(`${spanId}#said`, ended ?? at), after)]
}

function toolId(attributes: Fields): string {
  return textOf(
    attributes['gen_ai.tool.call.id'],
    attributes['gen_ai.tool.call_id'],
    attributes['ai.toolCall.id'],
    attributes['tool_call.id'],
  )
}

function toolFacts({ attributes, name, hasFailed, at, ended }: TelemetryRecord): HostFact[] {
  const tool =
    textOf(
      attributes['gen_ai.tool.name'],
      attributes['tool.name'],
      attributes['ai.toolCall.name'],
    ) || name
  const given =
    attributes['gen_ai.tool.call.arguments'] ??
    attributes['ai.toolCall.args'] ??
    attributes['input.value']
  const answer =
    attributes['gen_ai.tool.call.result'] ??
    attributes['ai.toolCall.result'] ??
    attributes['output.value']
  const use = {
    tool,
    input: typeof given === 'string' ? parsedFields(given) : fieldsOf(given),
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
    sum('llm.token_count.total')
  )
}
