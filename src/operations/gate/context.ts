import type { Collision, FleetRun } from '../../core/accounts/team.ts'
import type { Tier, TierName } from '../../core/accounts/tiers.ts'
import type { WebhookAllowance } from '../../core/alerts/public-url.ts'
import type { Adaptation } from '../../core/detector/contract/adaptation.ts'
import type { DetectorName } from '../../core/detector/contract/detector.ts'
import type { Verdict } from '../../core/detector/detect.ts'
import type { ResultSettings } from '../../core/runs/entry.ts'
import type { Encoder } from '../../encoder/encoder.ts'
import type { Channels } from '../../jobs/channels.ts'
import type { Decisions } from '../../jobs/decisions.ts'
import type { WaitingActs } from '../../jobs/waiting-acts.ts'
import type { Embeddings } from '../../outbound/embeddings.ts'
import type { Guide } from '../../outbound/guide.ts'
import type { Identity } from '../../outbound/identity.ts'
import type { Mail } from '../../outbound/mail.ts'
import type { Payment } from '../../outbound/payment.ts'
import type { Webhooks } from '../../outbound/webhook.ts'
import type { Account } from '../../storage/accounts.ts'
import type { Store } from '../../storage/store.ts'
import type { AnswerTimes } from './answer-times.ts'
import type { InFlight } from './in-flight.ts'

/** The account or key that an operation has changed. */
export interface Changed {
  /** Defaults to the account of the caller's key. */
  account?: string
  tier?: string
  key_id?: string
  /** The first characters of the key. */
  prefix?: string
  /** The id of the key that the new one replaces. */
  replaces?: string
}

/** A change as the log records it, with its author. It holds no secret. */
export interface Change extends Changed {
  /** The name of the operation. */
  action: string
  request_id: string | undefined
  /** The bucket of the caller's address. */
  address: string
}

/** The dependencies of all operations: the settings, the store, and time and chance as values. */
export interface Service {
  readonly settings: Settings
  readonly store: Store
  readonly decisions: Decisions
  /** The acts of hosts that are answered and not stored yet. */
  readonly waitingActs: WaitingActs
  /** The streams of this node. */
  readonly channels: Channels
  /** The exports in flight on this node, by account. */
  readonly exports: InFlight
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
  /** Makes an id that cannot be guessed: `prefix_` and 22 base62 characters. */
  newId(prefix: string): string
  /** Makes a key of an account. Only one answer shows it. */
  newKey(): string
  /** Makes a token of 256 random bits, 43 characters of base64url. */
  newToken(): string
  /** Makes a secret that signs events: `whsec_` and base64. */
  newWebhookSecret(): string
  /** SHA-256 in base64url. */
  hash(text: string): string
  /** Whether the credential is the operator's. Compares in constant time. */
  isAdminToken(credential: string): boolean
  /** Encrypts a text with a secret. */
  seal(text: string, secret: string): string
  /** Decrypts a sealed text. Returns null if it was sealed with another secret. */
  unseal(sealed: string, secret: string): string | null
  /** Counts a verdict that is not stored in the metrics. The store reports the stored ones. */
  countVerdict(verdict: Verdict): void
  readonly webhooks: Webhooks
  /** null if mail is not configured. */
  readonly mail: Mail | null
  /** The identity provider by which people sign in; null if none is configured. */
  readonly identity: Identity | null
  /** The payment provider; null if none is configured. */
  readonly payment: Payment | null
  /** The chat endpoint of `ask_alice`; null if none is configured. */
  readonly guide: Guide | null
  /** The embeddings endpoint, asked only about uncertain steps; null if none is configured. */
  readonly embeddings: Embeddings | null
  /** Reads goals beside errands in this process; null if it is switched off or its file is missing. */
  readonly encoder: Encoder | null
  /** Warns the operator of subscriptions that an erased account leaves going on at the payment provider. */
  logUnendedSubscriptions(account: string, subscriptions: readonly string[]): void
  /** Logs a change of an account or key. */
  logChange(change: Change): void
  /** Finds the collisions among the live runs of a team, in slices. */
  findCollisions(live: readonly FleetRun[]): Promise<Collision[]>
  /** The digest tests in flight, by account: one at a time, because a digest reads all runs of an account. */
  readonly digestTests: InFlight
  /** How long hooks waited for their answers. */
  readonly answerTimes: AnswerTimes
  /** Logs that a webhook was refused, with the setting that exempts its host. */
  logRefusedWebhook(): void
  /** Set in tests. Checks every answer against the output schema of its operation. */
  readonly checkAnswers: boolean
}

/** The settings that operations read. */
export interface Settings {
  /** The detector of requests that name none. */
  readonly detector: DetectorName
  /** The adaptation table of this server, or null. */
  readonly adaptation: Adaptation | null
  /** The score above which a step is drift for the default detector; null for the built-in one. */
  readonly limit: number | null
  /** Daily calls of an address on `/v1/check`; 0 is unlimited. */
  readonly checkPerDay: number
  /** Daily tool calls of an address without a key on `/mcp`; 0 is unlimited. */
  readonly toolsPerDay: number
  /** How results go to the operator's collector; null without one. */
  readonly results: ResultSettings | null
  readonly tiers: readonly Tier[]
  /** The webhooks that are exempt from the rule "https on a public host". */
  readonly webhookAllow: WebhookAllowance
  /** The base URL of this server, without a trailing slash. */
  baseUrl(): string
  /** The prices at the payment provider of the tiers that this server sells; empty without a provider. */
  readonly prices: ReadonlyMap<TierName, string>
  /** The operator's own page for a higher tier; null for none. */
  readonly upgradePage: string | null
  /** The address at which a caller gets a higher tier; the page of this server if it sells none. */
  upgradeUrl(): string
}

/** The context of a keyed operation: the service, the account and its tier. */
export interface Keyed extends Service {
  readonly account: Account
  readonly tier: Tier
  /** The stored session of the browser that calls; null for a call with a key. */
  readonly session: string | null
  /** See `Call.gone`. */
  gone(): AbortSignal
  /** See `Admitted.stands`. */
  stands(): Promise<boolean>
}
