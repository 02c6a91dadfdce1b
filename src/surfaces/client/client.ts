export type { CallOptions, ClientOptions, ServiceError } from './calls.ts'
export type { DeliveryOptions, RunStats } from './queue.ts'
export type { Escalation, StoredRun, StoredStep, Verdict } from './routes.ts'
export type {
  AgentHandle,
  FlushOptions,
  RunHandle,
  RunOptions,
  RunStep,
  StepOptions,
} from './run.ts'
export type { StreamEvent, StreamFilter, StreamOptions } from './stream.ts'

import type { listRuns } from '../../operations/steps/run-list.ts'
import type { readRun } from '../../operations/steps/runs.ts'
import type { CallOptions, ClientOptions, ServiceError } from './calls.ts'
import { createCalls, isOwnError, type Request } from './calls.ts'
import { awaitDecision, type DecisionOptions } from './decision.ts'
import type { Queue } from './queue.ts'
import type { Escalation, ListedRun, Output, Sent, StoredRun, StoredStep } from './routes.ts'
import { type Posted, type Queried, type Route, routes } from './routes.ts'
import type { FlushOptions, RunHandle, RunOptions } from './run.ts'
import { createRun } from './run.ts'
import { readStream, type StreamEvent, type StreamFilter, type StreamOptions } from './stream.ts'

/** A line of the export. The line of a run comes before the lines of its steps. */
export type ExportLine =
  | ({ type: 'run' } & StoredRun)
  | ({ type: 'step'; run_id: string } & StoredStep)

/** A line of the account's export. Its `type` names the kind of row. */
export type AccountLine = { type: string } & Record<string, unknown>

/** A labelled step: whether its goal had left the ground, and the label that a person has given. */
export type LabelLine = {
  ground: string
  goal: string
  label: 'same' | 'drift'
  given: 'useful' | 'false_alarm' | 'missed'
  run_id: string
  step: number
} & Record<string, unknown>

/**
 * The service as an object. A method rejects with a ServiceError if the service refuses the request or does
 * not answer. A run handle rejects only if its options say so.
 *
 * @example
 * ```ts
 * import { type Client, createClient } from 'plumbline/client'
 *
 * async function isOnErrand(client: Client, ground: string, goal: string): Promise<boolean> {
 *   const { verdict } = await client.check({ ground, goal })
 *   return !verdict.drifting
 * }
 *
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8787' })
 * console.log(await isOnErrand(client, 'fix the login page', 'fix the login page')) // → true
 * ```
 */
