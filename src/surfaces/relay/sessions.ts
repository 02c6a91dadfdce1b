import { asUnattended } from '../../core/hosts/attended.ts'
import { explains } from '../../core/hosts/coverage.ts'
import { digestOf, fieldsOf, given, textOf } from '../../core/hosts/fields.ts'
import {
  answerTo,
  emptyAnswer,
  heldAnswer,
  irreversibleBefore,
} from '../../core/hosts/host-answer.ts'
import type { HostEvent, HostName } from '../../core/hosts/host-event.ts'
import { observe } from '../../core/hosts/observe.ts'
import { nothingObserved, type Observed } from '../../core/hosts/observed.ts'
import { underFirstId } from '../../core/hosts/observed-prompts.ts'
import { type Hide, type PrivacyLevel, redacted } from '../../core/hosts/privacy.ts'
import { readers } from '../../core/hosts/readers.ts'
import { parseJson } from '../../core/text.ts'
import { type TranscriptHost, transcriptHosts } from '../../core/transcripts/transcript.ts'
import type { RemoteAnswer } from './remote.ts'

/** Most sessions that are known at once. */
const mostSessions = 200
/** How often a file is read in vain after a prompt or an act. */
const mostLooks = 3
/** The files and the newest prompts of a session that are known. */
const mostFiles = 32
const mostHeard = 64

interface Session {
  observed: Observed
  /** What the server wants agents to be told, by agent, until the next event at which that is possible. */
  told: Map<string, string>
  remind: boolean
  holds: boolean
  /** When its newest errand was told, milliseconds since 1970. What was answered to events before is of no use. */
  errandAt: number
  /** Its files, that of each agent, with how often each was read in vain. */
  places: Map<string, SessionPlace & { looks: number }>
  /** When the first hook told of it, and the newest prompts that were told, by their ids and digests of their words. */
  since: number | null
  heard: string[]
}

/** What a relay knows of the sessions of this machine, in their own words. */
export interface Sessions {
  /** Takes what a host sends. Returns the lines for the server, and the host's answer, without asking anybody. */
  take(host: HostName, event: string, body: unknown, isUnattended?: boolean): Taken
  /** Takes an event that was read out of a session file. Returns the lines for the server. */
  takeRead(event: HostEvent): string[]
  /** The files that may say who spoke a prompt, that nobody can speak, or how an act ended. */
  unsettled(): SessionPlace[]
  /**
   * Takes events of a file of a session. News are who spoke a prompt, how an act ended, and that a person's prompt was told
   * by no hook. Returns the lines for the server.
   */
  settle(place: SessionPlace, events: readonly HostEvent[]): string[]
  /** Remembers what the server has answered to lines. */
  remember(lines: readonly string[], answers: readonly RemoteAnswer[]): void
  /** What an agent of the event's session is still to be told; null if nothing. A hook tells it all the same. */
  waitingFact(event: HostEvent): string | null
  /** Forgets what the server has answered, because there is another one now. */
  forgetAnswers(): void
}

/** What may be told of a session. */
export interface Telling {
  level: PrivacyLevel
  hide: Hide
}

/** A session, and a file that its host keeps of it or of one of its agents. */
export interface SessionPlace {
  host: TranscriptHost
  runId: string
  /** '' is the main agent. */
  agentId: string
  path: string
}

/** The lines to send, and the answer for the host. */
export interface Taken {
  lines: string[]
  answer: Record<string, unknown>
}

/**
 * Creates the memory of a relay. It folds sessions as a server does, because only here the words are known: whether the
 * errand explains an act, who spoke, and the errand that is told again after a compaction.
 */
