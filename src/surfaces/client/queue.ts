import type { ServiceError } from './calls.ts'
import { after, type Calls, isOwnError, type Request, serviceError } from './calls.ts'

/** Something of a run that is to be delivered, in its turn. */
export interface Item {
  kind: 'step' | 'outcome'
  /** Whether it stays when a full queue lets go: turns of the user and outcomes do. */
  keeps: boolean
  /** Asked once, when its turn has come; plain JSON. */
  body(): Record<string, unknown>
  /** Takes the answer; throws if it is not an answer of the service. */
  settle(answer: unknown): void
  fail(error: unknown): void
}

/** What waits to be delivered of one run: strictly in order, one request at a time. */
export interface Queue {
  readonly stats: RunStats
  /** Whether a step has waited its whole budget since the last answer. */
  isAway: boolean
  add(item: Item): void
  /** Counts something that could not even be queued. */
  lose(error: unknown): void
  /** Answers whether everything was delivered or refused within `timeoutMs`, 10,000 unless given. */
  flush(timeoutMs?: number): Promise<boolean>
  /** Cuts off what is under way and drops what waits. */
  stop(): Promise<void>
}

/** What the queues of one client share. */
export interface QueueParts {
  calls: Calls
  isClosed(): boolean
  /** Queues with something to deliver. */
  active: Set<Queue>
}

interface Ready {
  item: Item
  text: string
}

const defaultFlushMs = 10_000
const maxBatchSteps = 100
/** A character is at most three bytes, and a body at most 256 KiB. */
const maxBatchCharacters = 64 * 1024

/**
 * A queue that delivers by itself. What waits goes as one batch; a request whose answer is lost is
 * repeated, byte for byte and with the same idempotency key, until there is an answer, so that nothing
 * is logged twice and nothing overtakes.
 */