export type Client = {
  [Name in keyof Posted]: Method<Sent<Posted[Name]>, Output<Posted[Name]>>
} & {
  [Name in keyof Queried]: Method<Parameters<Queried[Name]>, Output<Queried[Name]>>
} & {
  /**
   * Lists all runs, newest first. It reads one page after another.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   *
   * await client.drift({ run_id: 'first', goal: 'fix the login page' })
   * await client.drift({ run_id: 'second', goal: 'water the plants' })
   * await client.outcome({ run_id: 'second', outcome: 'success' })
   * for await (const { run_id, steps } of client.runs({ outcome: 'success' })) {
   *   console.log(run_id, steps) // → second 1
   * }
   * ```
   */
  runs(filter?: Pageless<typeof listRuns>, options?: CallOptions): AsyncIterable<ListedRun>
  /**
   * Lists all steps of a run, oldest first. It reads one page after another.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   *
   * await client.drift({ run_id: 'first', goal: 'fix the login page' })
   * for await (const { step, goal, reason } of client.trace({ run_id: 'first' })) {
   *   console.log(step, goal, reason) // → 1 fix the login page grounded
   * }
   * ```
   */
  trace(run: Pageless<typeof readRun>, options?: CallOptions): AsyncIterable<StoredStep>
  /**
   * Lists every run and step of the account as they arrive. `timeoutMs` limits the time between two
   * arrivals.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   *
   * await client.drift({ run_id: 'first', goal: 'fix the login page' })
   * for await (const line of client.exportRuns()) {
   *   console.log(line.run_id, line.type === 'step' ? line.goal : line.steps)
   * }
   * // → first 1
   * // → first fix the login page
   * ```
   */
  exportRuns(options?: CallOptions): AsyncIterable<ExportLine>
  /**
   * Lists all stored data of the account as it arrives. `timeoutMs` limits the time between two arrivals.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   *
   * const types = new Set<string>()
   * for await (const { type } of client.exportMe()) types.add(type)
   * console.log(types.has('account')) // → true
   * ```
   */
  exportMe(options?: CallOptions): AsyncIterable<AccountLine>
  /**
   * Lists the labelled steps as they arrive, in the form that `plumbline eval` reads. `timeoutMs` limits the time
   * between two arrivals.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   *
   * await client.drift({ run_id: 'first', goal: 'fix the login page' })
   * await client.drift({ run_id: 'first', goal: 'peel the carrots' })
   * await client.label({ run_id: 'first', step: 1, label: 'missed' })
   * for await (const { goal, label } of client.labels()) console.log(goal, label) // → fix the login page drift
   * ```
   */
  labels(options?: CallOptions): AsyncIterable<LabelLine>
  /**
   * Tells what changes in the account, as it happens. It connects again by itself, at first after a second and at
   * last every 30, and goes on where it was, until the signal ends it or the service refuses it. After a `gap`, read
   * again what you show.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   *
   * const opened = () => void client.drift({ run_id: 'first', goal: 'fix the login page' })
   * for await (const { event, data } of client.stream({ run_id: 'first' }, { opened })) {
   *   if (event !== 'step') continue
   *   console.log(data.step, data.goal) // → 1 fix the login page
   *   break
   * }
   * ```
   */
  stream(filter?: StreamFilter, options?: StreamOptions): AsyncIterable<StreamEvent>
  /**
   * Waits for the decision of a person and returns the escalation. The escalation is still pending if the
   * time is up first.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   *
   * const { esc_id } = await client.escalate({ run_id: 'first', reason: 'goal-drift' })
   *
   * // A person decides, as a rule in another process.
   * await client.decideEscalation({ esc_id, decision: 'return' })
   *
   * const { status, decision } = await client.awaitDecision(esc_id, { waitMs: 60_000 })
   * console.log(status, decision) // → decided return
   * ```
   */
  awaitDecision(escId: string, options?: DecisionOptions): Promise<Escalation>
  /**
   * Creates a handle on one run, for an agent's loop. Use one handle per run, because the handle keeps the
   * order of the steps.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   * const run = client.run({ ground: 'add rate limiting to the login endpoint' })
   *
   * const verdict = await run.step({ goal: 'remove rate limiting from the login endpoint' })
   * if (verdict?.drifting) console.log(verdict.reason) // → goal-drift
   *
   * await run.outcome('failure')
   * await client.close()
   * ```
   */
  run(options?: RunOptions): RunHandle
  /**
   * Delivers the waiting steps of all runs, then stops. It drops the steps that are left after `timeoutMs`
   * (10,000 by default), and all later ones. Returns whether no step was left.
   *
   * @example
   * ```ts
   * import { createClient } from 'plumbline/client'
   *
   * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
   * const run = client.run({ ground: 'fix the login page' })
   * void run.step({ goal: 'read the login page' })
   *
   * console.log(await client.close({ timeoutMs: 30_000 })) // → true
   * console.log(run.stats.sent) // → 1
   * ```
   */
  close(options?: FlushOptions): Promise<boolean>
}

/**
 * A parameter is a text on the wire. The client takes numbers and booleans too, where the text stands for
 * one.
 */
type Parameter<Value> = Value extends 'true' | 'false'
  ? Value | boolean
  : string extends Value
    ? Value | number
    : Value

type Parameters<O, S = Sent<O>> = {
  [Name in keyof S as undefined extends S[Name] ? never : Name]: Parameter<S[Name]>
} & {
  [Name in keyof S as undefined extends S[Name] ? Name : never]?: Parameter<S[Name]>
}

type Pageless<O> = Omit<Parameters<O>, 'cursor'>

