import { todosIn } from './copilot-todos.ts'
import { exitCodeOf } from './failures.ts'
import { type Fields, fieldsOf, given, parsedFields, textOf, timeOf } from './fields.ts'
import type { HostEvent, HostFact } from './host-event.ts'
import { outcomeOf } from './outcome.ts'
import { idOf, type Place, placed } from './place.ts'
import { spokenBy } from './speaker.ts'
import { factsOfTool, outputOf } from './tool-facts.ts'

/** What the shell tools write under the output of a command. */
const trailer = /<[^<>\n]{0,200}\bexit(?:ed)?\b[^<>\n]{0,40}>\s*$/

/** Reads the hooks of Copilot CLI (1.0), whose bodies do not hold the name of the event. */
export function readCopilot(event: unknown, name?: string): HostEvent[] {
  const fields = fieldsOf(event)
  const place = placeOf(fields)
  switch (name) {
    case 'sessionStart':
      // Its first prompt comes in an event of its own.
      return placed(place, [
        { kind: 'session', source: fields.source === 'resume' ? 'resume' : 'startup' },
      ])
    case 'userPromptSubmitted': {
      const spoken = spokenBy(textOf(fields.prompt))
      if (spoken === null) return []
      const child = place.agentId ?? ''
      const task: HostFact = {
        kind: 'delegate',
        task: spoken.text,
        ...given('agentType', textOf(fields.agentType, fields.agentName)),
        child,
      }
      return placed(place, [child === '' ? { kind: 'prompt', ...spoken } : task])
    }
    case 'postToolUse':
    case 'postToolUseFailure':
      return placed(place, factsOfCall(fields, name === 'postToolUseFailure'))
    case 'subagentStart':
    case 'subagentStop':
      return childEvents(place, fields, name === 'subagentStart' ? 'start' : 'stop')
    case 'agentStop':
      return placed(place, [{ kind: 'turnEnd', expects: [] }])
    case 'notification':
      return placed(place, waitIn(textOf(fields.notification_type)))
    case 'preCompact':
      return placed(place, [{ kind: 'compact' }])
    case 'sessionEnd':
      return placed(place, [{ kind: 'runEnd', reason: textOf(fields.reason) }])
    default:
      // `permissionRequest` fires before the rules are asked, whether or not a person will be.
      return []
  }
}

/** A sub-agent's events have a session of its own; what one event tells of the chain is the parent. */
function placeOf(fields: Fields): Place {
  const own = idOf(fields.sessionId)
  const agentId = idOf(fields.agentId)
  const isChild = agentId !== '' && agentId === own
  return {
    host: 'copilot',
    session: isChild ? idOf(fields.parentAgentId, own) : own,
    agentId,
    at: timeOf(fields.timestamp),
    event: fields,
  }
}

function childEvents(place: Place, fields: Fields, state: 'start' | 'stop'): HostEvent[] {
  const { agentId: child = '', session } = place
  if (child === '') return []
  const above = idOf(fields.parentAgentId)
  const parent = above === session ? '' : above
  return placed({ ...place, agentId: parent }, [
    {
      kind: 'agent',
      child,
      parent,
      state,
      ...given('agentType', textOf(fields.agentType, fields.agentName)),
      ...given('said', textOf(fields.response)),
    },
  ])
}

function waitIn(notification: string): HostFact[] {
  if (notification === 'permission_prompt') return [{ kind: 'wait', for: 'permission' }]
  return notification === 'elicitation_dialog' ? [{ kind: 'wait', for: 'answer' }] : []
}

function factsOfCall(fields: Fields, hasFailed: boolean): HostFact[] {
  const tool = textOf(fields.toolName)
  if (tool === '') return []
  const { resultType, textResultForLlm } = fieldsOf(fields.toolResult)
  const didFail = hasFailed || (typeof resultType === 'string' && resultType !== 'success')
  if (tool === 'ask_user' && !didFail) return [{ kind: 'person', how: 'answer' }]
  const input = argumentsOf(fields.toolArgs)
  const items = tool === 'sql' && !didFail ? todosIn(input.query) : []
  if (items.length > 0) return [{ kind: 'plan', whole: false, items }]
  const told = outputOf(textResultForLlm ?? fields.error)
  const [end = ''] = trailer.exec(told?.slice(-400) ?? '') ?? []
  // The trailer has a number of its own each time.
  const output = told?.slice(0, told.length - end.length)
  const exit = exitCodeOf(end)
  const outcome = outcomeOf({ tool, didFail, exit, output })
  return factsOfTool({ tool, input, root: textOf(fields.cwd), outcome, exit, output })
}

/** The arguments; those of some tools are JSON in a text, or a patch. */
function argumentsOf(given: unknown): Fields {
  const input = parsedFields(given)
  return typeof given === 'string' && Object.keys(input).length === 0 ? { input: given } : input
}
