import type { ServiceError } from './calls.ts'
import { after, type Calls, isOwnError, type Request, serviceError } from './calls.ts'

/** A step or an outcome of a run that waits for its delivery. */
export interface Item {
  kind: 'step' | 'outcome'
  /** Whether a full queue keeps the item. It keeps user turns and outcomes. */
  keeps: boolean
  /** Called once, when the turn of the item has come. Returns plain JSON. */
  body(): Record<string, unknown>
  /** Takes the answer; throws if the answer is not from the service. */
  settle(answer: unknown): void
  fail(error: unknown): void
}

/** The items of one run that wait for their delivery: in strict order, one request at a time. */
export interface Queue {
  readonly stats: RunStats
  /** Whether a step has waited its whole budget since the last answer. */
  isAway: boolean
  add(item: Item): void
  /** Counts and reports an item that failed. */
  countFailure(error: unknown): void
  /** Returns whether every item was delivered or refused within `timeoutMs`, 10,000 by default. */
  flush(timeoutMs?: number): Promise<boolean>
  /** Aborts the request in flight and drops the waiting items. */
  stop(): Promise<void>
}

/** The parts that the queues of one client share. */
export interface QueueParts {
  calls: Calls
  isClosed(): boolean
  /** The queues that still have items. */
  active: Set<Queue>
  /** Takes an error that nobody listens for. */
  unheard(error: ServiceError): void
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
 * Creates a queue that delivers in the background. The waiting steps go as one batch. A request whose
 * answer is lost is repeated byte for byte, with the same idempotency key, until there is an answer. So no
 * step is logged twice, and no step overtakes another.
 */
export function createQueue(
  { calls, isClosed, active, unheard }: QueueParts,
  { onError = unheard, maxWaiting = 1_000 }: DeliveryOptions,
): Queue {
  const stats: RunStats = { sent: 0, late: 0, failed: 0, dropped: 0, waiting: 0 }
  const waiting: Item[] = []
  const cutOff = new AbortController()
  let delivery: Promise<void> | null = null
  let wake = () => {}
  const queue: Queue = { stats, isAway: false, add, countFailure, flush, stop }
  const background = {
    failed: (error: ServiceError) => void report(error, 0),
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
    if (waiting.length >= maxWaiting) dropOldest()
    waiting.push(item)
    delivery ??= deliver()
  }

  /**
   * Drops the oldest step, because the work of an agent now says more about drift than its work an hour
   * ago.
   */
  function dropOldest(): void {
    const at = waiting.findIndex(({ keeps }) => !keeps)
    const [item] = waiting.splice(Math.max(0, at), 1)
    if (item === undefined) return
    stats.waiting--
    drop(item, 'dropped', `More than ${maxWaiting} steps were waiting for the service.`)
  }

  function drop(item: Item, word: string, detail: string): void {
    const error = serviceError(word, detail)
    stats.dropped++
    report(error, 1)
    item.fail(error)
  }

  function countFailure(error: unknown): void {
    stats.failed++
    report(isOwnError(error) ? error : serviceError('unsent', String(error), { cause: error }), 1)
  }

  async function report(error: ServiceError, lost: number): Promise<void> {
    try {
      await onError(error, lost)
    } catch {
      // An error of `onError` must not break the agent.
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

  /** Takes the next item, and the steps behind it that fit into the same batch. */
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
        // The service refuses a whole batch for one invalid step. Sent alone, only that step fails.
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
    countFailure(error)
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
 * Options for the delivery of the steps of a run.
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
  /**
   * How many steps to hold at most while the service is away, 1,000 by default. A full queue drops its
   * oldest steps.
   */
  maxWaiting?: number | undefined
  /**
   * Called after every failed attempt. `lost` is the number of lost steps, or 0 while the client still
   * tries. The client ignores errors of this function.
   */
  onError?: ((error: ServiceError, lost: number) => unknown) | undefined
}

/**
 * How many steps and outcomes of a run were sent, lost or are waiting.
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
  /** The service stored them. */
  sent: number
  /**
   * The call returned null because its time was up. Each counts in another field too, once its fate is
   * known.
   */
  late: number
  /** The service refused them. */
  failed: number
  /** The client dropped them, because the queue was full or the client was closed. */
  dropped: number
  /** They still wait for an answer. */
  waiting: number
}
