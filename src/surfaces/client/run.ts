import type { logDrift } from '../../operations/steps/drift.ts'
import type { setOutcome } from '../../operations/steps/runs.ts'
import { after, newId, serviceError } from './calls.ts'
import type { DeliveryOptions, RunStats } from './queue.ts'
import { createQueue, type Item, type Queue, type QueueParts } from './queue.ts'
import type { Sent, StoredRun, Verdict } from './routes.ts'

/** The fields that the first steps of an agent carry until one of them has frozen a ground. */
interface Opening {
  ground?: string | undefined
  plan?: readonly string[] | undefined
  pair?: unknown
  arm?: unknown
  detector?: unknown
}

type Defaults = Pick<RunOptions, 'budgetMs' | 'throws'>

/** Short against a call of a model, and enough for a first step, which loads `fetch` and connects. */
const defaultBudgetMs = 250

/** Creates a handle on one run. Its agents share one queue, so that the run keeps its order. */
export function createRun(parts: QueueParts, options: RunOptions): RunHandle {
  const { ground, plan, runId = `run_${newId()}`, agentId, pair, arm, detector } = options
  const queue = createQueue(parts, options)
  const common = { pair, arm, detector }
  const agent = (id: string | undefined, own: Pick<RunOptions, 'ground' | 'plan'>) =>
    createAgent(queue, { run_id: runId, agent_id: id }, { ...common, ...own }, options)

  return Object.assign(agent(agentId, { ground, plan }), {
    runId,
    spawn: (id: string, { ground, plan }: Pick<RunOptions, 'ground' | 'plan'> = {}) =>
      agent(id, { ground, plan }),
    outcome: (outcome, { score, note, ...wait } = {}) =>
      deliver<StoredRun>(queue, options, wait, (settle, fail) => {
        const body = jsonCopy({ run_id: runId, outcome, score, note })
        return {
          kind: 'outcome',
          keeps: true,
          body: () => body,
          settle: (answer) => settle(readRun(answer)),
          fail,
        }
      }),
    flush: ({ timeoutMs } = {}) => queue.flush(timeoutMs),
    stats: queue.stats,
  } satisfies Omit<RunHandle, keyof AgentHandle>)
}

function createAgent(
  queue: Queue,
  ids: { run_id: string; agent_id: string | undefined },
  opening: Opening,
  defaults: Defaults,
): AgentHandle {
  let isOpen = false
  let latest: Verdict | null = null

  function step(fields: object, isUserTurn: boolean, options: StepOptions) {
    return deliver<Verdict>(queue, defaults, options, (settle, fail) => {
      const turn = isUserTurn ? { user_turn: true } : {}
      // The goal of a user turn is the ground, and not the errand and the plan from before it.
      const first = isUserTurn ? { ...opening, ground: undefined, plan: undefined } : opening
      const sent = jsonCopy({ ...wireFields(fields), ...ids, ...turn })
      const sentFirst = jsonCopy({ ...first, ...sent })
      return {
        kind: 'step',
        keeps: isUserTurn || sent.user_message !== undefined,
        body: () => (isOpen ? sent : sentFirst),
        settle: (answer) => {
          latest = readVerdict(answer)
          isOpen ||= latest.revision > 0
          settle(latest)
        },
        fail,
      }
    })
  }

  return {
    step: (fields, options = {}) => step(fields, false, options),
    userTurn: (goal, fields = {}, options = {}) => step({ ...fields, goal }, true, options),
    userMessage: (text, fields = {}, options = {}) =>
      step({ goal: text, ...fields, userMessage: text }, false, options),
    get latest() {
      return latest
    },
  }
}

/**
 * Queues the item that `make` builds, and waits for its answer within the budget. While the service is
 * away, the budget of the run is 0, so that an outage costs the agent one budget and not one per step.
 */
