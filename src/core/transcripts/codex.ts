import { asUnattended } from '../hosts/attended.ts'
import { readCodex } from '../hosts/codex.ts'
import { withoutSecrets } from '../hosts/commands.ts'
import { errorClassOf } from '../hosts/failures.ts'
import { type Fields, fieldsOf, listOf, parsedFields, textOf, timeOf } from '../hosts/fields.ts'
import type { Act, HostEvent, HostFact } from '../hosts/host-event.ts'
import { placesOf } from '../hosts/paths.ts'
import { placed } from '../hosts/place.ts'
import { cutTo } from '../text.ts'
import type { ReadLine, TranscriptPlace } from './read-line.ts'

/** Calls of functions whose hooks tell the plan, a task or an intent; commands and edits come as items of their own. */
const telling = /(?:update_plan|spawn_agent|followup_task|create_goal|update_goal)$/

const longestQuery = 400
/** How the host hands a command line to a shell; a hook tells the line alone. */
const shellCall = /^(?:\S*\/)?(?:ba|da|k|z)?sh$/
/** What the host has found a command to be that only looks. */
const looks: Readonly<Record<string, 'read' | 'search'>> = {
  read: 'read',
  list_files: 'read',
  search: 'search',
}

/** Reads a rollout file of Codex (0.169). Unlike its hooks, it tells how a command ended and what it was. */
export function readCodexRollout(place: TranscriptPlace): ReadLine {
  let { session, agentId } = place
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
      session = textOf(payload.session_id, own) || session
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
  // The first line of a long file, which names the folder, may be out of reach.
  const root = textOf(common.cwd) || folderOf(item.cwd)
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
      cwd: root,
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
      const exit = typeof item.exit_code === 'number' ? item.exit_code : undefined
      const head = exit === undefined ? '' : `Exit code: ${exit}\nOutput:\n`
      const output = typeof item.aggregated_output === 'string' ? item.aggregated_output : ''
      const events = call('Bash', { command: lineOf(item.command) }, `${head}${output}`)
      return withStatus(events, item, output).map((event) =>
        event.kind === 'act' ? { ...event, ...lookOf(item.parsed_cmd, event, root) } : event,
      )
    }
    case 'FileChange':
      return Object.entries(fieldsOf(item.changes))
        .slice(0, 20)
        .flatMap(([path, change], nth) => {
          const { content, unified_diff } = fieldsOf(change)
          const events = call(
            'apply_patch',
            { file_path: path, content: textOf(content, unified_diff) },
            textOf(item.stdout),
            nth,
          )
          return withStatus(events, item, textOf(item.stderr, item.stdout))
        })
    default:
      return []
  }
}

/** A command line as a hook tells it: without the shell that the host has called. */
function lineOf(command: unknown): unknown {
  const [shell, flag, line, ...more] = listOf(command)
  const isCall = typeof shell === 'string' && shellCall.test(shell) && more.length === 0
  return isCall && /^-[a-z]*c$/.test(textOf(flag)) && typeof line === 'string' ? line : command
}

/** The acts of an item, failed if the host says so and tells no exit code. */
function withStatus(events: readonly HostEvent[], item: Fields, output: string): HostEvent[] {
  if (item.status !== 'failed' && item.status !== 'declined') return [...events]
  return events.map((event) =>
    event.kind !== 'act' || event.exit !== undefined
      ? event
      : { ...event, outcome: 'failed', errorClass: errorClassOf(output) },
  )
}

/** What a command is that the host has read as looking alone; its families, places and query take the place of our own. */
function lookOf(parsed: unknown, act: Act, root: string): Partial<Act> {
  const parts = listOf(parsed).map(fieldsOf)
  const families = parts.map(({ type }) => looks[textOf(type)])
  if (parts.length === 0 || families.includes(undefined) || act.family === 'verify') return {}
  const places = placesOf(
    parts.map(({ path }) => path),
    root,
  )
  const queries = parts.map(({ query }) => textOf(query)).filter((query) => query !== '')
  const family = families.includes('search') ? 'search' : 'read'
  const isNamed = family === 'search' && queries.length > 0
  return {
    family,
    paths: places.length > 0 ? places : act.paths,
    words: isNamed ? cutTo(withoutSecrets(queries.join(' ')), longestQuery) : act.words,
  }
}

/** The folder of a command, whose place the host writes as an address. */
function folderOf(cwd: unknown): string {
  const folder = textOf(cwd)
  return folder.startsWith('file://') ? folder.slice('file://'.length) : folder
}
