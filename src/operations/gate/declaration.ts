import { z } from 'zod'
import type { Store } from '../../storage/store.ts'
import type { Changed, Keyed, Service, Settings } from './context.ts'

/** One request as the gate sees it, whatever surface it came through. */
export interface Call {
  readonly method: string
  /** The bucket its address counts in. */
  readonly address: string
  /** The credential as sent; undefined without one, '' if the header or parameter holds no credential. */
  readonly credential: string | undefined
  /** The idempotency key of the header, undefined when there is none. */
  readonly idempotencyKey: string | undefined
  /** The parameters of the address, without the key; a repeated one keeps its last value. */
  readonly query: Readonly<Record<string, string>>
  /** The content type as sent, lower case, without parameters; '' when there is none. */
  readonly contentType: string
  /** The body as text, at most `maxBytes` long (413 beyond). Read only after the gate has counted. */
  readBody(maxBytes: number): Promise<string> | string
  /** Aborted when nobody waits for the answer any more; made when it is asked for. */
  gone(): AbortSignal
  /** Headers of the answer; the gate adds what it learns, refused or not. */
  readonly headers: Record<string, string>
}

/** What a call has sent: the body as text, and the value that body and parameters are read as. */
export interface Received {
  body: string
  sent: unknown
}

/** What goes back. `json` is the body as it was first sent, when an answer is replayed or kept. */
export interface Answer {
  status: number
  body: unknown
  json?: string
  /** What the log is to say of it; a replay says it no more. */
  changed?: Changed
}

/**
 * The rest of a work that waits for something other than its own queries, such as a webhook. It runs
 * outside of any transaction, when what the work wrote before is committed.
 */
export interface Outside<Output> {
  readonly outside: (store: Store) => Promise<Output>
}

/** How a refusal is described: its status, its words and the shape of its body beside `error`. */
export interface DescribedRefusal {
  status: number
  words: readonly [string, ...string[]]
  when: string
  fields: Record<string, z.ZodType>
}

/** The groups interface.md sorts routes by. */
export type Group = 'detector' | 'account' | 'operating' | 'team' | 'field' | 'admin'

/** What an operation declares; the work is given separately, so that its input and context are typed. */
export interface Declaration<Input, Output, Sent = unknown> {
  /** Stable name, `noun.verb`. */
  name: string
  group: Group
  summary: string
  description?: string
  http: { method: 'GET' | 'POST' | 'DELETE'; path: `/v1/${string}` }
  /** `Sent` is what a caller may send, `Input` what the work receives. */
  input: z.ZodType<Input, Sent>
  output: z.ZodType<Output>
  /** The JSON of an answer as `bytesOf` gives it, where that can be had for less than `JSON.stringify`. */
  write?(output: NoInfer<Output>): string
  /** Status of a good answer; 200 unless given. */
  status?: 201
  refusals?: readonly DescribedRefusal[]
  /** Whether the answer holds a secret: kept for replays, only the same credential can read it. */
  secret?: true
  /** What the log says of it, where it changes accounts or keys. */
  changes?(output: NoInfer<Output>, input: NoInfer<Input>): Changed
  /** Whether its work logs steps once and uses the store for nothing else; see `replayable`. */
  logs?: true
  /**
   * What a body's `step_id` is unique within: the field that names it, and the name when none is sent.
   * Unless given `run_id`, and the run `run`. `says` is what a body says however it is spelled, null when
   * it is at fault; by it a step that comes alone is known again in a batch.
   */
  stepsOf?: { field: string; unnamed: string; says?(body: unknown): string | null }
  /** Largest body it reads; 256 KiB unless given. */
  maxBodyBytes?: number
  /**
   * Turns body and parameters into what `input` reads, where they are not simply JSON. It may answer
   * a promise and take its time, which the work inside an idempotency key's transaction may not.
   */
  read?(body: string, call: Call): unknown
}

/** What only keyed operations declare. */
export interface KeyedDeclaration<Input, Output, Sent = unknown>
  extends Declaration<Input, Output, Sent> {
  /** The flag of the tier table that the account's tier must have, and what it is told without it (402). */
  paid?: { flag: 'alerts' | 'digest'; detail: string }
  /** Whether a call leaves the daily quota alone. */
  unmetered?: true
  /**
   * Finds out what the work can then have without waiting. It runs before the work and outside of any
   * transaction, also for a request whose answer is then replayed.
   */
  ahead?(context: Keyed, sent: unknown): Promise<void>
}

/** Something that can be asked: plain data and one function, which throws a Refusal for any other answer. */
export interface Operation<Input = unknown, Output = unknown, Sent = unknown>
  extends Declaration<Input, Output, Sent> {
  /** Whether it needs a key, for the description. */
  readonly access: 'open' | 'keyed' | 'admin'
  answer(service: Service, call: Call): Promise<Answer>
}

/** Calls a day that one address may make: the name of its counter and the setting that limits it. */
export interface AddressLimit {
  counter: string
  /** The setting with which the operator raises it; the refusal names it. */
  setting: 'PLUMBLINE_CHECK_PER_DAY' | 'PLUMBLINE_TOOLS_PER_DAY'
  perDay(settings: Settings): number
}

/** Refusals described where several operations share them. */
export const badRequest: DescribedRefusal = {
  status: 400,
  words: ['bad_request'],
  when: 'A field is missing or invalid. `detail` names it.',
  fields: { detail: z.string() },
}
