import { z } from 'zod'
import type { DetectorName } from '../core/detector/detectors.ts'
import type { Store } from '../storage/store.ts'
import { Refusal } from './refusal.ts'

/** What every operation stands on: settings, the store, and the world's time as a value. */
export interface Service {
  readonly settings: Settings
  readonly store: Store
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
  /** Set in tests: every answer is checked against its operation's output schema. */
  readonly checkAnswers: boolean
}

/** The settings operations read. */
export interface Settings {
  /** The detector used where the caller chooses none. */
  readonly detector: DetectorName
  /** Calls a day and address on `/v1/check`; 0 is unlimited. */
  readonly checkPerDay: number
}

/** One request as the gate sees it, whatever surface it came through. */
export interface Call {
  /** The bucket its address counts in. */
  readonly address: string
  /** The input as the caller sent it, undefined when it cannot be parsed. Read only after the gate has counted. */
  readInput(): Promise<unknown>
  /** Headers of the answer; the gate adds what it learns, refused or not. */
  readonly headers: Record<string, string>
}

/** How a refusal is described: its status, its words and the shape of its body beside `error`. */
export interface DescribedRefusal {
  status: number
  words: readonly [string, ...string[]]
  when: string
  fields: Record<string, z.ZodType>
}

/** The groups interface.md sorts routes by. */
export type Group = 'detector' | 'account' | 'operating' | 'team' | 'field'

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
  refusals?: readonly DescribedRefusal[]
}

/** Something that can be asked: plain data and one function. */
export interface Operation<Input = unknown, Output = unknown, Sent = unknown>
  extends Declaration<Input, Output, Sent> {
  /** What the gate asks before the input is read: limits of the caller's address, or nothing. */
  admit(service: Service, call: Call): Promise<void>
  work(service: Service, input: Input): Promise<Output>
}

/** Calls a day that one address may make: the name of its counter and the setting that limits it. */
export interface AddressLimit {
  counter: string
  perDay(settings: Settings): number
}

/** An operation that needs no key and counts each caller's address against a daily limit. */
export function perAddress<Input, Output, Sent>(
  limit: AddressLimit,
  declaration: Declaration<Input, Output, Sent>,
): (work: Operation<Input, Output, Sent>['work']) => Operation<Input, Output, Sent> {
  return (work) => ({
    ...declaration,
    refusals: [...(declaration.refusals ?? []), rateLimitRefusal],
    admit: (service, call) => countAddress(service, call, limit),
    work,
  })
}

/**
 * The one gate every surface goes through: admission and count, then the input, then the work.
 * Throws a Refusal for every answer that is not the operation's own.
 */
export async function invoke<Input, Output>(
  service: Service,
  operation: Operation<Input, Output>,
  call: Call,
): Promise<Output> {
  await operation.admit(service, call)
  const input = operation.input.safeParse(await call.readInput())
  if (!input.success) throw new Refusal(400, 'bad_request', { detail: faultOf(input.error) })
  const output = await operation.work(service, input.data)
  return service.checkAnswers ? operation.output.parse(output) : output
}

/**
 * An input that `core` reads leniently: documented and typed as `schema`, but anything passes. The
 * reading rules of the interface cannot be said in a schema, and a stricter gate would break them.
 */
export function lenient<Schema extends z.ZodType>(
  schema: Schema,
): z.ZodType<unknown, z.input<Schema>> {
  const anything = z.unknown().meta(z.toJSONSchema(schema, { io: 'input' }))
  return anything as z.ZodType<unknown, z.input<Schema>>
}

const dayMs = 86_400_000

async function countAddress(service: Service, call: Call, limit: AddressLimit): Promise<void> {
  const perDay = limit.perDay(service.settings)
  if (perDay === 0) return
  const now = service.now()
  const day = Math.floor(now / dayMs)
  const used = await service.store.counters.count(`${limit.counter}:${call.address}`, day)
  const resetSeconds = Math.ceil(((day + 1) * dayMs - now) / 1000)
  call.headers['x-ratelimit-limit'] = String(perDay)
  call.headers['x-ratelimit-remaining'] = String(Math.max(0, perDay - used))
  call.headers['x-ratelimit-reset'] = String(resetSeconds)
  if (used <= perDay) return
  throw new Refusal(
    429,
    'rate_limit',
    {
      detail: `This address has used its ${perDay} calls for today (UTC). They are renewed in ${resetSeconds} seconds.`,
      retry_after_s: resetSeconds,
    },
    { 'retry-after': String(resetSeconds) },
  )
}

const rateLimitRefusal: DescribedRefusal = {
  status: 429,
  words: ['rate_limit'],
  when: 'The daily limit is used up.',
  fields: { detail: z.string(), retry_after_s: z.int().min(0) },
}

function faultOf(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => `${path.length === 0 ? 'body' : path.join('.')}: ${message}`)
    .join('; ')
}
