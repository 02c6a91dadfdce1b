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

import type { listRuns, readRun } from '../../operations/steps/runs.ts'
import type { CallOptions, ClientOptions, ServiceError } from './calls.ts'
import { createCalls, isOwnError, type Request } from './calls.ts'
import { awaitDecision, type DecisionOptions } from './decision.ts'
import type { Queue } from './queue.ts'
import type { Escalation, Output, Sent, StoredRun, StoredStep } from './routes.ts'
import { type Posted, type Queried, type Route, routes } from './routes.ts'
import type { FlushOptions, RunHandle, RunOptions } from './run.ts'
import { createRun } from './run.ts'

/** A line of the export: a run, or one of its steps after it. */
export type ExportLine =
  | ({ type: 'run' } & StoredRun)
  | ({ type: 'step'; run_id: string } & StoredStep)

/** A line of the account's export: its `type` says what it is of. */
export type AccountLine = { type: string } & Record<string, unknown>

/**
 * The service as an object. Methods that answer a promise reject with a ServiceError when the answer
 * is a refusal or does not come; what `run` answers never does, unless asked to.
 */
export type Client = {
  [Name in keyof Posted]: Method<Sent<Posted[Name]>, Output<Posted[Name]>>
} & {
  [Name in keyof Queried]: Method<Parameters<Queried[Name]>, Output<Queried[Name]>>
} & {
  /** Every run of the list, page after page, newest first. */
  runs(filter?: Pageless<typeof listRuns>, options?: CallOptions): AsyncIterable<StoredRun>
  /** Every step of a run, page after page, oldest first. */
  trace(run: Pageless<typeof readRun>, options?: CallOptions): AsyncIterable<StoredStep>
  /** Every run and step of the account, as they arrive; `timeoutMs` is between two arrivals. */
  exportRuns(options?: CallOptions): AsyncIterable<ExportLine>
  /** Everything that is stored of the account, as it arrives; `timeoutMs` is between two arrivals. */
  exportMe(options?: CallOptions): AsyncIterable<AccountLine>
  /** Waits until a person has decided; answers the escalation, still pending when the time is over. */
  awaitDecision(escId: string, options?: DecisionOptions): Promise<Escalation>
  /** A handle on one run, for an agent's loop. Take one per run: it is what keeps the order. */
  run(options?: RunOptions): RunHandle
  /**
   * Delivers what its runs still hold, then stops: what is left after `timeoutMs` (10,000 unless
   * given), and what comes later, is dropped. Answers whether nothing was left.
   */
  close(options?: FlushOptions): Promise<boolean>
}

/** Parameters are texts on the wire; from here they may be numbers and booleans where it says so. */
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
 * A client of one service. It needs nothing but `fetch`, so it runs in Node 20 and later, in browsers
 * and at the edge. Throws a TypeError when the address or the key cannot be one.
 */
export function createClient(options: ClientOptions): Client {
  const calls = createCalls(options)
  const active = new Set<Queue>()
  let isClosed = false
  const parts = { calls, active, isClosed: () => isClosed }

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

/** Whether an error is a refusal of the service, or this client's word for having no answer. */
export function isServiceError(error: unknown): error is ServiceError {
  return isOwnError(error)
}

function requestOf({ method, path, keyed }: Route, input: object): Request {
  if (method === 'POST') return { method, path, keyed, body: JSON.stringify(input) }
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
