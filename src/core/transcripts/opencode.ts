import { type Fields, fieldsOf, listOf, textOf } from '../hosts/fields.ts'
import type { HostEvent } from '../hosts/host-event.ts'
import { readOpencode } from '../hosts/opencode.ts'
import type { ReadLine } from './read-line.ts'

/** A message of opencode's database with its session and its parts, each with its JSON. */
export interface OpencodeLine {
  session: { id: string; parentID: unknown; root: string; directory: unknown; created: unknown }
  message: { id: unknown; data: unknown }
  parts: { id: unknown; data: unknown }[]
}

/**
 * Reads the messages of opencode (1.18) as its database holds them. A message comes again when it has grown; what it has
 * told already is told no more.
 */
export function readOpencodeMessages(): ReadLine {
  const told = new Set<string>()
  return (line) => {
    const { session, message, parts } = fieldsOf(line)
    const { id, root, directory, parentID, created } = fieldsOf(session)
    const common = { directory, root }
    const info = { id, parentID: parentID ?? undefined, time: { created } }
    const data = fieldsOf(fieldsOf(message).data)
    const bus = (type: string, eventId: string, properties: Fields) =>
      readOpencode({
        ...common,
        hook: 'event',
        input: { event: { id: eventId, type, properties } },
      })
    const begun = bus('session.created', `${textOf(id)}#created`, { info })
    const own = { id: fieldsOf(message).id, sessionID: id, data }
    const said = listOf(parts).map((part) => ({
      ...fieldsOf(fieldsOf(part).data),
      id: fieldsOf(part).id,
    }))
    const events =
      data.role === 'user'
        ? asked(common, own, said)
        : said.flatMap((part) => done(common, own, part))
    const hasEnded = data.role === 'assistant' && data.finish === 'stop'
    const idle = hasEnded ? bus('session.idle', `${textOf(own.id)}#idle`, { sessionID: id }) : []
    return [...begun, ...events, ...timedAt(idle, fieldsOf(data.time).completed)].filter(
      (event) => {
        const mark = `${event.eventId}\n${event.kind}`
        if (told.has(mark)) return false
        told.add(mark)
        return true
      },
    )
  }
}

interface Message {
  id: unknown
  sessionID: unknown
  data: Fields
}

function asked(common: Fields, { id, sessionID, data }: Message, parts: Fields[]): HostEvent[] {
  // Its words come with a part of their own, a moment later.
  if (!parts.some(({ type }) => type === 'text')) return []
  const input = { sessionID, agent: data.agent, messageID: id }
  const message = { ...data, id }
  return readOpencode({ ...common, hook: 'chat.message', input, output: { message, parts } })
}

/** What a part of the agent's message tells once it has ended: words, or the use of a tool. */
function done(common: Fields, { sessionID }: Message, part: Fields): HostEvent[] {
  const { end } = fieldsOf(part.time)
  if (part.type === 'text') {
    if (end === undefined) return []
    const input = { sessionID, partID: part.id }
    const call = {
      ...common,
      hook: 'experimental.text.complete',
      input,
      output: { text: part.text },
    }
    return timedAt(readOpencode(call), end)
  }
  if (part.type !== 'tool') return []
  const state = fieldsOf(part.state)
  const ended = fieldsOf(state.time).end
  if (state.status === 'error') {
    const properties = { sessionID, part: { ...part, sessionID } }
    const event = { id: part.id, type: 'message.part.updated', properties }
    return timedAt(readOpencode({ ...common, hook: 'event', input: { event } }), ended)
  }
  if (state.status !== 'completed') return []
  const input = { tool: part.tool, sessionID, callID: part.callID, args: state.input }
  return timedAt(
    readOpencode({ ...common, hook: 'tool.execute.after', input, output: state }),
    ended,
  )
}

/** The hooks of these events tell no time. */
function timedAt(events: readonly HostEvent[], at: unknown): HostEvent[] {
  return events.map((event) => (typeof at === 'number' ? { ...event, at } : event))
}
