import { hourMs, minuteMs, secondMs } from '../core/time.ts'
import { isUnavailable } from '../storage/database/database.ts'
import {
  type PlacedEvent,
  type StreamPlace,
  stepsOf,
  streamKeptMs,
  streamPage,
} from '../storage/database/stream.ts'
import type { Store } from '../storage/store.ts'

/** An event as a listener gets it. */
export interface ShownEvent {
  place: StreamPlace
  /** The number of the step, for a place inside an event of several steps; null behind the whole event. */
  step: number | null
  name: string
  /** '' if it belongs to no run. */
  runId: string
  /** One line of JSON. */
  data: string
}

/** Shows events of an account, in their order, by the state of now. */
export type ShowEvents = (
  account: string,
  events: readonly PlacedEvent[],
) => Promise<readonly ShownEvent[]>

/** Why a stream has a gap: the listener was too slow, its id is too old, or what changed cannot be read. */
export const gapReasons = ['slow', 'expired', 'unreadable'] as const

type GapReason = (typeof gapReasons)[number]

/** What a listener wants. */
export interface Listening {
  account: string
  /** The id of the last event that it has had; null for a new listener. */
  after: string | null
  /** Only the events of this run; null for all. */
  runId: string | null
  gone: AbortSignal
  /** Whether its credential still holds. Asked at least every 15 seconds. */
  stands(): Promise<boolean>
}

/** Tells the listeners of this node what changes in their accounts, on whichever node. */
export interface Channels {
  /** Starts to listen, and returns the text of the stream; null if the account has too many listeners. */
  open(listening: Listening): Promise<AsyncGenerator<string> | null>
  /** Says that there may be new events. */
  wake(): void
  /** Ends every stream; later ones end at once. */
  close(): void
}

/** Most listeners of one account on one node. */
export const maxListeners = 1_000

/** How often each kind of wait ends, in milliseconds. Tests pass their own. */
export interface Pace {
  /** Events of other nodes are looked for this often. */
  lookEveryMs: number
  /** Events that come together are told together. */
  gatherMs: number
  /** A listener that gets no event gets a comment this often. */
  commentEveryMs: number
}

/** How often the streams of a node are looked after. */
export const usualPace: Pace = { lookEveryMs: 250, gatherMs: 25, commentEveryMs: 15 * secondMs }

/** What a channel keeps for its slowest listener. */
const mostKept = 2_000
const mostCharacters = 4_000_000

/** Milliseconds that events are gathered for each listener of this node: a tenth of a second for 1,000 of them. */
const gatherMsAListener = 0.1

/** The most steps that are read at once. */
const mostSteps = 1_000

/** A listener may be away for an hour, and is known again for half an hour without another word. */
const recordedForMs = 2 * hourMs
const renewEveryMs = 30 * minuteMs

/** The newest events of one account. */
interface Channel {
  account: string
  /** Everything up to here is in `kept`, or was. */
  place: StreamPlace
  kept: { shown: ShownEvent; text: string }[]
  /** The text of the kept events from one number to another, which listeners that are as far share. */
  joined: { from: number; to: number; text: string }
  /** How many events have left `kept`. */
  dropped: number
  characters: number
  listeners: number
  /** Resolves when it knows its place. */
  ready: Promise<void>
  isReady: boolean
  /** When its account was last said to have listeners, milliseconds since 1970. */
  renewed: number
  waiting: Set<() => void>
}

/** A place of a listener: behind this step of an event, or behind all of it. */
interface ListenerPlace extends StreamPlace {
  step: number | null
}

/**
 * One look serves all listeners: the events of each account are read and written once, whatever the number of
 * its listeners. A listener holds no connection and no transaction, and at most a number and what its socket
 * takes: one that falls behind what its channel keeps is cut off. `failed` gets the faults that no return of the
 * database mends. A fault of one account stops no stream of another.
 */
