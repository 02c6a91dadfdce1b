import { amountOf, type Fields, fieldsOf, given, listOf, textOf, timeOf } from './fields.ts'
import type { HostEvent, HostFact } from './host-event.ts'
import { outcomeOf } from './outcome.ts'
import { idOf, type Place, placed } from './place.ts'
import { spokenBy } from './speaker.ts'
import { factsOfTool, outputOf } from './tool-facts.ts'

/** Agents that opencode brings along: a person talks to the first, tools start the second. */
const personsAgents = /^(?:build|plan)?$/
const toolsAgents = /^(?:general|explore)$/

/**
 * Reads what a plugin of opencode (1.18) is called with, as `{hook, input, output}`. A hook tells neither the folder of
 * the project nor the session above its own: a plugin that knows them adds `directory` and `root`, the root session.
 */
export function readOpencode(event: unknown, name?: string): HostEvent[] {
  const call = fieldsOf(event)
  const input = fieldsOf(call.input)
  switch (textOf(call.hook, name)) {
    case 'chat.message':
      return ofMessage(call, input, fieldsOf(call.output))
    case 'tool.execute.after':
      return placed(placeIn(call, input.sessionID, input.callID), factsOfCall(call, input))
    case 'experimental.text.complete': {
      const text = textOf(fieldsOf(call.output).text)
      const place = placeIn(call, input.sessionID, input.partID)
      return text === '' ? [] : placed(place, [{ kind: 'say', text }])
    }
    case 'event':
      return ofBus(call, fieldsOf(input.event ?? input))
    default:
      return []
  }
}

function placeIn(call: Fields, session: unknown, id: unknown, at?: unknown): Place {
  const own = idOf(session)
  const root = own === '' ? '' : idOf(call.root, own)
  return {
    host: 'opencode',
    session: root,
    agentId: root === own ? '' : own,
    at: timeOf(at),
    id: idOf(id),
    event: call,
  }
}

/** The prompt of a person, or the task of a sub-agent: both come as messages. */
function ofMessage(call: Fields, input: Fields, output: Fields): HostEvent[] {
  const message = fieldsOf(output.message)
  const id = idOf(message.id, input.messageID)
  const place = placeIn(call, input.sessionID, id, fieldsOf(message.time).created)
  const agent = idOf(input.agent, message.agent)
  const typed = listOf(output.parts).flatMap((each) => {
    const { type, text, synthetic, ignored } = fieldsOf(each)
    return type === 'text' && typeof text === 'string' && !synthetic && !ignored ? [text] : []
  })
  const text = textOf(unquoted(typed.join('\n').trim()))
  const spoken = spokenBy(text, undefined, personsAgents.test(agent) ? 'person' : 'unknown')
  if (spoken === null) return []
  if (place.agentId === '' && !toolsAgents.test(agent)) {
    return placed(place, [{ kind: 'prompt', ...spoken }])
  }
  const child = idOf(input.sessionID)
  const task: HostFact = {
    kind: 'delegate',
    task: spoken.text,
    ...given('agentType', agent),
    child,
  }
  return placed({ ...place, agentId: child }, [task])
}

/** `opencode run` puts a prompt of several words into quotation marks. */
function unquoted(text: string): string {
  const inner = text.slice(1, -1)
  const isQuoted = text.length > 1 && text.startsWith('"') && text.endsWith('"')
  return isQuoted && !inner.replaceAll('\\"', '').includes('"')
    ? inner.replaceAll('\\"', '"')
    : text
}

function ofBus(call: Fields, event: Fields): HostEvent[] {
  const properties = fieldsOf(event.properties)
  const place = placeIn(call, properties.sessionID, event.id)
  switch (event.type) {
    case 'session.created':
      return ofSession(call, event, fieldsOf(properties.info))
    case 'session.idle':
      return place.agentId === ''
        ? placed(place, [{ kind: 'turnEnd', expects: [] }])
        : placed({ ...place, agentId: '' }, [
            { kind: 'agent', child: place.agentId ?? '', parent: '', state: 'stop' },
          ])
    case 'session.compacted':
      return placed(place, [{ kind: 'compact' }])
    case 'permission.asked':
    case 'permission.updated':
      return placed(place, [{ kind: 'wait', for: 'permission' }])
    case 'permission.replied': {
      // Without a person at hand opencode itself rejects.
      const reply = textOf(properties.reply, properties.response)
      return reply === 'reject' ? [] : placed(place, [{ kind: 'person', how: 'permission' }])
    }
    case 'question.asked':
      return placed(place, [{ kind: 'wait', for: 'answer' }])
    case 'question.replied':
      return placed(place, [{ kind: 'person', how: 'answer' }])
    case 'message.part.updated':
      return ofFailure(call, properties, fieldsOf(properties.part))
    default:
      return []
  }
}

function ofSession(call: Fields, event: Fields, info: Fields): HostEvent[] {
  const child = idOf(info.id)
  const above = idOf(info.parentID)
  const place = placeIn(call, above || child, event.id, fieldsOf(info.time).created)
  if (above === '') return placed(place, [{ kind: 'session', source: 'startup' }])
  const agentType = given('agentType', textOf(info.agent))
  const parent = place.agentId ?? ''
  return placed(place, [{ kind: 'agent', child, parent, state: 'start', ...agentType }])
}

function factsOfCall(call: Fields, input: Fields): HostFact[] {
  const tool = textOf(input.tool)
  // The answer to a question comes in an event of its own.
  if (tool === '' || tool === 'question') return []
  const answer = fieldsOf(call.output)
  const code = fieldsOf(answer.metadata).exit
  const exit = typeof code === 'number' && Number.isInteger(code) ? code : undefined
  const output = outputOf(call.output)
  const outcome = outcomeOf({ tool, didFail: false, exit, output })
  const args = fieldsOf(input.args)
  const root = rootOf(call, args, answer.title)
  return factsOfTool({ tool, input: withPatch(args), root, outcome, exit, output }, answer)
}

/** A tool that throws is told only by the part of the message that shows it. */
function ofFailure(call: Fields, properties: Fields, part: Fields): HostEvent[] {
  const { status, input, error, time } = fieldsOf(part.state)
  const tool = textOf(part.tool)
  if (part.type !== 'tool' || status !== 'error' || tool === '') return []
  const [start, end] = [amountOf(fieldsOf(time).start), amountOf(fieldsOf(time).end)]
  const session = part.sessionID ?? properties.sessionID
  const args = fieldsOf(input)
  return placed(
    placeIn(call, session, part.callID, end),
    factsOfTool({
      tool,
      input: withPatch(args),
      root: rootOf(call, args),
      outcome: 'failed',
      output: outputOf(error),
      ms: start === undefined || end === undefined ? undefined : amountOf(end - start),
    }),
  )
}

function withPatch({ patchText, ...input }: Fields): Fields {
  return patchText === undefined ? input : { ...input, patch: patchText }
}

/** The folder of the project: a file's absolute path ends with the relative one, which is the title of the call. */
function rootOf(call: Fields, args: Fields, title?: unknown): string {
  const told = textOf(call.directory)
  const path = textOf(args.filePath, args.path)
  const relative = textOf(title)
  if (told !== '' || relative === '' || !path.endsWith(relative)) return told
  const folder = path.slice(0, -relative.length)
  return /[/\\]$/.test(folder) ? folder.slice(0, -1) : ''
}
