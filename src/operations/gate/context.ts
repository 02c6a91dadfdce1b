import type { Tier } from '../../core/accounts/tiers.ts'
import type { WebhookAllowance } from '../../core/alerts/public-url.ts'
import type { Adaptation } from '../../core/detector/contract/adaptation.ts'
import type { DetectorName } from '../../core/detector/contract/detector.ts'
import type { Verdict } from '../../core/detector/detect.ts'
import type { Decisions } from '../../jobs/decisions.ts'
import type { Embeddings } from '../../outbound/embeddings.ts'
import type { Guide } from '../../outbound/guide.ts'
import type { Mail } from '../../outbound/mail.ts'
import type { Webhooks } from '../../outbound/webhook.ts'
import type { Account } from '../../storage/accounts.ts'
import type { Store } from '../../storage/store.ts'
import type { OneEach } from './one-each.ts'

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

/** A change that the log tells of, so that it can be told later who made it; it holds no secret. */
export interface Change extends Changed {
  /** The name of the operation. */
  action: string
  request_id: string | undefined
  /** The bucket of the caller's address. */
  address: string
}

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