export function createQueue(
  { calls, isClosed, active }: QueueParts,
  { onError = () => {}, maxWaiting = 1_000 }: DeliveryOptions,
): Queue {
  const stats: RunStats = { sent: 0, late: 0, failed: 0, dropped: 0, waiting: 0 }
  const waiting: Item[] = []
  const cutOff = new AbortController()
  let delivery: Promise<void> | null = null
  let wake = () => {}
  const queue: Queue = { stats, isAway: false, add, lose, flush, stop }
  const background = {
    failed: (error: ServiceError) => void tell(error, 0),
    waits: (given: () => void) => {
      wake = given
    },
  }

  function add(item: Item): void {
    if (isClosed()) {
      drop(item, 'closed', 'The client was closed.')
      return
    }
    stats.waiting++
    if (waiting.length >= maxWaiting) letGo()
    waiting.push(item)
    delivery ??= deliver()
  }

  /** The oldest goes: what an agent does now says more about drift than what it did an hour ago. */
  function letGo(): void {
    const at = waiting.findIndex(({ keeps }) => !keeps)
    const [item] = waiting.splice(Math.max(0, at), 1)
    if (item === undefined) return
    stats.waiting--
    drop(item, 'dropped', `More than ${maxWaiting} steps were waiting for the service.`)
  }

  function drop(item: Item, word: string, detail: string): void {
    const error = serviceError(word, detail)
    stats.dropped++
    tell(error, 1)
    item.fail(error)
  }

  function lose(error: unknown): void {
    stats.failed++
    tell(isOwnError(error) ? error : serviceError('unsent', String(error), { cause: error }), 1)
  }

  async function tell(error: ServiceError, lost: number): Promise<void> {
    try {
      await onError(error, lost)
    } catch {
      // It must not break the agent that it reports to.
    }
  }

  async function deliver(): Promise<void> {
    active.add(queue)
    while (waiting.length > 0) {
      await deliverParcel(nextParcel())
      queue.isAway = false
    }
    active.delete(queue)
    delivery = null
  }

  /** The next item, and the steps behind it that fit into one batch with it. */
  function nextParcel(): Ready[] {
    const parcel: Ready[] = []
    let characters = 0
    for (const item of waiting) {
      if (parcel.length === maxBatchSteps) break
      if (parcel.length > 0 && (item.kind !== 'step' || parcel[0]?.item.kind !== 'step')) break
      const text = JSON.stringify(item.body())
      characters += text.length
      if (parcel.length > 0 && characters > maxBatchCharacters) break
      parcel.push({ item, text })
    }
    waiting.splice(0, parcel.length)
    return parcel
  }

  async function deliverParcel(parcel: readonly Ready[]): Promise<void> {
    try {
      const answers = await send(parcel)
      for (const [at, { item }] of parcel.entries()) settle(item, answers[at])
    } catch (error) {
      if (isClosed()) {
        stats.waiting -= parcel.length
        for (const { item } of parcel)
          drop(item, 'closed', 'The client was closed before an answer.')
      } else if (parcel.length > 1 && isOwnError(error) && error.status === 400) {
        // One step at fault refuses its whole batch; alone it fails alone.
        for (const each of parcel) await deliverParcel([each])
      } else {
        for (const { item } of parcel) fail(item, error)
      }
    }
  }

  async function send(parcel: readonly Ready[]): Promise<unknown[]> {
    const options = { signal: cutOff.signal }
    const [first] = parcel
    if (first !== undefined && parcel.length === 1) {
      const path = first.item.kind === 'step' ? '/v1/drift' : '/v1/drift/outcome'
      return [await calls.send(post(path, first.text), options, background)]
    }
    const body = `{"steps":[${parcel.map(({ text }) => text).join(',')}]}`
    const answer = await calls.send(post('/v1/drift/batch', body), options, background)
    const { results } = answer as { results?: unknown }
    return Array.isArray(results) ? results : []
  }

  function settle(item: Item, answer: unknown): void {
    try {
      item.settle(answer)
      stats.waiting--
      stats.sent++
    } catch (error) {
      fail(item, error)
    }
  }

  function fail(item: Item, error: unknown): void {
    stats.waiting--
    lose(error)
    item.fail(error)
  }

  async function flush(timeoutMs = defaultFlushMs): Promise<boolean> {
    if (delivery === null) return true
    wake()
    let cancelTimer = () => {}
    const isLate = new Promise<boolean>((resolve) => {
      cancelTimer = after(timeoutMs, true, () => resolve(false))
    })
    const isDone = await Promise.race([delivery.then(() => true), isLate])
    cancelTimer()
    return isDone
  }

  async function stop(): Promise<void> {
    cutOff.abort()
    await delivery
  }

  return queue
}

function post(path: string, body: string): Request {
  return { method: 'POST', path, keyed: true, body }
}

/**
 * How the steps of a run are delivered.
 *
 * @example
 * ```ts
 * import { createClient } from 'plumbline/client'
 *
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
 * const run = client.run({
 *   ground: 'fix the login page',
 *   maxWaiting: 200,
 *   onError: ({ word, detail }, lost) => console.log(word, detail, lost),
 * })
 * await run.step({ goal: 'read the login page' })
 * console.log(run.stats.failed) // → 0
 * ```
 */
export interface DeliveryOptions {
  /** Most steps to hold while the service is away, 1,000 unless given; the oldest go first. */
  maxWaiting?: number | undefined
  /**
   * Told of every attempt that failed; `lost` says how many steps that cost, 0 while they are still
   * being tried. What it throws is ignored.
   */
  onError?: ((error: ServiceError, lost: number) => unknown) | undefined
}

/**
 * What became of the steps and outcomes of a run.
 *
 * @example
 * ```ts
 * import { createClient } from 'plumbline/client'
 *
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
 * const run = client.run({ ground: 'fix the login page' })
 * await run.step({ goal: 'read the login page' })
 * await run.flush()
 *
 * const { sent, failed, dropped, waiting } = run.stats
 * console.log(sent, failed, dropped, waiting) // → 1 0 0 0
 * ```
 */
export interface RunStats {
  /** Stored by the service. */
  sent: number
  /** Answered null for want of time; each counts elsewhere too, once its fate is known. */
  late: number
  /** Refused. */
  failed: number
  /** Let go: the queue was full, or the client closed. */
  dropped: number
  /** Not known yet. */
  waiting: number
}