function deliver<Result>(
  queue: Queue,
  { budgetMs: runBudgetMs = defaultBudgetMs, throws: runThrows = false }: Defaults,
  { budgetMs, throws = runThrows, signal }: StepOptions,
  make: (settle: (result: Result) => void, fail: (error: unknown) => void) => Item,
): Promise<Result | null> {
  const isAwayFor = queue.isAway && runBudgetMs !== Number.POSITIVE_INFINITY
  return new Promise((resolve, reject) => {
    const end = () => {
      cancelTimer()
      signal?.removeEventListener('abort', abort)
    }
    const settle = (result: Result | null) => {
      end()
      resolve(result)
    }
    const fail = (error: unknown) => {
      end()
      if (throws) reject(error)
      else resolve(null)
    }
    const abort = () => {
      queue.stats.late++
      fail(signal?.reason)
    }
    const cancelTimer = after(budgetMs ?? (isAwayFor ? 0 : runBudgetMs), true, () => {
      queue.stats.late++
      queue.isAway ||= budgetMs === undefined
      settle(null)
    })
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
    try {
      queue.add(make(settle, fail))
    } catch (error) {
      queue.countFailure(error)
      fail(error)
    }
  })
}

/** The fields under their names on the wire. */
function wireFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  )
}

/** Copies the fields, because the agent may change them later. Throws if they cannot be JSON. */
function jsonCopy(fields: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(fields))
}

function readVerdict(answer: unknown): Verdict {
  const read = answer as Verdict | null | undefined
  if (typeof read?.drifting === 'boolean' && typeof read.revision === 'number') return read
  throw serviceError('unreadable', 'The answer is not from this service.', { body: answer })
}

function readRun(answer: unknown): StoredRun {
  const { run } = answer as { run?: StoredRun | null }
  if (typeof run === 'object' && run !== null) return run
  throw serviceError('unreadable', 'The answer is not from this service.', { body: answer })
}

/**
 * The errand of a run, and how long its steps may delay the agent.
 *
 * @example
 * ```ts
 * import { createClient } from 'plumbline/client'
 *
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
 * const run = client.run({
 *   ground: 'add rate limiting to the login endpoint',
 *   plan: ['write a token bucket'],
 *   runId: 'ticket 17',
 *   detector: 'meaning',
 * })
 * const verdict = await run.step({ goal: 'write a token bucket' })
 * console.log(verdict?.run_id, verdict?.drifting) // → ticket 17 false
 * ```
 */
export interface RunOptions extends DeliveryOptions, Pick<StepOptions, 'budgetMs' | 'throws'> {
  /** The errand in the user's own words. Without it, the goal of the first step is the ground. */
  ground?: string | undefined
  /** Declared sub-goals of the ground, at most 50. A step that serves one of them is no drift. */
  plan?: readonly string[] | undefined
  /** The id of the run. The default is a new id; an existing id continues the run of another process. */
  runId?: string | undefined
  /** The id of the sub-agent, if a sub-agent of the run reports these steps. */
  agentId?: string | undefined
  /** The pair of an experiment that this run belongs to. */
  pair?: DriftStep['pair']
  /** The arm of the run in its pair. */
  arm?: DriftStep['arm']
  /** The detector of the run. The service reads it only on the first step. */
  detector?: DriftStep['detector']
}

/**
 * Options of one step.
 *
 * @example
 * ```ts
 * import { createClient } from 'plumbline/client'
 *
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
 * const run = client.run({ ground: 'fix the login page' })
 *
 * const step = { goal: 'read the login page' }
 * const verdict = await run.step(step, { budgetMs: Number.POSITIVE_INFINITY, throws: true })
 * console.log(verdict?.step) // → 1
 * ```
 */
export interface StepOptions {
  /**
   * Milliseconds to wait for the verdict, 250 by default; `Infinity` waits until it comes. The step is
   * logged even if its verdict is late. After a late verdict the next steps do not wait until the service
   * answers again, unless a step sets its own budget.
   */
  budgetMs?: number | undefined
  /** Whether the call rejects if the step is refused or dropped. The default is to return null. */
  throws?: boolean | undefined
  /** Ends the wait. The step is logged all the same. */
  signal?: AbortSignal | undefined
}

/** The fields of a step: those of `POST /v1/drift` that the run does not add itself. */
export type RunStep = {
  [Name in keyof Omit<DriftStep, OwnField> as CamelCase<Name>]: DriftStep[Name]
}

/** How long to wait for the steps in flight. */
export interface FlushOptions {
  /** Milliseconds, 10,000 by default. */
  timeoutMs?: number | undefined
}

