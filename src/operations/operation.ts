import { z } from 'zod'
import type { Adaptation } from '../core/detector/adaptation.ts'
import type { Verdict } from '../core/detector/detect.ts'
import type { DetectorName } from '../core/detector/detectors.ts'
import type { WebhookAllowance } from '../core/public-url.ts'
import { parseJson } from '../core/text.ts'
import type { Tier } from '../core/tiers.ts'
import type { Decisions } from '../jobs/decisions.ts'
import type { Embeddings } from '../outbound/embeddings.ts'
import type { Guide } from '../outbound/guide.ts'
import type { Mail } from '../outbound/mail.ts'
import type { Webhooks } from '../outbound/webhook.ts'
import type { Account } from '../storage/accounts.ts'
import type { Store } from '../storage/store.ts'
import { admitAccount, admitAddress, admitAdmin } from './admission.ts'
import type { OneEach } from './one-each.ts'
import { Refusal } from './refusal.ts'
import {
  adminRefusal,
  keyRefusal,
  paidRefusal,
  rateLimitRefusal,
  replayRefusal,
} from './refusals.ts'
import { replayable, settled } from './replay.ts'

/** What every operation stands on: settings, the store, and the world's time and chance as values. */
export interface Service {
  readonly settings: Settings
  readonly store: Store
  readonly decisions: Decisions
  /** The accounts that an export is under way for. */
  readonly exports: OneEach
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
  /** An id nobody can guess: `prefix_` and 22 base62 characters. */
  newId(prefix: string): string
  /** A new key of an account, to be shown once. */
  newKey(): string
  /** A new secret that signs events, `whsec_` and base64. */
  newWebhookSecret(): string
  /** SHA-256 in base64url. */
  hash(text: string): string
  /** Whether it is the credential of `/v1/admin/*`; compared in constant time. */
  isAdminToken(credential: string): boolean
  /** A text made unreadable but for who knows the secret. */
  seal(text: string, secret: string): string
  /** The text that was sealed, or null when it was with another secret. */
  unseal(sealed: string, secret: string): string | null
  /** Has a verdict counted that is not stored; the store tells of the others when they are. */
  countVerdict(verdict: Verdict): void
  readonly webhooks: Webhooks
  /** null when none is configured. */
  readonly mail: Mail | null
  /** The model endpoint of `ask_alice`; null when none is configured. */
  readonly guide: Guide | null
  /** The endpoint that is asked for what is uncertain; null when none is configured. */
  readonly embeddings: Embeddings | null
  /** Has the log say who changed what. */
  noteChange(change: Change): void
  /** Tests of digests: one for each account, as making it reads all its runs. */
  readonly digestTests: OneEach
  /** Has the log say which setting exempts a webhook's address that the rule refused. */
  noteRefusedWebhook(): void
  /** Set in tests: every answer is checked against its operation's output schema. */
  readonly checkAnswers: boolean
}

/** The settings operations read. */
export interface Settings {
  /** The detector used where the caller chooses none. */
  readonly detector: DetectorName
  /** The table of one's own work that the detector asks, or null. */
  readonly adaptation: Adaptation | null
  /** Calls a day and address on `/v1/check`; 0 is unlimited. */
  readonly checkPerDay: number
  /** Keyless tool calls a day and address on `/mcp`; 0 is unlimited. */
  readonly toolsPerDay: number
  readonly tiers: readonly Tier[]
  /** Webhooks that need not be https on a public host. */
  readonly webhookAllow: WebhookAllowance
  /** This server's own address, without a trailing slash. */
  baseUrl(): string
  /** Where a caller goes for a higher tier. */
  upgradeUrl(): string
}

/** What a keyed operation works with: the service, and whose it is. */
export interface Keyed extends Service {
  readonly account: Account
  readonly tier: Tier
  /** As `Call.gone`. */
  gone(): AbortSignal
}

