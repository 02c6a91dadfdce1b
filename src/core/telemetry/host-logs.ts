import { byProgram } from '../hosts/attended.ts'
import { readClaudeCode } from '../hosts/claude-code.ts'
import { readCodex } from '../hosts/codex.ts'
import {
  amountOf,
  digestOfValue,
  type Fields,
  given,
  parsedFields,
  textOf,
  timeOf,
} from '../hosts/fields.ts'
import { readGeminiCli } from '../hosts/gemini-cli.ts'
import type { HostEvent, HostFact, HostName } from '../hosts/host-event.ts'
import { idOf, placed } from '../hosts/place.ts'
import { spanOf, type TelemetryRecord } from './records.ts'

/**
 * Reads a log record that Claude Code, Codex or Gemini CLI exports into the events of their hooks, with the same ids where
 * both have one. Records of any other kind are no events; `gemini_cli.hook_call` holds what hooks were handed, and is
 * never read.
 */
export function readHostLog(record: TelemetryRecord): HostEvent[] {
  const { name, attributes, at } = record
  // Codex tells of its agents by their own sessions alone.
  const session = textOf(
    attributes['session.id'],
    attributes['conversation.id'],
    attributes.sender_thread_id,
  )
  if (session === '') return []
  const time = timeOf(attributes['event.timestamp']) ?? at
  const read = readers[name.replace(/^claude_code\./, '')]
  const events = read === undefined ? [] : read(attributes, session, record)
  return events.map((event) => ({ ...event, ...given('at', time) }))
}

type ReadRecord = (attributes: Fields, session: string, record: TelemetryRecord) => HostEvent[]

const readers: Readonly<Record<string, ReadRecord>> = {
  user_prompt: (attributes, session) =>
    readClaudeCode({
      session_id: session,
      hook_event_name: 'UserPromptSubmit',
      prompt: attributes.prompt,
      prompt_id: attributes['prompt.id'],
    }),
  api_request: (attributes, session) => [
    ...handedOver(attributes, session),
    ...spent('claude-code', session, attributes, ['input_tokens', 'output_tokens']),
  ],
  assistant_response: (attributes, session) =>
    said('claude-code', session, textOf(attributes.response), attributes),
  tool_decision: (attributes, session) => decided('claude-code', session, attributes, 'accept'),
  tool_result: (attributes, session) => {
    const didFail = isFalse(attributes.success)
    return readClaudeCode({
      session_id: session,
      hook_event_name: didFail ? 'PostToolUseFailure' : 'PostToolUse',
      tool_name: attributes.tool_name,
      tool_input: parsedFields(attributes.tool_input ?? attributes.tool_parameters),
      tool_use_id: attributes.tool_use_id,
      ...(didFail ? { error: textOf(attributes.error) } : { tool_response: '' }),
    })
  },
  subagent_completed: (attributes, session) => agentAt('claude-code', 'stop', attributes, session),
  'codex.user_prompt': (attributes, session) =>
    readCodex({
      session_id: session,
      hook_event_name: 'UserPromptSubmit',
      prompt: attributes.prompt,
      turn_id: attributes['event.timestamp'],
    }),
  'codex.agent_communication': (attributes, session) => {
    const task = textOf(attributes.content)
    if (attributes.kind !== 'spawn' || task === '') return []
    const child = idOf(attributes.receiver_thread_id)
    const fact: HostFact = { kind: 'delegate', task, ...given('child', child) }
    const id = idOf(attributes.communication_id)
    return placed({ host: 'codex', session, id, event: attributes }, [fact])
  },
  'codex.sse_event': (attributes, session) =>
    attributes['event.kind'] === 'response.completed'
      ? spent('codex', session, attributes, ['input_token_count', 'output_token_count'])
      : [],
  'codex.tool_decision': (attributes, session) => decided('codex', session, attributes, 'approved'),
  'codex.tool_result': (attributes, session) =>
    readCodex({
      session_id: session,
      hook_event_name: 'PostToolUse',
      tool_name: attributes.tool_name,
      tool_input: parsedFields(attributes.arguments),
      tool_use_id: attributes.call_id,
      tool_response: attributes.output,
    }),
  'gemini_cli.user_prompt': (attributes, session) =>
    readGeminiCli({
      session_id: session,
      hook_event_name: 'BeforeAgent',
      prompt: attributes.prompt,
      timestamp: attributes['event.timestamp'],
    }),
  'gemini_cli.api_response': (attributes, session) =>
    spent('gemini-cli', session, attributes, ['input_token_count', 'output_token_count']),
  'gemini_cli.agent.start': (attributes, session, record) =>
    agentAt('gemini-cli', 'start', attributes, session, spanOf(record)?.spanId),
  'gemini_cli.agent.finish': (attributes, session, record) =>
    agentAt('gemini-cli', 'stop', attributes, session, spanOf(record)?.spanId),
  'gemini_cli.tool_call': (attributes, session) => {
    const didFail = isFalse(attributes.success)
    const use = {
      session_id: session,
      timestamp: attributes['event.timestamp'],
      tool_name: attributes.function_name,
      tool_input: parsedFields(attributes.function_args),
    }
    const answer = didFail
      ? { llmContent: textOf(attributes.error), error: true }
      : { llmContent: '' }
    return [
      ...readGeminiCli({ ...use, hook_event_name: 'BeforeTool' }),
      ...readGeminiCli({ ...use, hook_event_name: 'AfterTool', tool_response: answer }),
    ]
  },
}

