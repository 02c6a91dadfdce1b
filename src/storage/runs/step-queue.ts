import type { ReadEntry } from '../../core/runs/entry.ts'
import { DEFAULT_LIMIT_MS, unavailable } from '../database/database.ts'

/**
 * Most steps that one batch holds, and most characters of their texts; a single request may exceed both.
 * Judging a batch blocks the event loop.
 */
const maxBatch = 512
const maxText = 64_000

/** Most steps in the queue; further ones would time out. */
const maxWaiting = 20_000

/** A request in the queue. */
export interface QueuedRequest {
  readonly entries: readonly ReadEntry[]
  /** Its idempotency key, or null. */
  readonly key: string | null
  /** Its time limit, by `performance.now`. */
  readonly until: number
  reject(error: unknown): void
}

/** Requests that wait for a transaction. */
export interface StepQueue<Request extends QueuedRequest> {
  /** Whether so many more steps could still be stored in time. */
  hasRoom(steps: number): boolean
  add(request: Request): void
  /** Whether a batch could be taken now. */
  hasNext(): boolean
  /**
   * Takes the next batch: the oldest requests whose runs and keys are not in flight. They are in flight
   * until `end`, and further requests for one of them wait.
   */
  take(): Request[]
  /** Ends the flight of a batch. */
  end(batch: readonly Request[]): void
  /** Rejects the requests whose time limit has passed. */
  refuseLate(): void
  /** Milliseconds that the oldest request which could be taken now has left. */
  timeLeft(): number
  /** Steps in the queue. */
  waitingSteps(): number
}

/** A request, its size, and what it needs alone. */
interface Queued<Request> {
  readonly request: Request
  /** Steps, and characters of their texts. */
  readonly steps: number
  readonly text: number
  /** The distinct runs. */
  readonly runs: readonly string[]
  /** The runs and the key. */
  readonly needs: readonly string[]
}

/** Creates an empty queue. */
export function createStepQueue<Request extends QueuedRequest>(): StepQueue<Request> {
  let queue: Queued<Request>[] = []
  let waitingSteps = 0
  const inFlight = new Set<string>()

  /** The queue in order, and whether each request could be taken now. */
  function* places(): Generator<{ queued: Queued<Request>; isReady: boolean }> {
    const blocked = new Set(inFlight)
    for (const queued of queue) {
      const isReady = !queued.needs.some((each) => blocked.has(each))
      yield { queued, isReady }
      // A later request for the same run must not overtake it.
      if (!isReady) for (const run of queued.runs) blocked.add(run)
      // A second request with the same key waits for the first.
      if (queued.request.key !== null) blocked.add(queued.request.key)
    }
  }

  function firstReady(): Queued<Request> | null {
    for (const { queued, isReady } of places()) if (isReady) return queued
    return null
  }

  /** Splits the queue into the next batch and the rest. */
  function split(): { next: Queued<Request>[]; rest: Queued<Request>[] } {
    const next: Queued<Request>[] = []
    const rest: Queued<Request>[] = []
    let steps = 0
    let text = 0
    let isFull = false
    for (const { queued, isReady } of places()) {
      const exceeds = steps + queued.steps > maxBatch || text + queued.text > maxText
      // Once one request does not fit, none that follows may overtake it.
      isFull ||= isReady && next.length > 0 && exceeds
      if (isReady && !isFull) {
        next.push(queued)
        steps += queued.steps
        text += queued.text
      } else {
        rest.push(queued)
      }
    }
    return { next, rest }
  }

  return {
    hasRoom: (steps) => waitingSteps + steps <= maxWaiting,
    add(request) {
      const { entries, key } = request
      const runs = [...new Set(entries.map(({ keys }) => keys.run))]
      queue.push({
        request,
        steps: entries.length,
        text: entries.reduce((sum, entry) => sum + textOf(entry), 0),
        runs,
        needs: key === null ? runs : [...runs, key],
      })
      waitingSteps += entries.length
    },
    hasNext: () => firstReady() !== null,
    take() {
      const { next, rest } = split()
      queue = rest
      for (const { steps, needs } of next) {
        waitingSteps -= steps
        for (const each of needs) inFlight.add(each)
      }
      return next.map(({ request }) => request)
    },
    end(batch) {
      for (const { entries, key } of batch) {
        for (const { keys } of entries) inFlight.delete(keys.run)
        if (key !== null) inFlight.delete(key)
      }
    },
    refuseLate() {
      const now = performance.now()
      const late = queue.filter(({ request }) => request.until <= now)
      if (late.length === 0) return
      queue = queue.filter(({ request }) => request.until > now)
      for (const { request, steps } of late) {
        waitingSteps -= steps
        request.reject(unavailable('the turn of these steps did not come in time'))
      }
    },
    timeLeft() {
      const first = firstReady()
      return first === null ? DEFAULT_LIMIT_MS : first.request.until - performance.now()
    },
    waitingSteps: () => waitingSteps,
  }
}

/** Characters of the texts that a step is judged by. */
function textOf({ request: { step } }: ReadEntry): number {
  const { goal, ground = '', parentGoal = '', userMessage = '' } = step
  return goal.length + ground.length + parentGoal.length + userMessage.length
}
