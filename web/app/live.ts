import { signal } from '@preact/signals'

/** Since when the page is not live, in milliseconds; null while it is. */
export const notLiveSince = signal<number | null>(null)

/** When it is tried again, in milliseconds; null if it is being tried. */
export const retryAt = signal<number | null>(null)

/** An event of `GET /v1/stream`. */
export interface LiveEvent {
  kind: 'step' | 'run' | 'incident' | 'escalation' | 'delivery' | 'gap'
  // biome-ignore lint/suspicious/noExplicitAny: each view reads the kind that it knows
  data: any
}

type Listener = (events: readonly LiveEvent[]) => void

const kinds = ['step', 'run', 'incident', 'escalation', 'delivery', 'gap'] as const
const listeners = new Set<Listener>()
const firstRetryMs = 2_000
const longestRetryMs = 30_000

let source: EventSource | null = null
let waiting: LiveEvent[] = []
let retryMs = firstRetryMs
let timer: ReturnType<typeof setTimeout> | undefined

/** Hears the events of the account until the answer is called. Events come once a frame, together. */
export function listen(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Opens the stream, and opens it again whenever it breaks. */
export function openStream(): void {
  if (source !== null) return
  const opened = new EventSource('/v1/stream', { withCredentials: true })
  source = opened
  retryAt.value = null
  opened.onopen = () => {
    // What happened while nobody listened is read again.
    if (notLiveSince.value !== null) enqueue({ kind: 'gap', data: null })
    notLiveSince.value = null
    retryMs = firstRetryMs
  }
  opened.onerror = () => {
    opened.close()
    if (source !== opened) return
    source = null
    notLiveSince.value ??= Date.now()
    retryAt.value = Date.now() + retryMs
    timer = setTimeout(openStream, retryMs)
    retryMs = Math.min(longestRetryMs, retryMs * 2)
  }
  for (const kind of kinds) {
    opened.addEventListener(kind, ({ data }) => {
      enqueue({ kind, data: readData(data) })
    })
  }
}

/** Tries at once. */
export function reconnect(): void {
  clearTimeout(timer)
  retryMs = firstRetryMs
  openStream()
}

/** Closes the stream, as when the person signs out. */
export function closeStream(): void {
  clearTimeout(timer)
  source?.close()
  source = null
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

function readData(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
