import { type Fields, fieldsOf, given, listOf, textOf, timeOf } from '../hosts/fields.ts'
import type { HostEvent } from '../hosts/host-event.ts'
import { placed } from '../hosts/place.ts'
import { readQwenCode } from '../hosts/qwen-code.ts'
import { createCalls } from './calls.ts'
import type { ReadLine, TranscriptPlace } from './read-line.ts'

/** Reads a chat file of Qwen Code (0.24), or the file of one of its sub-agents. It says whose words a prompt is. */
export function readQwenChat({ session, agentId }: TranscriptPlace): ReadLine {
  const calls = createCalls()
  return (line): HostEvent[] => {
    const fields = fieldsOf(line)
    const common = {
      session_id: textOf(fields.sessionId) || session,
      cwd: fields.cwd,
      timestamp: fields.timestamp,
      ...given('agent_id', textOf(fields.agentId) || agentId),
    }
    const parts = listOf(fieldsOf(fields.message).parts).map(fieldsOf)
    switch (fields.type) {
      case 'user':
        return prompted(common, fields, parts)
      case 'assistant':
        return parts.flatMap((part, nth) => saidIn(common, fields, part, nth, calls))
      case 'tool_result':
        return parts.flatMap((part) => endedCall(common, fieldsOf(part.functionResponse), calls))
      case 'system':
        return fields.subtype === 'chat_compression'
          ? readQwenCode({ ...common, hook_event_name: 'PreCompact' })
          : []
      default:
        return []
    }
  }
}

function prompted(common: Fields, fields: Fields, parts: readonly Fields[]): HostEvent[] {
  const texts = parts.map(({ text }) => textOf(text)).filter((text) => text !== '')
  const { provenance } = fields
  return readQwenCode({
    ...common,
    hook_event_name: 'UserPromptSubmit',
    submitted_prompt: texts.join('\n'),
    prompt_id: fields.uuid,
    // The words of a sub-agent's file are its task, whoever wrote them.
    ...(typeof provenance === 'string'
      ? { source: provenance === 'real_user' ? 'user' : provenance }
      : {}),
  })
}

function saidIn(
  common: Fields,
  fields: Fields,
  part: Fields,
  nth: number,
  calls: ReturnType<typeof createCalls>,
): HostEvent[] {
  const { id, name, args } = fieldsOf(part.functionCall)
  if (name !== undefined) {
    calls.begin(textOf(id), { tool: textOf(name), input: args })
    return []
  }
  const text = part.thought === true ? '' : textOf(part.text)
  if (text === '') return []
  const place = {
    host: 'qwen-code' as const,
    session: textOf(common.session_id),
    agentId: textOf(common.agent_id),
    at: timeOf(fields.timestamp),
    id: `${textOf(fields.uuid)}#said${nth}`,
    event: part,
  }
  return placed(place, [{ kind: 'say', text }])
}

function endedCall(
  common: Fields,
  { id, name, response }: Fields,
  calls: ReturnType<typeof createCalls>,
): HostEvent[] {
  const own = textOf(id)
  const call = calls.end(own)
  const tool = call?.tool || textOf(name)
  const { output, error } = fieldsOf(response)
  const didFail = error !== undefined
  return readQwenCode({
    ...common,
    hook_event_name: didFail ? 'PostToolUseFailure' : 'PostToolUse',
    tool_name: tool,
    tool_input: call?.input,
    tool_use_id: own,
    ...(didFail ? { error } : { tool_response: { llmContent: output } }),
  })
}
