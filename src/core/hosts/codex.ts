import { asUnattended } from './attended.ts'
import { beginning, readClaudeFamily } from './claude-code.ts'
import {
  digestOf,
  digestOfValue,
  type Fields,
  fieldsOf,
  listOf,
  parsedFields,
  textOf,
} from './fields.ts'
import type { HostEvent, HostFact } from './host-event.ts'
import { factsByOutput } from './named-failures.ts'
import { outcomeOf } from './outcome.ts'
import { idOf, type Place, placed } from './place.ts'
import { spokenBy } from './speaker.ts'
import { bareName } from './tool-facts.ts'

/** What some tools put before their output. */
const heading =
  /^(?:(?:Exit code|Wall time|Chunk ID|Original token count|Total output lines): [^\n]*\n|Process (?:exited|running) with [^\n]*\n)+Output:\n?/
const exitLine = /^(?:Exit code: |Process exited with code )(-?\d+)/m
/** How the host begins its own summary of a conversation, which stands among the messages of the user. */
const summary = /^Another language model started to solve this problem/

/** Reads the hooks and the notices of Codex (0.169). Neither tells a time, nor a hook the exit code of a command. */
export function readCodex(event: unknown, name?: string): HostEvent[] {
  const fields = fieldsOf(event)
  if (fields.type === 'agent-turn-complete') return readNotice(fields)
  const place: Place = {
    host: 'codex',
    session: idOf(fields.session_id),
    agentId: idOf(fields.agent_id),
    event: fields,
  }
  switch (textOf(fields.hook_event_name, name)) {
    case 'UserPromptSubmit':
      return prompted(place, idOf(fields.turn_id), fields.prompt)
    case 'PreToolUse': {
      const id = idOf(fields.tool_use_id)
      return placed({ ...place, id }, beginning(id, factsOfCall(fields)))
    }
    case 'PostToolUse':
      return placed({ ...place, id: idOf(fields.tool_use_id) }, factsOfCall(fields))
    case 'Stop':
    case 'StopFailure':
    case 'Interrupt': {
      // Another hook has let the turn go on after its first end.
      const turn = fields.stop_hook_active === true ? '' : idOf(fields.turn_id)
      return ended(place, turn, fields.last_assistant_message)
    }
    case 'SessionStart':
    case 'SessionEnd':
    case 'SubagentStart':
    case 'SubagentStop':
    case 'PermissionRequest':
    case 'PreCompact':
      return readClaudeFamily('codex', fields, name)
    default:
      return []
  }
}

/**
 * What `notify` is called with after a turn. It names only its own thread, and without a client nothing tells that thread
 * from a sub-agent's.
 */
function readNotice(fields: Fields): HostEvent[] {
  if (textOf(fields.client) === '') return []
  const place: Place = { host: 'codex', session: idOf(fields['thread-id']), event: fields }
  const turn = idOf(fields['turn-id'])
  const messages = listOf(fields['input-messages']).map((each) => textOf(each))
  const last = messages.findLast((text) => text !== '' && !summary.test(text))
  const prompt = prompted(place, turn, last)
  return [
    ...(fields.client === 'codex_exec' ? asUnattended(prompt) : prompt),
    ...ended(place, turn, fields['last-assistant-message']),
  ]
}

/** A prompt is the same in a hook and in a notice; one turn can have several. */
function prompted(place: Place, turn: string, prompt: unknown): HostEvent[] {
  const spoken = spokenBy(textOf(prompt))
  if (spoken === null) return []
  const id = turn === '' ? '' : `${turn}#${digestOf(spoken.text)}`
  const child = place.agentId ?? ''
  // A sub-agent's prompt is its task.
  return placed({ ...place, id }, [
    child === '' ? { kind: 'prompt', ...spoken } : { kind: 'delegate', task: spoken.text, child },
  ])
}

function ended(place: Place, turn: string, said: unknown): HostEvent[] {
  return placed({ ...place, id: turn === '' ? '' : `${turn}#end` }, [
    { kind: 'turnEnd', said: textOf(said), expects: [] },
  ])
}

function factsOfCall(event: Fields): HostFact[] {
  const tool = textOf(event.tool_name)
  if (tool === '') return []
  if (bareName(tool) === 'requestuserinput') return [{ kind: 'person', how: 'answer' }]
  const answer = event.tool_response
  const { output, exit } = outputIn(answer)
  // Only tools that have worked are reported; a command has then run, with whatever result.
  const didFail = fieldsOf(answer).isError === true
  return factsByOutput(
    {
      tool,
      input: fieldsOf(event.tool_input),
      root: textOf(event.cwd),
      outcome: outcomeOf({ tool, didFail, exit, output }),
      exit,
      output,
    },
    parsedFields(answer),
  )
}

function outputIn(answer: unknown): { output: string | undefined; exit: number | undefined } {
  if (answer === undefined || answer === null) return { output: undefined, exit: undefined }
  if (typeof answer !== 'string') {
    const texts = listOf(fieldsOf(answer).content)
      .map((part) => fieldsOf(part).text)
      .filter((text) => typeof text === 'string')
    const output = texts.length === 0 ? digestOfValue(answer) : texts.join('\n')
    return { output, exit: undefined }
  }
  const [head = ''] = heading.exec(answer) ?? []
  const [, code] = exitLine.exec(head) ?? []
  return {
    output: answer.slice(head.length),
    exit: code === undefined ? undefined : Number(code),
  }
}
