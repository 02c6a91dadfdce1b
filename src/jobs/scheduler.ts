import type { Logger } from 'pino'
import { backoffMs } from '../core/backoff.ts'
import type { TakenJob } from '../storage/database/jobs.ts'
import type { OpenStore } from '../storage/store.ts'

/** What a job is run with. */
export interface JobContext {
  readonly id: string
  readonly input: string
  /** 1 for the first, one more after each failure or lost worker. */
  readonly attempt: number
  /** Milliseconds since 1970: another node may take the job from then on. */
  readonly heldUntil: number
  /** Aborted when the process is about to stop: end soon, or leave the job to its lease. */
  readonly signal: AbortSignal
}

/**
 * Work of one kind. It may run again after a crash, so doing it twice must do no harm. One with
 * `everyMs` recurs, at whole multiples since 1970 so that all nodes mean the same times, once on all
 * nodes together, and is tried until it succeeds; of any other kind are the jobs that were added, and
 * one that fails `maxAttempts` times gives up and is kept.
 */
export type JobKind = {
  readonly name: string
  /** How long a node that stopped in the middle keeps the job from others; longer than any run takes. */
  readonly leaseMs: number
  /** How many one node runs at the same time; 1 unless given. */
  readonly atOnce?: number
  /** Milliseconds until the next attempt after number `attempt` failed; `backoffMs` unless given. `random` is in [0, 1). */
  retryAfterMs?(attempt: number, random: number): number
  /** Answers when it wants to run again besides its schedule, milliseconds since 1970, or null. */
  run(context: JobContext): Promise<number | null>
} & ({ readonly everyMs: number } | { readonly maxAttempts: number })

/** Work that each node does for itself, because it is about what the node remembers. */
export interface Chore {
  readonly name: string
  readonly everyMs: number
  run(): Promise<void>
}

/** What the scheduler is made from. */
export interface SchedulerParts {
  store: OpenStore
  kinds: readonly JobKind[]
  chores: readonly Chore[]
  /** Milliseconds since 1970. */
  now(): number
  /** A number in [0, 1). */
  random(): number
  log: Logger
  /** How long `stop` waits for what runs, in milliseconds. */
  graceMs: number
}

/** What runs the jobs of one node. */
export interface Scheduler {
  /** Resolves after the first look; goes on looking once a second, and at once for a new job. */
  start(): Promise<void>
  /** Takes no more jobs; waits for those that run, and leaves the late ones to their lease. */
  stop(): Promise<void>
  /** Looks once, waits until nothing runs, and answers how many jobs it began. */
  runDue(): Promise<number>
}

const idlePauseMs = 1_000

/** A scheduler over the jobs of a store. No failure of a job, or of the database, ends it. */
export function createScheduler(parts: SchedulerParts): Scheduler {
  const { store, kinds, now, log } = parts
  const stopping = new AbortController()
  const running = new Map<Promise<void>, string>()
  const chores = parts.chores.map((chore) => ({ ...chore, next: now() + chore.everyMs }))
  let looking: Promise<Look> = Promise.resolve({ begun: 0, pauseMs: 0 })
  let timer: NodeJS.Timeout | null = null
  let started = false
  let wanted = false
  let planted = false
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
    const { pauseMs } = await look()
    plan(wanted ? 0 : pauseMs)
  }

  /** One look after the other: two at once would both think the same room free. */
  function look(): Promise<Look> {
    looking = looking.then(lookOnce)
    return looking
  }

  async function lookOnce(): Promise<Look> {
    const at = now()
    for (const chore of chores) {
      // Further off than its interval, the clock was set back.
      if (chore.next > at && chore.next <= at + chore.everyMs) continue
      chore.next = at + chore.everyMs
      track(chore.name, doChore(chore))
    }
    try {
      if (!planted) await plantRecurring(at)
      planted = true
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

  /** The row of a recurring job stays for ever; an occurrence that was missed is due at once. */
  async function plantRecurring(at: number): Promise<void> {
    for (const kind of kinds) {
      const due = nextOccurrence(kind, at)
      if (due === null) continue
      await store.jobs.add({ id: kind.name, kind: kind.name, input: '', due })
    }
  }

  async function beginDue(at: number): Promise<Look> {
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

  async function doChore(chore: Chore): Promise<void> {
    try {
      await chore.run()
    } catch (error) {
      log.warn({ err: error, chore: chore.name }, 'a chore failed')
    }
  }

  /** Never rejects: what cannot even be noted is left to its lease. */
  async function attempt(kind: JobKind, job: TakenJob): Promise<void> {
    const { id, attempts, held_until } = job
    const about = { job: id, kind: kind.name, attempt: attempts }
    try {
      if (stopping.signal.aborted) return await giveBack(about, (jobs) => jobs.release(job))
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
      await giveBack(about, (jobs) => jobs.finish(job, next))
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
      await giveBack(about, (jobs) => jobs.giveUp(job, words, at))
    } else {
      log.warn({ ...about, err: error }, 'a job failed and will be tried again')
      const pauseMs = (kind.retryAfterMs ?? backoffMs)(job.attempts, parts.random())
      const retryAt = Math.min(at + pauseMs, nextOccurrence(kind, at) ?? Number.POSITIVE_INFINITY)
      await giveBack(about, (jobs) => jobs.fail(job, words, retryAt))
    }
  }

  async function giveBack(
    about: object,
    how: (jobs: OpenStore['jobs']) => Promise<boolean>,
  ): Promise<void> {
    const held = await store.tx(({ jobs }) => how(jobs))
    if (!held) log.warn(about, 'a job took longer than its lease, and another may have begun it')
  }

  async function rest(): Promise<void> {
    await looking
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
      const { begun } = await look()
      await rest()
      return begun
    },
  }
}

interface Look {
  begun: number
  /** Milliseconds after which there may be more to begin. */
  pauseMs: number
}

/** When a recurring kind is next to run after `at`; null for others. */
function nextOccurrence(kind: JobKind, at: number): number | null {
  if (!('everyMs' in kind)) return null
  return (Math.floor(at / kind.everyMs) + 1) * kind.everyMs
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