export function createSessions(telling: () => Telling, now: () => number): Sessions {
  const sessions = new Map<string, Session>()
  /** Sessions by the id that the server knows. */
  const names = new Map<string, string>()
  /** The agents of sessions by the ids that the server knows. */
  const agents = new Map<string, string>()

  function sessionOf(runId: string): Session {
    const found = sessions.get(runId)
    const session = found ?? {
      observed: nothingObserved,
      told: new Map(),
      remind: true,
      holds: false,
      errandAt: 0,
      places: new Map(),
      since: null,
      heard: [],
    }
    sessions.delete(runId)
    sessions.set(runId, session)
    const [oldest] = sessions.keys()
    if (sessions.size > mostSessions && oldest !== undefined) sessions.delete(oldest)
    return session
  }

  function lineOf(event: HostEvent): string[] {
    const session = sessionOf(event.runId)
    const at = event.at ?? now()
    const told = placed(session.observed, { ...event, at })
    const before = session.observed
    const { observed, steps } = observe(before, told)
    session.observed = observed
    if (told.kind === 'prompt') {
      session.heard = [...session.heard, ...namesOf(told)].slice(-2 * mostHeard)
    }
    if (told.agentId === '' && steps.some(({ userMessage }) => userMessage !== null)) {
      session.told.delete('')
      session.holds = false
      session.errandAt = at
    }
    // It was told before, by this or another hook.
    if (session.observed === before) return []
    const { level, hide } = telling()
    const line = redacted(told, level, hide)
    if (line === null) return []
    remembered(names, line.runId, event.runId)
    remembered(agents, `${line.runId} ${line.agentId}`, event.agentId)
    return [JSON.stringify(line)]
  }

  /** Remembers the file in which more of an event may come to stand. */
  function remembersFile(host: HostName, body: unknown, events: readonly HostEvent[]): void {
    const open = events.findLast(
      (event) => event.kind === 'prompt' || (event.kind === 'act' && event.outcome === 'unknown'),
    )
    const own = transcriptHosts.find((each) => each === host)
    const path = fieldsOf(body).transcript_path
    if (open === undefined || own === undefined || typeof path !== 'string') return
    const { runId, agentId } = open
    const { places } = sessionOf(runId)
    places.delete(path)
    places.set(path, { host: own, runId, agentId, path, looks: 0 })
    const [oldest] = places.keys()
    if (places.size > mostFiles && oldest !== undefined) places.delete(oldest)
  }

  /** The lines that an event of a session file is worth: none if a hook has told all of it. */
  function settled(session: Session, event: HostEvent): string[] {
    const { observed, heard, since } = session
    if (event.kind === 'act') {
      const isUnended = observed.unended.some(
        ({ id, agentId }) => id === event.eventId && agentId === event.agentId,
      )
      return isUnended && event.outcome !== 'unknown' ? lineOf(event) : []
    }
    if (event.kind !== 'prompt') return []
    const isUnheard =
      event.by === 'person' &&
      since !== null &&
      (event.at ?? 0) >= since &&
      !namesOf(event).some((name) => heard.includes(name))
    if (isUnheard) {
      const { runId, agentId, eventId, at } = event
      session.heard = [...heard, ...namesOf(event)].slice(-2 * mostHeard)
      return lineOf({ kind: 'unheard', runId, agentId, eventId, ...given('at', at) })
    }
    const after = observe(observed, event)
    const isHeadless = after.observed.isHeadless !== observed.isHeadless
    const isNews = after.settles !== undefined || (isHeadless && after.steps.length === 0)
    return isNews ? lineOf(event) : []
  }

  function answered(
    host: HostName,
    event: string,
    body: unknown,
    events: readonly HostEvent[],
  ): Record<string, unknown> {
    const named = event || textOf(fieldsOf(body).hook_event_name)
    const command = irreversibleBefore(host, named, body)
    const commanding = command === null ? undefined : sessions.get(command.runId)
    if (command !== null && commanding?.holds === true) {
      return heldAnswer(host, named, commanding.observed.errand ?? '', command)
    }
    const last = events.at(-1)
    const session = sessions.get(last?.runId ?? '')
    if (last === undefined || session === undefined) return emptyAnswer(host, event)
    const { observed, told, remind } = session
    return answerTo(host, { event, named }, events, {
      observed,
      errand: remind ? observed.errand : null,
      takeFact() {
        const fact = told.get(last.agentId) ?? null
        told.delete(last.agentId)
        return fact
      },
    })
  }

  return {
    take(host, event, body, isUnattended = false) {
      const read = readers[host](body, event === '' ? undefined : event)
      const events = isUnattended ? asUnattended(read) : read
      const [first] = events
      if (first !== undefined) sessionOf(first.runId).since ??= first.at ?? now()
      const lines = events.flatMap(lineOf)
      remembersFile(host, body, events)
      return { lines, answer: answered(host, event, body, events) }
    },
    takeRead: lineOf,
    unsettled: () =>
      [...sessions.values()].flatMap(({ observed, places }) =>
        [...places.values()].filter(({ host, agentId, looks }) => {
          if (looks >= mostLooks) return false
          if (observed.unended.some((each) => each.agentId === agentId)) return true
          // Codex tells nothing but its file that nobody can speak.
          const isOpen = host === 'codex' && observed.isHeadless !== true
          return agentId === '' && (isOpen || (observed.unsettled ?? []).length > 0)
        }),
      ),
    settle({ runId, path }, events) {
      const session = sessions.get(runId)
      const place = session?.places.get(path)
      if (session === undefined || place === undefined) return []
      const own = events.filter((event) => event.runId === runId)
      const lines = own.flatMap((event) => settled(session, event))
      place.looks = lines.length > 0 ? 0 : place.looks + 1
      return lines
    },
    remember(lines, answers) {
      for (const [nth, answer] of answers.entries()) {
        const { runId, agentId, at } = fieldsOf(parseJson(lines[nth] ?? ''))
        const session = sessions.get(names.get(textOf(runId)) ?? '')
        const agent = agents.get(`${textOf(runId)} ${textOf(agentId)}`)
        if (session === undefined || agent === undefined) continue
        session.remind = answer.remind
        const isStale = typeof at === 'number' && at < session.errandAt
        // The task of a sub-agent outlives the user's next words.
        if (isStale && agent === '') continue
        if (!isStale) session.holds = answer.holds
        if (answer.told !== null) session.told.set(agent, answer.told)
      }
    },
    waitingFact({ runId, agentId }) {
      return sessions.get(runId)?.told.get(agentId) ?? null
    },
    forgetAnswers() {
      for (const session of sessions.values()) {
        session.told.clear()
        session.remind = true
        session.holds = false
      }
    },
  }
}

/** What a prompt is known by when it is told again: its id, and its words. */
function namesOf({ eventId, text }: HostEvent & { kind: 'prompt' }): [string, string] {
  return [eventId, digestOf(text)]
}

/** The event with what only this machine can tell of it. */
function placed(observed: Observed, event: HostEvent): HostEvent {
  if (event.kind === 'prompt') {
    const known = underFirstId(observed, event)
    return observed.expects.includes(event.text) ? { ...known, by: 'machine' } : known
  }
  if (event.kind !== 'act') return event
  const { agentId } = event
  const agent = Object.hasOwn(observed.agents, agentId) ? observed.agents[agentId] : undefined
  const isKnown = agent !== undefined && agent.terms.length > 0
  return { ...event, isExplained: isKnown ? explains(agent, event) : null }
}

function remembered(map: Map<string, string>, key: string, value: string): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > 20 * mostSessions && oldest !== undefined) map.delete(oldest)
}