type Method<Input, Answer> =
  Record<never, never> extends Input
    ? (input?: Input, options?: CallOptions) => Promise<Answer>
    : (input: Input, options?: CallOptions) => Promise<Answer>

/**
 * Creates a client of one service. It needs only `fetch`, so it runs in Node 20 and later, in browsers and
 * at the edge. Throws a TypeError if the address or the key is malformed.
 *
 * @example
 * ```ts
 * import { createClient } from 'plumbline/client'
 *
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8787' })
 * const { verdict } = await client.check({
 *   ground: 'refund order 1234 to the customer',
 *   goal: 'refund order 9876 to the customer',
 * })
 * console.log(verdict.drifting) // → true
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const calls = createCalls(options)
  const active = new Set<Queue>()
  let isClosed = false
  let hasSaid = false
  const parts = { calls, active, isClosed: () => isClosed, unheard }

  /** A wrong key or address would otherwise be noticed by nobody: it is said once, and the agent goes on. */
  function unheard({ status, message }: ServiceError): void {
    if (hasSaid || !neverWorks.includes(status)) return
    hasSaid = true
    console.error(`plumbline: ${options.baseUrl} took no step: ${message}`)
  }

  const methods = Object.fromEntries(
    Object.entries(routes).map(([name, route]) => [
      name,
      (input: object = {}, options: CallOptions = {}) =>
        calls.send(requestOf(route, input), options),
    ]),
  ) as unknown as Pick<Client, keyof typeof routes>

  return {
    ...methods,
    runs: (filter = {}, options = {}) =>
      pages(
        (page) => methods.listRuns({ ...filter, ...page }, options),
        ({ runs }) => runs,
      ),
    trace: (run, options = {}) =>
      pages(
        (page) => methods.readRun({ ...run, ...page }, options),
        ({ trace }) => trace,
      ),
    exportRuns: (options = {}) =>
      calls.lines(
        { method: 'GET', path: '/v1/export', keyed: true },
        options,
      ) as AsyncIterable<ExportLine>,
    exportMe: (options = {}) =>
      calls.lines(
        { method: 'GET', path: '/v1/me/export', keyed: true },
        options,
      ) as AsyncIterable<AccountLine>,
    labels: (options = {}) =>
      calls.lines(
        { method: 'GET', path: '/v1/drift/labels', keyed: true },
        options,
      ) as AsyncIterable<LabelLine>,
    stream: (filter = {}, options = {}) => readStream(calls, filter, options),
    awaitDecision: (escId, options = {}) => awaitDecision(calls, escId, options),
    run: (options = {}) => createRun(parts, options),
    async close({ timeoutMs } = {}) {
      const flushed = await Promise.all([...active].map((queue) => queue.flush(timeoutMs)))
      isClosed = true
      await Promise.all([...active].map((queue) => queue.stop()))
      return !flushed.includes(false)
    },
  }
}

/** The statuses of a wrong key or address, which no repetition mends. */
const neverWorks: readonly (number | null)[] = [401, 403, 404]

/**
 * Whether an error is a refusal of the service, or says that there was no answer.
 *
 * @example
 * ```ts
 * import { createClient, isServiceError } from 'plumbline/client'
 *
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: 'pl_live_unknown' })
 * try {
 *   await client.me()
 * } catch (error) {
 *   if (!isServiceError(error)) throw error
 *   console.log(error.status, error.word) // → 401 bad_key
 * }
 * ```
 */
export function isServiceError(error: unknown): error is ServiceError {
  return isOwnError(error)
}

function requestOf({ method, path, keyed }: Route, input: object): Request {
  if (method === 'POST' || method === 'PUT')
    return { method, path, keyed, body: JSON.stringify(input) }
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  const query = new URLSearchParams(
    Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
  )
  return { method, path: given.length === 0 ? path : `${path}?${query}`, keyed }
}

async function* pages<Page extends { next_cursor: string | null }, Item>(
  ask: (page: { cursor?: string }) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): AsyncGenerator<Item> {
  let page = await ask({})
  yield* itemsOf(page)
  while (page.next_cursor !== null) {
    page = await ask({ cursor: page.next_cursor })
    yield* itemsOf(page)
  }
}
