import { z } from 'zod'
import type { Store } from '../../storage/store.ts'
import type { Changed, Keyed, Service, Settings } from './context.ts'

/** The browser that sends a call, with the cookie of its session. */
export interface Browser {
  /** The token in the cookie; null without one. */
  readonly session: string | null
  /** The token against requests that other sites make a browser send; undefined without one. */
  readonly csrf: string | undefined
  /** What sends the call, as its headers say. A program can claim to be a page, and then has its allowance. */
  readonly sender: 'own page' | 'program' | 'another page'
  /** Whether a person opens the address, so that the answer is a page to see. */
  readonly isVisit: boolean
  /** Sets the cookie of the session with the answer; null takes it away. */
  keepSession(token: string | null): void
}

/** One request as the gate sees it, from any surface. */
export interface Call {
  readonly method: string
  /** The caller's address in canonical form, or `unknown`. The daily limits count by it. */
  readonly address: string
  /** The credential; undefined without one, '' if the header or parameter holds no credential. */
  readonly credential: string | undefined
  /** The browser that calls; undefined where no cookie counts, such as for tools and hooks. */
  readonly browser?: () => Browser
  /** The idempotency key of the header; undefined without one. */
  readonly idempotencyKey: string | undefined
  /** The parameters of the URL without the key. A repeated parameter keeps its last value. */
  readonly query: Readonly<Record<string, string>>
  /** The content type in lower case, without parameters; '' without one. */
  readonly contentType: string
  /** The id of the last event that the caller has had of a stream. */
  readonly lastEventId?: string | undefined
  /** Reads the body as text, at most `maxBytes` (413). The gate counts the call before it reads. */
  readBody(maxBytes: number): Promise<string> | string
  /** The signal that aborts when the caller has gone. Created on the first call. */
  gone(): AbortSignal
  /** The headers of the answer. The gate adds its own, to refusals too. */
  readonly headers: Record<string, string>
}

/** The context of an operation without a key: the service and the call. */
export interface Visit extends Service {
  readonly call: Call
}

/** An answer. `json` is its body as text if the answer is replayed or recorded for replays. */
export interface Answer {
  status: number
  body: unknown
  json?: string
  /** The change to log; absent from a replay, so that the log has it once. */
  changed?: Changed
}

/**
 * The second part of a work that waits for something other than the database, such as a webhook. It runs
 * outside of transactions, after the commit of the first part.
 */
export interface Outside<Output> {
  readonly outside: (store: Store) => Promise<Output>
}

/** The description of a refusal: its status, its words and the fields of its body besides `error`. */
export interface DescribedRefusal {
  status: number
  words: readonly [string, ...string[]]
  when: string
  fields: Record<string, z.ZodType>
}

/** The groups of routes in the description. */
export type Group = 'detector' | 'account' | 'operating' | 'team' | 'field' | 'admin'

/** The declaration of an operation, without its work. TypeScript infers the types of the work from it. */
export interface Declaration<Input, Output, Sent = unknown> {
  /** The stable name, `noun.verb`. */
  name: string
  group: Group
  summary: string
  description?: string
  http: { method: 'GET' | 'POST' | 'PUT' | 'DELETE'; path: `/v1/${string}` }
  /** `Sent` is the type that a caller sends, `Input` the type that the work gets. */
  input: z.ZodType<Input, Sent>
  output: z.ZodType<Output>
  /** Writes the JSON of an answer in the form of `bytesOf`, for answers that `JSON.stringify` writes slower. */
  write?(output: NoInfer<Output>): string
  /** The content type of an answer that is a stream of texts. Defaults to that of JSON lines. */
  streams?: 'application/x-ndjson' | 'text/event-stream'
  /** The status of a good answer. Defaults to 200. */
  status?: 201
  refusals?: readonly DescribedRefusal[]
  /** Whether the answer holds a secret. Only the same credential can then replay it. */
  secret?: true
  /** The change that the log records, for an operation that changes accounts or keys. */
  changes?(output: NoInfer<Output>, input: NoInfer<Input>): Changed
  /**
   * Reads a request that is not JSON of at most `maxBodyBytes`. It may take its time, which the work inside
   * the transaction of an idempotency key may not.
   */
  read?(call: Call): Promise<ReadRequest>
}

/** How a keyed operation recognises a request that comes again; see `replayable`. */
export interface Repeats {
  /** Whether the work only logs steps, in one call of the store. */
  logs?: true
  /**
   * The scope of a body's `step_id`: the field that names it, and its name in a body without that field.
   * Defaults to `run_id` and the run `run`.
   */
  stepsOf?: { field: string; unnamed: string }
  /**
   * Returns the content of a body independent of its spelling, or null for an invalid body. By its content, a
   * single step is recognised in a later batch.
   */
  contentOf?(body: unknown): string | null
}

/** A read request: the text of its body, by which idempotency keys compare it, and the value for `input`. */
export interface ReadRequest {
  readonly body: string
  readonly sent: unknown
}

/** The largest body of an operation without a `read` of its own. */
export const maxBodyBytes = 256 * 1024

/** The declaration of a keyed operation. */
export interface KeyedDeclaration<Input, Output, Sent = unknown>
  extends Declaration<Input, Output, Sent> {
  /** The flag that the account's tier must have, and the detail of the refusal without it (402). */
  paid?: { flag: 'alerts' | 'digest'; detail: string }
  /** Whether calls do not count against the daily quota. */
  unmetered?: true
  /**
   * Computes slow values ahead of the work, which then finds them in a cache. It runs outside of
   * transactions, and also for a request whose answer is then replayed.
   */
  ahead?(context: Keyed, sent: unknown): Promise<void>
}

/** An operation: plain data and one function. The function throws a `Refusal` to refuse a call. */
export interface Operation<Input = unknown, Output = unknown, Sent = unknown>
  extends Declaration<Input, Output, Sent> {
  /** The credential that the operation needs, for the description. */
  readonly access: 'open' | 'keyed' | 'admin'
  answer(service: Service, call: Call): Promise<Answer>
}

/** A daily limit of calls for each address. */
export interface AddressLimit {
  /** The prefix of the buckets. */
  counter: string
  /** The setting that the operator can raise. The refusal names it. */
  setting: 'PLUMBLINE_CHECK_PER_DAY' | 'PLUMBLINE_TOOLS_PER_DAY'
  perDay(settings: Settings): number
  /** The fixed limit of calls that a page of this server sends, counted apart; absent if they count like any other. */
  fromPage?: { counter: string; perDay: number }
}

/** Describes a refusal with one word, whose body has only a `detail` besides it. */
export function describeRefusal(status: number, word: string, when: string): DescribedRefusal {
  return { status, words: [word], when, fields: { detail: z.string() } }
}

/** The refusal of an invalid request. */
export const badRequest = describeRefusal(
  400,
  'bad_request',
  'A field is missing or invalid. `detail` names it.',
)
