import { readClaudeFamily } from './claude-code.ts'
import { digestOfValue, type Fields, fieldsOf, textOf } from './fields.ts'
import { promptWords, shellAnswer, shellTool, toldBy } from './gemini-family.ts'
import type { HostEvent } from './host-event.ts'

/** The id of a sub-agent in what the tool answers that started it. */
const launched = /^(?:task_id|agentId): (\S+)/m

/**
 * Reads the hooks of Qwen Code (0.24): the events and fields of Claude Code, with the tools and the answers of Gemini
 * CLI.
 */
export function readQwenCode(event: unknown, name?: string): HostEvent[] {
  const fields = fieldsOf(event)
  switch (textOf(fields.hook_event_name, name)) {
    case 'UserPromptSubmit':
      return promptsIn(fields, name)
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return readClaudeFamily('qwen-code', inClaudesForm(fields), name)
    case 'SessionStart': {
      const source = fields.source === 'branch' ? 'fork' : fields.source
      return readClaudeFamily('qwen-code', { ...fields, source }, name)
    }
    case 'Stop':
    case 'StopFailure':
      return readClaudeFamily('qwen-code', { ...fields, session_crons: fields.crons }, name)
    case 'SessionEnd':
    case 'SubagentStart':
    case 'SubagentStop':
    case 'PermissionRequest':
    case 'Notification':
    case 'PreCompact':
      return readClaudeFamily('qwen-code', fields, name)
    default:
      return []
  }
}

/**
 * The host asks its hooks also before it hands the answer of a tool to the model, mostly with an empty prompt. What a
 * person submitted stands apart, in the hosts and modes that tell it.
 */
function promptsIn(fields: Fields, name: string | undefined): HostEvent[] {
  const submitted = promptWords(fields.submitted_prompt)
  const words = submitted || promptWords(fields.prompt)
  const events = readClaudeFamily(
    'qwen-code',
    { ...fields, submitted_prompt: words, prompt: '' },
    name,
  )
  return events.map((each) =>
    each.kind === 'prompt' && each.by === 'unknown' && submitted !== ''
      ? { ...each, by: 'person' }
      : each,
  )
}

function inClaudesForm(call: Fields): Fields {
  const tool = textOf(call.tool_name)
  const didFail = call.error !== undefined && call.error !== null
  const told = didFail ? errorIn(call.error) : toldBy(call.tool_response)
  const shell = tool === shellTool && told !== undefined ? shellAnswer(told) : undefined
  const output = shell?.output ?? told
  return {
    ...call,
    // The session file knows a call by the id that the model gave it.
    tool_use_id: textOf(call.tool_call_id, call.tool_use_id),
    tool_name: tool === 'ask_user_question' ? 'AskUserQuestion' : tool,
    tool_response:
      output === undefined
        ? undefined
        : {
            output,
            exit_code: shell?.exit,
            agentId: launched.exec(tool === 'agent' ? output.slice(0, 1000) : '')?.[1],
          },
    error: didFail ? output : undefined,
  }
}

function errorIn(error: unknown): string {
  return typeof error === 'string' ? error : digestOfValue(error)
}
