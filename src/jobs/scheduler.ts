import type { Logger } from 'pino'
import { backoffMs } from '../core/backoff.ts'
import type { TakenJob } from '../storage/database/jobs.ts'
import type { OpenStore } from '../storage/store.ts'

/** The context of one run of a job. */
export interface JobContext {
  readonly id: string
  readonly input: string
  /** 1 for the first attempt, one more after each failure or lost worker. */
  readonly attempt: number
  /** End of the lease, milliseconds since 1970: from then on another node may lease the job. */
  readonly heldUntil: number
  /** Aborted when the process is about to stop: end soon, or let the lease run out. */
  readonly signal: AbortSignal
}

/**
 * A kind of job. A job may run again after a crash, so running it twice must do no harm. A kind with
 * `everyMs` recurs at whole multiples since 1970, so that all nodes agree on the times, once on all nodes
 * together, and is retried until it succeeds. Other kinds run the enqueued jobs; a job that fails
 * `maxAttempts` times gives up and is kept.
 */
export type JobKind = {
  readonly name: string
  /** Time after which other nodes may take over the job of a dead node; longer than any run takes. */
  readonly leaseMs: number
  /** Most concurrent runs on one node; 1 by default. */
  readonly atOnce?: number
  /**
   * Milliseconds until the next attempt after number `attempt` failed; `backoffMs` by default. `random` is
   * in [0, 1).
   */
  retryAfterMs?(attempt: number, random: number): number
  /** Runs the job and returns an extra time to run again, milliseconds since 1970, or null. */
  run(context: JobContext): Promise<number | null>
} & ({ readonly everyMs: number } | { readonly maxAttempts: number })

/** A task that each node runs for itself, because it concerns the memory of the node. */
export interface Chore {
  readonly name: string
  readonly everyMs: number
  run(): Promise<void>
}

/** The dependencies of the scheduler. */
export interface SchedulerParts {
  store: OpenStore
  kinds: readonly JobKind[]
  chores: readonly Chore[]
  /** Milliseconds since 1970. */
  now(): number
  /** A number in [0, 1). */
  random(): number
  log: Logger
  /** Longest wait of `stop` for running jobs, in milliseconds. */
  graceMs: number
}

/** Runs the jobs of one node. */
export interface Scheduler {
  /** Starts polling once a second, and at once for a new job; resolves after the first poll. */
  start(): Promise<void>
  /**
   * Leases no more jobs and waits for the running ones; jobs that outlast the wait stay leased until their
   * lease ends.
   */
  stop(): Promise<void>
  /** Polls once, waits until no job runs, and returns how many jobs it started. */
  runDue(): Promise<number>
}

const idlePauseMs = 1_000

