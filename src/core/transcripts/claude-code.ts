import { readClaudeCode } from '../hosts/claude-code.ts'
import { type Fields, fieldsOf, given, listOf, textOf, timeOf } from '../hosts/fields.ts'
import type { HostEvent } from '../hosts/host-event.ts'
import { placed } from '../hosts/place.ts'
import { createCalls } from './calls.ts'
import type { ReadLine, TranscriptPlace } from './read-line.ts'

/** Who typed a prompt, by the words of the session file, in the words of the hooks. */
const sources: Readonly<Record<string, string>> = { typed: 'user', sdk: 'sdk' }
/** What the host writes for the person where nobody has spoken. */
const interrupted = /^\[Request interrupted by user/

/** Reads a session file of Claude Code (2.1): its lines become events of its hooks, with the same ids. */
export function readClaudeTranscript({ session, agentId }: TranscriptPlace): ReadLine {
  const calls = createCalls()
  return (line) => {
    const fields = fieldsOf(line)
    const common = {
      session_id: textOf(fields.sessionId) || session,
      cwd: fields.cwd,
      timestamp: fields.timestamp,
      ...given('agent_id', textOf(fields.agentId) || agentId),
    }
    const { content } = fieldsOf(fields.message)
    if (fields.type === 'assistant') return saidIn(common, fields, content, calls)
    if (fields.type === 'system' && fields.subtype === 'compact_boundary') {
      return readClaudeCode({ ...common, hook_event_name: 'PreCompact' })
    }
    if (fields.type !== 'user' || fields.isMeta === true) return []
    const blocks = typeof content === 'string' ? [] : listOf(content).map(fieldsOf)
    const results = blocks.filter(({ type }) => type === 'tool_result')
    if (results.length > 0) {
      return [
        ...granted(common, fields, results),
        ...results.flatMap((result) => readClaudeCode(endedCall(common, fields, result, calls))),
      ]
    }
    const texts = typeof content === 'string' ? [content] : blocks.map(({ text }) => textOf(text))
    const prompt = texts.filter((text) => text !== '').join('\n')
    if (prompt === '' || interrupted.test(prompt) || fields.isCompactSummary === true) return []
    return readClaudeCode({
      ...common,
      hook_event_name: 'UserPromptSubmit',
      prompt,
      prompt_id: textOf(fields.promptId, fields.uuid),
      ...given('source', sourceOf(fields)),
    })
  }
}

/** The words and the calls of one message of the agent. */
function saidIn(
  common: Fields,
  fields: Fields,
  content: unknown,
  calls: ReturnType<typeof createCalls>,
): HostEvent[] {
  return listOf(content).flatMap((each, nth) => {
    const block = fieldsOf(each)
    if (block.type === 'tool_use') {
      calls.begin(textOf(block.id), { tool: textOf(block.name), input: block.input })
      return []
    }
    const text = block.type === 'text' ? textOf(block.text) : ''
    if (text === '') return []
    const place = {
      host: 'claude-code' as const,
      session: textOf(common.session_id),
      agentId: textOf(common.agent_id),
      at: timeOf(fields.timestamp),
      id: `${textOf(fields.uuid)}#said${nth}`,
      event: block,
    }
    return placed(place, [{ kind: 'say', text }])
  })
}

function endedCall(
  common: Fields,
  fields: Fields,
  result: Fields,
  calls: ReturnType<typeof createCalls>,
): Fields {
  const id = textOf(result.tool_use_id)
  const call = calls.end(id)
  const answer = result.content
  const failed = result.is_error === true
  const texts =
    typeof answer === 'string'
      ? [answer]
      : listOf(answer).map((each) => textOf(fieldsOf(each).text))
  return {
    ...common,
    hook_event_name: failed ? 'PostToolUseFailure' : 'PostToolUse',
    tool_name: call?.tool ?? '',
    tool_input: call?.input,
    tool_use_id: id,
    ...(failed
      ? { error: texts.join('\n') }
      : { tool_response: fields.toolUseResult ?? texts.join('\n') }),
  }
}

/** A permission that a person gave. */
function granted(common: Fields, fields: Fields, results: readonly Fields[]): HostEvent[] {
  const { decision, source } = fieldsOf(fields.permissionDecision)
  if (decision !== 'accept' || !textOf(source).startsWith('user')) return []
  const place = {
    host: 'claude-code' as const,
    session: textOf(common.session_id),
    at: timeOf(fields.timestamp),
    id: `${textOf(results[0]?.tool_use_id)}#granted`,
    event: fields,
  }
  return placed(place, [{ kind: 'person', how: 'permission' }])
}

/** Where a prompt comes from; '' if the file does not say. */
function sourceOf({ promptSource, turnOrigin, origin }: Fields): string {
  const told = textOf(promptSource)
  if (told !== '') return sources[told] ?? told
  const from = textOf(turnOrigin, fieldsOf(origin).kind)
  return from === '' ? '' : from === 'human' ? 'user' : from
}
