import { signal } from '@preact/signals'
import type { StreamEvent } from '../../src/surfaces/client/client.ts'
import { api } from './api.ts'

/** Since when the page is not live, in milliseconds; null while it is. */
export const notLiveSince = signal<number | null>(null)

/** When it is tried again, in milliseconds; null if it is being tried. */
export const retryAt = signal<number | null>(null)

/** An event of `GET /v1/stream`. */
export type LiveEvent = StreamEvent

type Listener = (events: readonly LiveEvent[]) => void

const listeners = new Set<Listener>()

let open: AbortController | null = null
let waiting: LiveEvent[] = []

/** Hears the events of the account until the answer is called. Events come once a frame, together. */
export function listen(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Opens the stream. The client opens it again whenever it breaks, and goes on where it was. */
export function openStream(): void {
  if (open === null) void read()
}

/** Reads the stream until it is closed, or for good refused. */
async function read(): Promise<void> {
  const own = new AbortController()
  open = own
  // What happened while nobody listened is read again.
  let isBehind = notLiveSince.value !== null
  retryAt.value = null
  const lost = (retryInMs: number | null) => {
    if (open !== own) return
    // A stream that had no event yet goes on with what is new, and not where it was.
    isBehind = true
    notLiveSince.value ??= Date.now()
    retryAt.value = retryInMs === null ? null : Date.now() + retryInMs
  }
  try {
    const opened = () => {
      if (isBehind) enqueue({ event: 'gap', id: '', data: { reason: 'expired' } })
      isBehind = false
      notLiveSince.value = null
    }
    for await (const event of api.stream({}, { signal: own.signal, opened, lost })) enqueue(event)
  } catch {
    // Refused, or closed by this page.
    lost(null)
  }
}

/** Tries at once. */
export function reconnect(): void {
  open?.abort()
  void read()
}

/** Closes the stream, as when the person signs out. */
export function closeStream(): void {
  const closed = open
  open = null
  closed?.abort()
  notLiveSince.value = null
}

function enqueue(event: LiveEvent): void {
  waiting.push(event)
  if (waiting.length > 1) return
  const flush = () => {
    const events = waiting
    waiting = []
    for (const listener of listeners) listener(events)
  }
  // A hidden page has no frames.
  if (document.hidden) setTimeout(flush, 250)
  else requestAnimationFrame(flush)
}