/** One agent of a run. */
export interface AgentHandle {
  /**
   * Logs a step and returns its verdict. Returns null if the verdict is late, or the step is refused or
   * dropped.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   * const run = client.run({ ground: 'fix the login page' })
   *
   * const verdict = await run.step({
   *   goal: 'read the code of the login page',
   *   progress: 'advancing',
   *   distance: 7,
   * })
   * console.log(verdict?.drifting) // → false
   * ```
   */
  step(step: RunStep, options?: StepOptions): Promise<Verdict | null>
  /**
   * Logs a user turn. Its goal is the ground from here on.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   * const run = client.run({ ground: 'fix the login page' })
   *
   * await run.userTurn('fix the sign-up page too')
   * console.log(run.latest?.ground, run.latest?.revision) // → fix the sign-up page too 1
   * ```
   */
  userTurn(goal: string, more?: Partial<RunStep>, options?: StepOptions): Promise<Verdict | null>
  /**
   * Logs what the user has just said, word for word. The service reads what it does: nothing (thanks, go on, a
   * question), a correction, a further request, or another request instead.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   * const run = client.run({ ground: 'fix the login page' })
   *
   * await run.step({ goal: 'read the code of the login page' })
   * await run.userMessage('thanks, go on')
   * await run.userMessage('also fix the sign-up page')
   * console.log(run.latest?.user_effect, run.latest?.revision) // → adds 2
   * ```
   */
  userMessage(text: string, more?: Partial<RunStep>, options?: StepOptions): Promise<Verdict | null>
  /** The newest verdict, late or not; null before the first. */
  readonly latest: Verdict | null
}

/**
 * A run as its agent's loop uses it. Steps are logged in the order of the calls.
 *
 * @example
 * ```ts
 * import { createClient, type RunHandle } from 'plumbline/client'
 *
 * async function work(run: RunHandle, goals: readonly string[]): Promise<void> {
 *   for (const goal of goals) {
 *     const verdict = await run.step({ goal })
 *     if (verdict?.drifting) throw new Error(verdict.why)
 *   }
 *   await run.outcome('success')
 * }
 *
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
 * const run = client.run({ ground: 'fix the login page' })
 * await work(run, ['read the login page', 'test the login page'])
 * console.log(run.latest?.step) // → 2
 * ```
 */
export interface RunHandle extends AgentHandle {
  /** The id of the run, as the service stores it. */
  readonly runId: string
  /**
   * Creates a sub-agent with its own ground. Its steps keep the order of the run.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   * const run = client.run({ ground: 'fix the login page' })
   *
   * const tester = run.spawn('tester', { ground: 'test the login page' })
   * const verdict = await tester.step({ goal: 'write a test for the login page' })
   * console.log(verdict?.agent_id, verdict?.ground) // → tester test the login page
   * ```
   */
  spawn(agentId: string, options?: Pick<RunOptions, 'ground' | 'plan'>): AgentHandle
  /**
   * Sets the outcome of the run, after its earlier steps. Returns the run, or null as `step` does.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   * const run = client.run({ ground: 'fix the login page' })
   * await run.step({ goal: 'read the login page' })
   *
   * const stored = await run.outcome('success', { score: 0.9, note: 'merged', budgetMs: 30_000 })
   * console.log(stored?.outcome, stored?.score) // → success 0.9
   * ```
   */
  outcome(
    outcome: Sent<typeof setOutcome>['outcome'],
    more?: Pick<Sent<typeof setOutcome>, 'score' | 'note'> & StepOptions,
  ): Promise<StoredRun | null>
  /**
   * Waits until no step is in flight, and retries at once. Returns false if the time is up first.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   * const run = client.run({ ground: 'fix the login page' })
   * void run.step({ goal: 'read the login page' })
   *
   * console.log(await run.flush({ timeoutMs: 30_000 })) // → true
   * ```
   */
  flush(options?: FlushOptions): Promise<boolean>
  /** Counts so far, of this handle and of its sub-agents. */
  readonly stats: Readonly<RunStats>
}

type DriftStep = Sent<typeof logDrift>

type OwnField =
  | ('run_id' | 'agent_id' | 'ground' | 'user_turn' | 'step_id')
  | ('pair' | 'arm' | 'detector')

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name