export function createChannels(
  store: Pick<Store, 'stream'>,
  now: () => number,
  show: ShowEvents,
  failed: (error: unknown) => void,
  pace: Pace = usualPace,
): Channels {
  const channels = new Map<string, Channel>()
  let timer: NodeJS.Timeout | null = null
  let dueAt = 0
  let looksAgain = false
  let isLooking = false
  let closed = false

  function plan(ms: number): void {
    if (closed || channels.size === 0) return
    const at = performance.now() + ms
    if (timer !== null && dueAt <= at) return
    if (timer !== null) clearTimeout(timer)
    dueAt = at
    timer = setTimeout(() => void look(), ms)
  }

  /** Many listeners are told more at a time, because each time costs as much for every one of them. */
  function gatherMs(): number {
    const listeners = [...channels.values()].reduce((sum, channel) => sum + channel.listeners, 0)
    return Math.max(pace.gatherMs, listeners * gatherMsAListener)
  }

  async function look(): Promise<void> {
    isLooking = true
    looksAgain = false
    try {
      await renew()
      const known = [...channels.values()].filter(({ isReady }) => isReady)
      const places = known.map(({ account, place }) => ({ account, ...place }))
      const { events, more } = await store.stream.next(places, now())
      if (more) looksAgain = true
      const found = Map.groupBy(events, ({ account }) => account)
      for (const channel of known) {
        const all = found.get(channel.account) ?? []
        const some = firstOf(all)
        if (some.length < all.length) looksAgain = true
        if (some.length > 0) await tell(channel, some).catch(waitOn)
      }
    } catch (error) {
      waitOn(error)
    }
    isLooking = false
    timer = null
    plan(looksAgain ? gatherMs() : pace.lookEveryMs)
  }

  /** Listeners wait on, and get everything when the database is back. */
  function waitOn(error: unknown): void {
    if (!isUnavailable(error)) failed(error)
  }

  async function tell(channel: Channel, events: readonly PlacedEvent[]): Promise<void> {
    const shown = await showOrGap(channel.account, events)
    const { tx, seq } = events.at(-1) ?? channel.place
    channel.place = { tx, seq }
    for (const each of shown) {
      const text = textOf(each, now())
      channel.kept.push({ shown: each, text })
      channel.characters += text.length
    }
    while (channel.kept.length > mostKept || channel.characters > mostCharacters) {
      const dropped = channel.kept.splice(0, Math.ceil(channel.kept.length / 4))
      channel.dropped += dropped.length
      for (const { text } of dropped) channel.characters -= text.length
    }
    for (const wakeUp of channel.waiting) wakeUp()
  }

  /** Shows events. Those that cannot be shown are a gap, because they could not be shown later either. */
  async function showOrGap(
    account: string,
    events: readonly PlacedEvent[],
  ): Promise<readonly ShownEvent[]> {
    const last = events.at(-1)
    if (last === undefined) return []
    try {
      return await show(account, events)
    } catch (error) {
      if (isUnavailable(error)) throw error
      failed(error)
      const place = { tx: last.tx, seq: last.seq }
      return [{ place, step: null, name: 'gap', runId: '', data: gapData('unreadable') }]
    }
  }

  async function renew(): Promise<void> {
    const at = now()
    for (const channel of channels.values()) {
      if (!channel.isReady || at - channel.renewed < renewEveryMs) continue
      await store.stream.listen(channel.account, at + recordedForMs, at)
      channel.renewed = at
    }
  }

  function join(account: string): Channel {
    let channel = channels.get(account)
    if (channel === undefined) {
      channel = {
        account,
        place: { tx: 0, seq: 0 },
        kept: [],
        joined: { from: 0, to: 0, text: '' },
        dropped: 0,
        characters: 0,
        listeners: 0,
        ready: Promise.resolve(),
        isReady: false,
        renewed: now(),
        waiting: new Set(),
      }
      channels.set(account, channel)
      channel.ready = begin(channel)
      channel.ready.catch(() => {})
    }
    channel.listeners++
    return channel
  }

  async function begin(channel: Channel): Promise<void> {
    await store.stream.listen(channel.account, channel.renewed + recordedForMs, channel.renewed)
    channel.place = await store.stream.end()
    channel.isReady = true
    if (!isLooking && timer === null) plan(pace.lookEveryMs)
  }

  function leave(channel: Channel): void {
    channel.listeners--
    if (channel.listeners > 0 || channels.get(channel.account) !== channel) return
    channels.delete(channel.account)
    if (channels.size > 0 || timer === null || isLooking) return
    clearTimeout(timer)
    timer = null
  }

  async function* streamOf(channel: Channel, listening: Listening): AsyncGenerator<string> {
    const { after, runId, gone, stands } = listening
    const isWanted = ({ runId: own, name }: ShownEvent) =>
      runId === null || own === runId || name === 'gap'
    // Both are taken before the first wait, so that they agree.
    let next = channel.dropped + channel.kept.length
    const head: ListenerPlace = { ...channel.place, step: null }
    const from = after === null ? head : readId(after, now())
    try {
      yield `retry: 1000\n${from === head ? idLine(head, now()) : ''}: \n\n`
      if (from === null) yield `${idLine(head, now())}${gapOf('expired')}`
      else yield* missed(channel.account, from, head, isWanted)
      const behind = from ?? head
      const isNew = (shown: ShownEvent) => isBehind({ ...shown.place, ...shown }, behind)
      let toldAt = performance.now()
      let askedAt = toldAt
      while (!closed && !gone.aborted) {
        if (next < channel.dropped) {
          yield gapOf('slow')
          return
        }
        const fresh = channel.kept.slice(next - channel.dropped)
        const isAsAll = runId === null && fresh.every(({ shown }) => isNew(shown))
        const text = isAsAll
          ? joinedFrom(channel, next)
          : textsOf(fresh.filter(({ shown }) => isWanted(shown) && isNew(shown)))
        next += fresh.length
        const isQuiet = performance.now() - toldAt >= pace.commentEveryMs
        if (text !== '' || isQuiet) {
          yield text === '' ? `${idLine({ ...channel.place, step: null }, now())}: \n\n` : text
          toldAt = performance.now()
        }
        if (performance.now() - askedAt >= pace.commentEveryMs) {
          askedAt = performance.now()
          if (!(await stands())) return
        }
        if (next === channel.dropped + channel.kept.length) {
          await nextEvents(channel, toldAt + pace.commentEveryMs - performance.now(), gone)
        }
      }
    } finally {
      leave(channel)
    }
  }

  /** What a listener missed between two places. */
  async function* missed(
    account: string,
    from: ListenerPlace,
    to: StreamPlace,
    isWanted: (shown: ShownEvent) => boolean,
  ): AsyncGenerator<string> {
    // An event of which it has had some steps is read again.
    let place: StreamPlace = from.step === null ? from : { tx: from.tx, seq: from.seq - 1 }
    for (;;) {
      const all = await store.stream.between(account, place, to)
      const events = firstOf(all)
      const shown = await showOrGap(account, events)
      const texts = shown
        .filter((each) => isWanted(each) && isBehind({ ...each.place, ...each }, from))
        .map((each) => textOf(each, now()))
      if (texts.length > 0) yield texts.join('')
      if (events.length === all.length && all.length < streamPage) return
      place = events.at(-1) ?? place
    }
  }

  function nextEvents(channel: Channel, ms: number, gone: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(limit)
        channel.waiting.delete(end)
        gone.removeEventListener('abort', end)
        resolve()
      }
      const limit = setTimeout(end, Math.max(0, ms))
      channel.waiting.add(end)
      gone.addEventListener('abort', end)
    })
  }

  return {
    async open(listening) {
      const others = channels.get(listening.account)?.listeners ?? 0
      if (others >= maxListeners) return null
      const channel = join(listening.account)
      try {
        await channel.ready
      } catch (error) {
        if (channels.get(listening.account) === channel) channels.delete(listening.account)
        throw error
      }
      return streamOf(channel, listening)
    },
    wake() {
      if (channels.size === 0) return
      looksAgain = true
      if (!isLooking) plan(gatherMs())
    },
    close() {
      closed = true
      if (timer !== null) clearTimeout(timer)
      for (const channel of channels.values()) for (const wakeUp of channel.waiting) wakeUp()
    },
  }
}

