import { readClaudeFamily } from './claude-code.ts'
import { fieldsOf, parsedFields, textOf } from './fields.ts'
import type { HostEvent } from './host-event.ts'
import { withDoubt } from './outcome.ts'

/** Claude Code's names of Cursor's events; the older events of single tools tell the same again. */
const claudesNames: Readonly<Record<string, string>> = {
  sessionStart: 'SessionStart',
  beforeSubmitPrompt: 'UserPromptSubmit',
  postToolUse: 'PostToolUse',
  postToolUseFailure: 'PostToolUseFailure',
  subagentStart: 'SubagentStart',
  subagentStop: 'SubagentStop',
  stop: 'Stop',
  sessionEnd: 'SessionEnd',
}

/**
 * Reads the hooks of Cursor. It is not verified against the program, which cannot be run here: the names of events and
 * of the fields of tools are those of a mirror of its documentation, all others are Claude Code's.
 */
export function readCursor(event: unknown, name?: string): HostEvent[] {
  // The address of the person is never read.
  const { tool_output, duration, user_email: _, ...fields } = fieldsOf(event)
  const called = textOf(fields.hook_event_name, name)
  const claudes = Object.hasOwn(claudesNames, called) ? claudesNames[called] : undefined
  if (claudes === undefined) return []
  if (claudes.startsWith('Subagent') && textOf(fields.agent_id) === '') return []
  const events = readClaudeFamily('cursor', {
    ...fields,
    hook_event_name: claudes,
    tool_input: parsedFields(fields.tool_input),
    ...(tool_output === undefined ? {} : { tool_response: answerOf(tool_output) }),
    ...(claudes === 'PostToolUseFailure'
      ? { error: textOf(fields.error, fields.error_message, fields.message) }
      : {}),
    duration_ms: duration,
  })
  return withDoubt(events)
}

/** What a tool answered: JSON in a text, or the text itself. */
function answerOf(output: unknown): unknown {
  const answer = parsedFields(output)
  if (Object.keys(answer).length === 0) return output
  return { ...answer, exit_code: answer.exit_code ?? answer.exitCode }
}