/** One request as the gate sees it, whatever surface it came through. */
export interface Call {
  readonly method: string
  /** The bucket its address counts in. */
  readonly address: string
  /** The credential as sent, undefined when none was; '' when what was sent is none. */
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

/** A change that the log tells of, so that it can be told later who made it; it holds no secret. */
export interface Change extends Changed {
  /** The name of the operation. */
  action: string
  request_id: string | undefined
  /** The bucket of the caller's address. */
  address: string
}

/** What a change was made of. */
export interface Changed {
  /** The account; that of the caller's key unless given. */
  account?: string
  tier?: string
  key_id?: string
  /** How the key begins. */
  prefix?: string
  /** The key that a new one replaces. */
  replaces?: string
}

/** What goes back. `json` is the body as it was first sent, when an answer is replayed or kept. */
export interface Answer {
  status: number
  body: unknown
  json?: string
  /** What the log is to say of it; a replay says it no more. */
  changed?: Changed
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

/** The work of an operation, once everything else has been seen to. */
type Work<Context, Input, Output> = (
  context: Context,
  input: Input,
) => Promise<Output | Outside<Output>>

/**
 * The rest of a work that waits for something other than its own queries, such as a webhook. It runs
 * outside of any transaction, when what the work wrote before is committed.
 */
export interface Outside<Output> {
  readonly outside: (store: Store) => Promise<Output>
}

/** An operation that anyone may ask, uncounted. */
export function open<Input, Output, Sent>(declaration: Declaration<Input, Output, Sent>) {
  return (work: Work<Service, Input, Output>): Operation<Input, Output, Sent> => ({
    ...declaration,
    access: 'open',
    answer: async (service, call) => {
      const read = await readSent(declaration, call)
      return settled(await perform(declaration, work, service, service, read), service.store)
    },
  })
}

/** An operation that needs no key and counts each caller's address against a daily limit. */
export function perAddress<Input, Output, Sent>(
  limit: AddressLimit,
  declaration: Declaration<Input, Output, Sent>,
) {
  return (work: Work<Service, Input, Output>): Operation<Input, Output, Sent> => ({
    ...declaration,
    access: 'open',
    refusals: [...(declaration.refusals ?? []), rateLimitRefusal],
    async answer(service, call) {
      await admitAddress(service, call, limit)
      const read = await readSent(declaration, call)
      return settled(await perform(declaration, work, service, service, read), service.store)
    },
  })
}

/**
 * An operation of an account: key, tier, daily quota, then the body, the input and the work. A POST
 * with an idempotency key is worked once and answered with the same bytes for 24 hours.
 */
export function keyed<Input, Output, Sent>(declaration: KeyedDeclaration<Input, Output, Sent>) {
  return (work: Work<Keyed, Input, Output>): Operation<Input, Output, Sent> => ({
    ...declaration,
    access: 'keyed',
    refusals: [
      ...(declaration.refusals ?? []),
      keyRefusal,
      ...(declaration.paid === undefined ? [] : [paidRefusal]),
      ...(declaration.unmetered ? [] : [rateLimitRefusal]),
      ...(declaration.http.method === 'POST' ? [replayRefusal] : []),
    ],
    async answer(service, call) {
      const admitted = await admitAccount(service, call, declaration)
      try {
        const read = await readSent(declaration, call)
        await declaration.ahead?.({ ...service, ...admitted, gone: call.gone }, read.sent)
        const account = admitted.account.id
        const answer = await replayable(service, call, account, declaration, read.body, (store) => {
          const context = { ...service, ...admitted, gone: call.gone, store }
          return perform(declaration, work, context, service, read)
        })
        const { changed } = answer
        if (changed !== undefined) {
          noteChange(service, call, declaration.name, { account, ...changed })
        }
        return answer
      } catch (error) {
        if (error instanceof Refusal && uncounted.includes(error.status)) await admitted.uncount()
        throw error
      }
    },
  })
}

/**
 * An operation of whoever runs the server. Its routes exist only while a credential is set, and are
 * described apart from the public ones. A POST is replayed as on keyed routes.
 */
export function admin<Input, Output, Sent>(declaration: Declaration<Input, Output, Sent>) {
  return (work: Work<Service, Input, Output>): Operation<Input, Output, Sent> => ({
    ...declaration,
    access: 'admin',
    refusals: [
      ...(declaration.refusals ?? []),
      adminRefusal,
      ...(declaration.http.method === 'POST' ? [replayRefusal] : []),
    ],
    async answer(service, call) {
      admitAdmin(service, call)
      const read = await readSent(declaration, call)
      const answer = await replayable(service, call, 'admin', declaration, read.body, (store) =>
        perform(declaration, work, { ...service, store }, service, read),
      )
      if (answer.changed !== undefined) {
        noteChange(service, call, declaration.name, answer.changed)
      }
      return answer
    },
  })
}

/** Tells the log of a change, once it is committed. */
function noteChange(
  service: Service,
  { headers, address }: Call,
  action: string,
  changed: Changed,
): void {
  service.noteChange({ action, request_id: headers['x-request-id'], address, ...changed })
}

/** Refusals of the work that leave the daily quota alone. */
const uncounted = [402, 404, 429]

const defaultMaxBodyBytes = 256 * 1024

/** What was sent: the body's bytes as text, and what they and the parameters say. */
async function readSent(
  {
    http,
    maxBodyBytes = defaultMaxBodyBytes,
    read,
  }: Pick<Operation, 'http' | 'maxBodyBytes' | 'read'>,
  call: Call,
): Promise<{ body: string; sent: unknown }> {
  const body = http.method === 'POST' ? await call.readBody(maxBodyBytes) : ''
  // Nothing sent is no field sent: where all of them are optional, a POST needs no body.
  const json = () => (body === '' ? {} : parseJson(body))
  const special = read === undefined ? undefined : await read(body, call)
  return { body, sent: special ?? (http.method === 'POST' ? json() : call.query) }
}

async function perform<Context, Input, Output, Sent>(
  declaration: Declaration<Input, Output, Sent>,
  work: Work<Context, Input, Output>,
  context: Context,
  { checkAnswers }: Service,
  { sent }: { sent: unknown },
): Promise<Answer | Outside<Answer>> {
  const input = declaration.input.safeParse(sent)
  if (!input.success) throw new Refusal(400, 'bad_request', { detail: faultOf(input.error) })
  const { changes } = declaration
  const answer = (output: Output): Answer => ({
    status: declaration.status ?? 200,
    body: checkAnswers ? declaration.output.parse(output) : output,
    ...(changes === undefined ? {} : { changed: changes(output, input.data) }),
  })
  const worked = await work(context, input.data)
  if (!isOutside(worked)) return answer(worked)
  return { outside: async (store) => answer(await worked.outside(store)) }
}

/** Whether something is left to do outside; no answer holds a function. */
function isOutside<Output>(worked: Output | Outside<Output>): worked is Outside<Output> {
  if (typeof worked !== 'object' || worked === null || !('outside' in worked)) return false
  return typeof worked.outside === 'function'
}

/** Refusals described where several operations share them. */
export const badRequest: DescribedRefusal = {
  status: 400,
  words: ['bad_request'],
  when: 'A field is missing or at fault; `detail` names it.',
  fields: { detail: z.string() },
}

function faultOf(error: z.ZodError): string {
  return error.issues
    .map(({ path, message, code }) => {
      if (path.length > 0) return `${path.join('.')}: ${message}`
      return `body: ${code === 'invalid_type' ? 'send a JSON object' : message}`
    })
    .join('; ')
}