/** The first events that have few enough steps to be shown at once. */
function firstOf(events: readonly PlacedEvent[]): readonly PlacedEvent[] {
  let steps = 0
  const end = events.findIndex(({ kind, subject }, place) => {
    if (kind === 'steps') {
      const { first, last } = stepsOf(subject)
      steps += last - first + 1
    }
    return place > 0 && steps > mostSteps
  })
  return end < 0 ? events : events.slice(0, end)
}

/** The text of all events from this number on. */
function joinedFrom(channel: Channel, from: number): string {
  const to = channel.dropped + channel.kept.length
  const { joined } = channel
  if (joined.from !== from || joined.to !== to) {
    const text = textsOf(channel.kept.slice(from - channel.dropped))
    channel.joined = { from, to, text }
  }
  return channel.joined.text
}

function textsOf(events: Channel['kept']): string {
  return events.map(({ text }) => text).join('')
}

function textOf({ place, step, name, data }: ShownEvent, at: number): string {
  return `${idLine({ ...place, step }, at)}event: ${name}\ndata: ${data}\n\n`
}

function gapOf(reason: GapReason): string {
  return `event: gap\ndata: ${gapData(reason)}\n\n`
}

function gapData(reason: GapReason): string {
  return JSON.stringify({ reason })
}

/** The id names the place, and when it was told: a later place may be deleted an hour after that. */
function idLine({ tx, seq, step }: ListenerPlace, at: number): string {
  const parts = [at, tx, seq, ...(step === null ? [] : [step])]
  return `id: ${parts.map((part) => part.toString(36)).join('-')}\n`
}

/** Reads an id; null if it was told more than an hour before `now`, or is none. */
function readId(id: string, now: number): ListenerPlace | null {
  if (!/^[0-9a-z]{1,11}(-[0-9a-z]{1,11}){2,3}$/.test(id)) return null
  const [at = 0, tx = 0, seq = 0, step = null] = id
    .split('-')
    .map((part) => Number.parseInt(part, 36))
  const isKnown = [at, tx, seq, step ?? 0].every(Number.isSafeInteger)
  return isKnown && at > now - streamKeptMs ? { tx, seq, step } : null
}

/** Whether one place comes after another. */
function isBehind(one: ListenerPlace, other: ListenerPlace): boolean {
  if (one.tx !== other.tx) return one.tx > other.tx
  if (one.seq !== other.seq) return one.seq > other.seq
  return (one.step ?? Number.POSITIVE_INFINITY) > (other.step ?? Number.POSITIVE_INFINITY)
}
