import type { logDrift } from '../operations/drift.ts'
import type { decideEscalation } from '../operations/escalation.ts'
import type { Operation } from '../operations/operation.ts'
import type { listRuns, readRun, setOutcome } from '../operations/runs.ts'
import { createCalls, isOwnError, type Request } from './client-call.ts'
import { awaitDecision, type DecisionOptions } from './client-decision.ts'
import type { Queue } from './client-queue.ts'
import { type Posted, type Queried, type Route, routes } from './client-routes.ts'
import { createRun } from './client-run.ts'

/** Where the service is, whose calls these are, and how patient they are. */
export interface ClientOptions {
  /** `http://host:port`, with or without a trailing slash. */
  baseUrl: string
  /** A key; needed for everything but `check` and `tiers`. */
  key?: string | undefined
  /** The fetch to use; the platform's unless given. */
  fetch?: typeof fetch | undefined
  /** Milliseconds to wait for one answer; 10,000 unless given. */
  timeoutMs?: number | undefined
  /**
   * How often to try again what failed for a while: connections, 429, 502, 503, 504. Only what cannot
   * happen twice is repeated: GETs, and keyed POSTs, which carry an idempotency key. 2 unless given.
   */
  retries?: number | undefined
}

/** Options of one call. */
export interface CallOptions extends Pick<ClientOptions, 'timeoutMs' | 'retries'> {
  /** Ends the call; it rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Of a keyed POST: one of your own, where the call may be repeated by another process. */
  idempotencyKey?: string | undefined
}

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

/** How the steps of a run are delivered. */
export interface DeliveryOptions {
  /** Most steps to hold while the service is away, 1,000 unless given; the oldest go first. */
  maxWaiting?: number | undefined
  /**
   * Told of every attempt that failed; `lost` says how many steps that cost, 0 while they are still
   * being tried. What it throws is ignored.
   */
  onError?: ((error: ServiceError, lost: number) => unknown) | undefined
}

/** What a run is about, and how long its steps may hold the agent up. */
export interface RunOptions extends DeliveryOptions, Pick<StepOptions, 'budgetMs' | 'throws'> {
  /** The errand in the user's own words. Without it, the goal of the first step is the ground. */
  ground?: string | undefined
  /** Declared sub-goals of the ground, at most 50: steps that serve one of them are no drift. */
  plan?: readonly string[] | undefined
  /** A new one unless given; give it to go on with a run that another process began. */
  runId?: string | undefined
  /** Says that these are the steps of a sub-agent of the run. */
  agentId?: string | undefined
  pair?: DriftStep['pair']
  arm?: DriftStep['arm']
  detector?: DriftStep['detector']
}

/** Options of one step. */
export interface StepOptions {
  /**
   * Milliseconds to wait for the verdict, 250 unless given; `Infinity` is until it comes. A step whose
   * verdict is late is logged all the same. Once one was late, those behind it wait for nothing until
   * the service is heard from again, but where the step itself says how long.
   */
  budgetMs?: number | undefined
  /** Whether a step that is refused or dropped rejects, instead of answering null. */
  throws?: boolean | undefined
  /** Ends the waiting, not the step. */
  signal?: AbortSignal | undefined
}

/** How long to wait for what is under way. */
export interface FlushOptions {
  /** Milliseconds; 10,000 unless given. */
  timeoutMs?: number | undefined
}

/** One agent of a run. */
export interface AgentHandle {
  /** Logs a step and answers its verdict, or null when it is late, refused or dropped. */
  step(step: RunStep, options?: StepOptions): Promise<Verdict | null>
  /** Logs that the user has spoken: the goal is the ground from here on. */
  userTurn(goal: string, more?: Partial<RunStep>, options?: StepOptions): Promise<Verdict | null>
  /** The verdict that came last, late or not; null before the first. */
  readonly latest: Verdict | null
}

/** A run as its agent's loop uses it. Steps are logged in the order of the calls. */
export interface RunHandle extends AgentHandle {
  readonly runId: string
  /** A sub-agent with a ground of its own; its steps keep the order of the run. */
  spawn(agentId: string, options?: Pick<RunOptions, 'ground' | 'plan'>): AgentHandle
  /** Sets what became of the run, after the steps before it. Answers the run, or null as `step`. */
  outcome(
    outcome: Sent<typeof setOutcome>['outcome'],
    more?: Pick<Sent<typeof setOutcome>, 'score' | 'note'> & StepOptions,
  ): Promise<StoredRun | null>
  /** Waits until nothing is under way, and tries again at once what was to be tried later. */
  flush(options?: FlushOptions): Promise<boolean>
  /** Counted so far, of this handle and those it has spawned. */
  readonly stats: Readonly<RunStats>
}

/** What became of the steps and outcomes of a run. */
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

/** A question put to a person, and the answer once there is one. */
export type Escalation = Output<typeof decideEscalation>

/** A step's verdict. */
export type Verdict = Output<typeof logDrift>

/** A run as the service holds it. */
export type StoredRun = Output<typeof listRuns>['runs'][number]

/** A step as the service holds it. */
export type StoredStep = Output<typeof readRun>['trace'][number]

/** What a step says: the fields of `POST /v1/drift` that a run does not add by itself. */
export type RunStep = {
  [Name in keyof Omit<DriftStep, OwnField> as CamelCase<Name>]: DriftStep[Name]
}

/** Why there is no answer, or not the one hoped for. */
export interface ServiceError extends Error {
  name: 'ServiceError'
  /** The HTTP status; 0 when there was no answer. */
  status: number
  /**
   * The stable word of the refusal. Of this client: `unreachable`, `timeout`, `unreadable` (what
   * answered is not the service), `dropped`, `closed`, `unsent` (a step that is not JSON).
   */
  word: string
  /** What to send instead; '' when the answer does not say. */
  detail: string
  /** The service's name for the request; null when there was no answer. */
  requestId: string | null
  /** Milliseconds the service asks to be left alone for; null when it does not say. */
  retryAfterMs: number | null
  /** The body as it came, parsed when it was JSON. */
  body: unknown
}

type Sent<O> = O extends Operation<infer _Input, infer _Output, infer S> ? S : never
type Output<O> = O extends Operation<infer _Input, infer Answer, infer _Sent> ? Answer : never

type DriftStep = Sent<typeof logDrift>

type OwnField =
  | ('run_id' | 'agent_id' | 'ground' | 'user_turn' | 'step_id')
  | ('pair' | 'arm' | 'detector')

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name

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