/** What `claude -p` asks of its model says that a program has handed the prompt over. */
function handedOver(attributes: Fields, session: string): HostEvent[] {
  const id = textOf(attributes['prompt.id'])
  if (id === '' || attributes.query_source !== byProgram) return []
  const fact: HostFact = { kind: 'prompt', text: '', by: 'person', isHeadless: true }
  return placed({ host: 'claude-code', session, id, event: attributes }, [fact])
}

/** The beginning or the end of a sub-agent. The spans of Gemini CLI know it by the span of its call. */
function agentAt(
  host: HostName,
  state: 'start' | 'stop',
  attributes: Fields,
  session: string,
  span?: string,
): HostEvent[] {
  const own = idOf(attributes.agent_id)
  const child = span ?? own
  if (child === '') return []
  const agentType = textOf(attributes.agent_name, attributes.agent_type)
  const fact: HostFact = {
    ...{ kind: 'agent', child, parent: '', state },
    ...given('agentType', agentType),
  }
  return placed({ host, session, id: `${own || child}#${state}`, event: attributes }, [fact])
}

/** The tokens of a call of a model, as the sum of some attributes. */
function spent(
  host: HostName,
  session: string,
  attributes: Fields,
  names: readonly string[],
): HostEvent[] {
  // Some exporters tell numbers as texts.
  const amounts = names.map((name) => amountOf(Number(attributes[name])) ?? 0)
  const count = amounts.reduce((sum, amount) => sum + amount, 0)
  const id = `${digestOfValue(attributes)}#tokens`
  return count === 0
    ? []
    : placed({ host, session, id, event: attributes }, [{ kind: 'tokens', count }])
}

function said(host: HostName, session: string, text: string, event: Fields): HostEvent[] {
  return text === '' ? [] : placed({ host, session, event }, [{ kind: 'say', text }])
}

/** A permission that a person gave. */
function decided(
  host: HostName,
  session: string,
  attributes: Fields,
  accepted: string,
): HostEvent[] {
  const isPerson = /^user/i.test(textOf(attributes.source)) && attributes.decision === accepted
  const fact: HostFact = { kind: 'person', how: 'permission' }
  const id = `${textOf(attributes.tool_use_id, attributes.call_id, attributes['event.timestamp'])}#granted`
  return isPerson ? placed({ host, session, id, event: attributes }, [fact]) : []
}

function isFalse(value: unknown): boolean {
  return value === false || value === 'false'
}
