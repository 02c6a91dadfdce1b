import { readClaudeFamily } from './claude-code.ts'
import { fieldsOf, textOf } from './fields.ts'
import type { HostEvent } from './host-event.ts'
import { withDoubt } from './outcome.ts'

/**
 * Reads the hooks of the agent of VS Code (Preview). It is not verified against the program, which needs a desktop: by
 * its documentation the events have Claude Code's form, some common fields also with names in camel case.
 */
export function readVscode(event: unknown, name?: string): HostEvent[] {
  const fields = fieldsOf(event)
  const called = textOf(fields.hook_event_name, fields.hookEventName, name)
  if (called.startsWith('Subagent') && textOf(fields.agent_id) === '') return []
  const told = fieldsOf(fields.tool_result).text_result_for_llm
  const answer = fields.tool_response ?? told
  const events = readClaudeFamily('vscode', {
    ...fields,
    hook_event_name: called,
    session_id: fields.session_id ?? fields.sessionId,
    ...(answer === undefined ? {} : { tool_response: answer }),
  })
  return withDoubt(events)
}
