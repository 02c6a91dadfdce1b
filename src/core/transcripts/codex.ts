import { asUnattended } from '../hosts/attended.ts'
import { readCodex } from '../hosts/codex.ts'
import {
  amountOf,
  type Fields,
  fieldsOf,
  listOf,
  parsedFields,
  textOf,
  timeOf,
} from '../hosts/fields.ts'
import type { HostEvent, HostFact } from '../hosts/host-event.ts'
import { placed } from '../hosts/place.ts'
import type { ReadLine, TranscriptPlace } from './read-line.ts'

/** Calls of functions whose hooks tell the plan, a task or an intent; commands and edits come as items of their own. */
const telling = /(?:update_plan|spawn_agent|followup_task|create_goal|update_goal)$/

/** Reads a rollout file of Codex (0.169). Unlike its hooks, it tells the exit code of a command. */
export function readCodexRollout({ session: named }: TranscriptPlace): ReadLine {
  let session = named
  let agentId = ''
  let cwd = ''
  let isUnattended = false
  return (line) => {
    const fields = fieldsOf(line)
    const payload = fieldsOf(fields.payload)
    const at = timeOf(fields.timestamp)
    const common = (): Fields => ({
      session_id: session,
      cwd,
      ...(agentId === '' ? {} : { agent_id: agentId }),
    })
    const timed = (events: readonly HostEvent[]) =>
      events.map((event) => (at === undefined ? event : { ...event, at }))
    if (fields.type === 'session_meta') {
      const own = textOf(payload.id)
      session = textOf(payload.session_id, own) || named
      // A sub-agent's thread has an id of its own and names the session that it belongs to.
      agentId = own !== '' && own !== session ? own : ''
      cwd = textOf(payload.cwd)
      isUnattended = payload.source === 'exec'
      return []
    }
    const item = fieldsOf(payload.item)
    if (payload.type === 'item_completed') {
      const turn = textOf(payload.turn_id)
      const events = timed(eventsOfItem(common(), turn, item))
      return isUnattended ? asUnattended(events) : events
    }
    if (fields.type === 'response_item' && payload.type === 'function_call') {
      const name = textOf(payload.name)
      if (!telling.test(name)) return []
      return timed(
        readCodex({
          ...common(),
          hook_event_name: 'PostToolUse',
          tool_name: `${textOf(payload.namespace)}${name}`,
          tool_input: parsedFields(payload.arguments),
          tool_use_id: textOf(payload.call_id),
          tool_response: '',
        }),
      )
    }
    return []
  }
}

function eventsOfItem(common: Fields, turn: string, item: Fields): HostEvent[] {
  const id = textOf(item.id)
  const fact = (found: HostFact): HostEvent[] =>
    placed(
      {
        host: 'codex',
        session: textOf(common.session_id),
        agentId: textOf(common.agent_id),
        id: `${turn}#${id}`,
        event: item,
      },
      [found],
    )
  const call = (tool: string, input: Fields, response: string, nth = 0) =>
    readCodex({
      ...common,
      hook_event_name: 'PostToolUse',
      tool_name: tool,
      tool_input: input,
      tool_use_id: nth === 0 ? id : `${id}#${nth}`,
      tool_response: response,
    })
  switch (item.type) {
    case 'UserMessage': {
      const texts = listOf(item.content).map((each) => textOf(fieldsOf(each).text))
      return readCodex({
        ...common,
        hook_event_name: 'UserPromptSubmit',
        turn_id: turn,
        prompt: texts.filter((text) => text !== '').join('\n'),
      })
    }
    case 'AgentMessage': {
      const texts = listOf(item.content).map((each) => textOf(fieldsOf(each).text))
      const text = texts.filter((each) => each !== '').join('\n')
      return text === '' ? [] : fact({ kind: 'say', text })
    }
    case 'CommandExecution': {
      const exit = amountOf(item.exit_code)
      const head = exit === undefined ? '' : `Exit code: ${exit}\nOutput:\n`
      const output = typeof item.aggregated_output === 'string' ? item.aggregated_output : ''
      return call('Bash', { command: item.command }, `${head}${output}`)
    }
    case 'FileChange':
      return Object.entries(fieldsOf(item.changes))
        .slice(0, 20)
        .flatMap(([path, change], nth) => {
          const { content, unified_diff } = fieldsOf(change)
          return call(
            'apply_patch',
            { file_path: path, content: textOf(content, unified_diff) },
            textOf(item.stdout),
            nth,
          )
        })
    default:
      return []
  }
}