/** Creates a scheduler for the jobs of a store. Failures of a job or the database do not stop it. */
export function createScheduler(parts: SchedulerParts): Scheduler {
  const { store, kinds, now, log } = parts
  const stopping = new AbortController()
  const running = new Map<Promise<void>, string>()
  const chores = parts.chores.map((chore) => ({ ...chore, next: now() + chore.everyMs }))
  let polling: Promise<Poll> = Promise.resolve({ begun: 0, pauseMs: 0 })
  let timer: NodeJS.Timeout | null = null
  let started = false
  let wanted = false
  let recurringEnqueued = false
  let away = false
  store.onJob(wake)

  function wake(): void {
    wanted = true
    if (timer !== null) plan(0)
  }

  function plan(pauseMs: number): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (!started || stopping.signal.aborted) return
    timer = setTimeout(() => void turn(), pauseMs)
    timer.unref()
  }

  async function turn(): Promise<void> {
    timer = null
    wanted = false
    const { pauseMs } = await poll()
    plan(wanted ? 0 : pauseMs)
  }

  /** Polls run one after another: two at once would both count the same free slots. */
  function poll(): Promise<Poll> {
    polling = polling.then(pollOnce)
    return polling
  }

  async function pollOnce(): Promise<Poll> {
    const at = now()
    for (const chore of chores) {
      // If the next time is further away than the interval, the clock was set back.
      if (chore.next > at && chore.next <= at + chore.everyMs) continue
      chore.next = at + chore.everyMs
      track(chore.name, runChore(chore))
    }
    try {
      if (!recurringEnqueued) await enqueueRecurring(at)
      recurringEnqueued = true
      const seen = await beginDue(at)
      if (away) log.info('the jobs go on')
      away = false
      return seen
    } catch (error) {
      if (!away) log.warn({ err: error }, 'the jobs cannot be read')
      away = true
      return { begun: 0, pauseMs: idlePauseMs }
    }
  }

  /** The row of a recurring job is never deleted; a missed occurrence is due at once. */
  async function enqueueRecurring(at: number): Promise<void> {
    for (const kind of kinds) {
      const due = nextOccurrence(kind, at)
      if (due === null) continue
      await store.jobs.add({ id: kind.name, kind: kind.name, input: '', due })
    }
  }

  async function beginDue(at: number): Promise<Poll> {
    const free = kinds.filter((kind) => roomFor(kind) > 0)
    if (free.length === 0 || stopping.signal.aborted) return { begun: 0, pauseMs: idlePauseMs }
    const names = free.map(({ name }) => name)
    const nextDue = new Map(
      (await store.jobs.nextDue(names, at)).map(({ kind, due }) => [kind, due]),
    )
    let begun = 0
    for (const kind of free) {
      if ((nextDue.get(kind.name) ?? Number.POSITIVE_INFINITY) > at) continue
      const jobs = await store.tx(({ jobs }) =>
        jobs.take(kind.name, at, kind.leaseMs, roomFor(kind)),
      )
      for (const job of jobs) track(kind.name, attempt(kind, job))
      begun += jobs.length
    }
    const later = [...nextDue.values()].filter((due) => due > at)
    return { begun, pauseMs: Math.min(idlePauseMs, ...later.map((due) => due - at)) }
  }

  function roomFor({ name, atOnce = 1 }: JobKind): number {
    return atOnce - [...running.values()].filter((each) => each === name).length
  }

  function track(name: string, work: Promise<void>): void {
    running.set(work, name)
    void work.then(() => {
      running.delete(work)
      wake()
    })
  }

  async function runChore(chore: Chore): Promise<void> {
    try {
      await chore.run()
    } catch (error) {
      log.warn({ err: error, chore: chore.name }, 'a chore failed')
    }
  }

  /** Never rejects: if the result cannot be stored, the lease runs out. */
  async function attempt(kind: JobKind, job: TakenJob): Promise<void> {
    const { id, attempts, held_until } = job
    const about = { job: id, kind: kind.name, attempt: attempts }
    try {
      if (stopping.signal.aborted) return await endLease(about, (jobs) => jobs.release(job))
      if ('maxAttempts' in kind && attempts > kind.maxAttempts) {
        throw new Error('Each of its attempts was begun, and none ended.')
      }
      const again = await kind.run({
        id,
        input: job.input,
        attempt: attempts,
        heldUntil: held_until,
        signal: stopping.signal,
      })
      const next = earlier(again, nextOccurrence(kind, now()))
      await endLease(about, (jobs) => jobs.finish(job, next))
      log.debug(about, 'a job is done')
    } catch (error) {
      await noteFailure(kind, job, error, about).catch((cause) =>
        log.warn({ ...about, err: cause }, 'a job is left to its lease'),
      )
    }
  }

  async function noteFailure(
    kind: JobKind,
    job: TakenJob,
    error: unknown,
    about: object,
  ): Promise<void> {
    const at = now()
    const words = error instanceof Error ? error.message : String(error)
    if ('maxAttempts' in kind && job.attempts >= kind.maxAttempts) {
      log.error({ ...about, err: error }, 'a job gave up')
      await endLease(about, (jobs) => jobs.giveUp(job, words, at))
    } else {
      log.warn({ ...about, err: error }, 'a job failed and will be tried again')
      const pauseMs = (kind.retryAfterMs ?? backoffMs)(job.attempts, parts.random())
      const retryAt = Math.min(at + pauseMs, nextOccurrence(kind, at) ?? Number.POSITIVE_INFINITY)
      await endLease(about, (jobs) => jobs.fail(job, words, retryAt))
    }
  }

  async function endLease(
    about: object,
    how: (jobs: OpenStore['jobs']) => Promise<boolean>,
  ): Promise<void> {
    const held = await store.tx(({ jobs }) => how(jobs))
    if (!held) log.warn(about, 'a job took longer than its lease, and another may have begun it')
  }

  async function rest(): Promise<void> {
    await polling
    await Promise.all(running.keys())
  }

  return {
    async start() {
      started = true
      await turn()
    },
    async stop() {
      stopping.abort()
      plan(0)
      let grace: NodeJS.Timeout | null = null
      const patience = new Promise<void>((resolve) => {
        grace = setTimeout(resolve, parts.graceMs)
      })
      await Promise.race([rest(), patience])
      if (grace !== null) clearTimeout(grace)
    },
    async runDue() {
      const { begun } = await poll()
      await rest()
      return begun
    },
  }
}

interface Poll {
  begun: number
  /** Milliseconds until the next poll. */
  pauseMs: number
}

/** The next time of a recurring kind after `at`; null for other kinds. */
function nextOccurrence(kind: JobKind, at: number): number | null {
  if (!('everyMs' in kind)) return null
  return (Math.floor(at / kind.everyMs) + 1) * kind.everyMs
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
