import { afterFailure, atRest, type BreakerState, stateOf } from '../../core/hosts/breaker.ts'
import type { Clock } from './clock.ts'
import { type RemoteAnswer, type RemoteServer, sendLines } from './remote.ts'
import type { Spool } from './spool.ts'

/** Most events of a batch, and the longest time that one waits for others, in milliseconds. */
const mostLines = 100
const batchMs = 250
/** The longest time that an answer may take. */
const answerMs = 5000

/** Brings the lines of a spool to the server, in their order, one batch after another. */
export interface Sender {
  /** Says that the spool has more lines. */
  wake(): void
  /** Sends what waits, once, if the server may be asked; resolves when it is through or has failed. */
  drain(): Promise<void>
  /** Asks the server at once again, because it is another one. */
  forgive(): void
  stop(): void
  readonly state: BreakerState
  /** Failures in a row, and what the newest was; null without one. */
  readonly failures: number
  readonly fault: string | null
  /** Lines that the server refused for good. */
  readonly refused: number
  /** When it last took a batch, milliseconds since 1970; null before. */
  readonly sentAt: number | null
}

/** What a sender needs. */
export interface SenderParts {
  spool: Spool
  /** The server, asked before each batch; what may not go there has left the spool when it returns. */
  remote(): RemoteServer
  clock: Clock
  onAnswers(lines: readonly string[], answers: readonly RemoteAnswer[]): void
  /** Notes that the server is away, or back (null). */
  onChange(fault: string | null): void
}

/** Creates a sender; the first call of `wake` starts it. */
export function createSender({ spool, remote, clock, onAnswers, onChange }: SenderParts): Sender {
  let breaker = atRest
  let fault: string | null = null
  let most = mostLines
  let refused = 0
  let sentAt: number | null = null
  let disarm: (() => void) | null = null
  let running: Promise<void> | null = null
  const stopped = new AbortController()

  function arm(ms: number): void {
    disarm?.()
    disarm = clock.later(ms, () => {
      disarm = null
      void drain()
    })
  }

  function wake(): void {
    if (stopped.signal.aborted || running !== null || spool.waiting === 0) return
    const restMs = breaker.restsUntil - clock.now()
    if (restMs > 0) {
      if (disarm === null) arm(restMs)
    } else if (spool.waiting >= mostLines) {
      disarm?.()
      disarm = null
      void drain()
    } else if (disarm === null) arm(batchMs)
  }

  function drain(): Promise<void> {
    running ??= sendAll()
      // A full disk ends no relay.
      .catch(() => failed('the spool cannot be written', null))
      .finally(() => {
        running = null
        wake()
      })
    return running
  }

  async function sendAll(): Promise<void> {
    while (!stopped.signal.aborted && spool.waiting > 0 && clock.now() >= breaker.restsUntil) {
      if (!(await sendOne())) return
    }
  }

  /** Whether the next batch may follow at once. */
  async function sendOne(): Promise<boolean> {
    const server = remote()
    const { lines, end } = spool.next(most)
    if (lines.length === 0) return false
    const sent = await sendLines(server, lines, {
      clock,
      limitMs: answerMs,
      stopped: stopped.signal,
    })
    if (stopped.signal.aborted) return false
    if ('answers' in sent) {
      spool.done(end)
      // What another server said before this one is of no use.
      if (remote().url === server.url) onAnswers(lines, sent.answers)
      breaker = atRest
      most = mostLines
      sentAt = clock.now()
      if (fault !== null) onChange(null)
      fault = null
      return true
    }
    if (sent.isRefused) {
      // Only what the server will never take is given up, found by halves.
      if (lines.length > 1) most = Math.max(1, Math.floor(lines.length / 2))
      else {
        spool.done(end)
        refused++
        most = mostLines
      }
      return true
    }
    failed(sent.says, sent.retryAfterMs)
    spool.sync()
    return false
  }

  function failed(says: string, retryAfterMs: number | null): void {
    if (fault !== says) onChange(says)
    fault = says
    breaker = afterFailure(breaker, { now: clock.now(), random: clock.random(), retryAfterMs })
  }

  return {
    wake,
    drain,
    forgive() {
      breaker = atRest
      fault = null
      disarm?.()
      disarm = null
      wake()
    },
    stop() {
      stopped.abort()
      disarm?.()
    },
    get state() {
      return stateOf(breaker, clock.now())
    },
    get failures() {
      return breaker.failures
    },
    get fault() {
      return fault
    },
    get refused() {
      return refused
    },
    get sentAt() {
      return sentAt
    },
  }
}
