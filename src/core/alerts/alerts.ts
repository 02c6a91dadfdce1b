import { isoTime } from '../time.ts'
import { readWebhookUrl, type WebhookAllowance } from './public-url.ts'

/** How grave an event is, gravest first. */
export const severities = ['critical', 'warn', 'info'] as const

export type Severity = (typeof severities)[number]

/**
 * The drift modes an account can configure, and how grave each is by default. A run that left its
 * errand is critical; what an agent says of itself, or spells wrongly, warns; a stall informs.
 */
export const alertModes = {
  ungrammatical: 'warn',
  'goal-drift': 'critical',
  'self-report:stuck': 'warn',
  'self-report:circling': 'warn',
  stalled: 'info',
} as const satisfies Record<string, Severity>

export type AlertMode = keyof typeof alertModes

/** The names of the drift modes. */
export const alertModeNames = Object.keys(alertModes) as [AlertMode, ...AlertMode[]]

/** How grave a reason is that is no mode: an escalation, or the drift of a dialogue. */
const otherwise: Severity = 'warn'

/** What an account says of one mode. */
export interface ModeOverride {
  on: boolean
  severity: Severity
  url?: string
  /** 0–1; in place of the account's. */
  min_phi?: number
}

/** Where an account wants to hear of drift, and of which. */
export interface AlertConfig {
  url: string
  /** 0–1: events below it are not delivered. */
  min_phi: number
  /** ISO 8601; when it was last written. */
  created: string
  modes?: { [Mode in AlertMode]?: ModeOverride }
  /** One event when a run begins to drift and one when it returns, instead of one for each step. */
  incidents?: true
  /** Minutes after which an incident that goes on is told of again. */
  renotify_minutes?: number
}

/** What signs the events of an account: the secret, and the one before it while it still counts. */
export interface AlertSecrets {
  secret: string
  old_secret: string | null
  /** Milliseconds since 1970; null without an old secret. */
  old_secret_until: number | null
}

/** A step, turn or escalation that somebody may want to hear of. */
export interface NewAlert {
  account: string
  run_id: string
  /** Whether `run_id` names a dialogue; one may be called as a run is. */
  dialogue: boolean
  /** '' is the main agent. */
  agent_id: string
  goal: string | null
  /** A drift reason, or `escalation:` and the reason of one. */
  reason: string
  phi: number
  advice: string
  /** Milliseconds since 1970. */
  ts: number
}

/** Why an event is not sent when no address is left to send it to. */
export const noWebhook = 'no valid webhook configured'

/** Longest time after which an incident is told of again, in minutes. */
export const maxRenotifyMinutes = 10_080

/**
 * The config a body of `POST /v1/alerts` sets at `now` (milliseconds since 1970), or null when its url
 * is none that events may be sent to. Everything else is read leniently: what cannot be used is
 * replaced by its default or left out.
 */
export function readAlertConfig(
  body: unknown,
  now: number,
  allow: WebhookAllowance,
): AlertConfig | null {
  const fields = fieldsOf(body)
  const url = readWebhookUrl(fields.url, allow)
  if (url === null) return null
  const modes = readModes(fields.modes, allow)
  const renotify = Math.floor(readNumber(fields.renotify_minutes))
  return {
    url,
    min_phi: readMinPhi(fields.min_phi),
    created: isoTime(now),
    ...(modes === null ? {} : { modes }),
    ...(fields.incidents === true ? { incidents: true } : {}),
    ...(fields.incidents === true && renotify >= 1
      ? { renotify_minutes: Math.min(renotify, maxRenotifyMinutes) }
      : {}),
  }
}

/** How grave an event of this reason is to the account. */
export function severityOf(config: AlertConfig | null, reason: string): Severity {
  return overrideOf(config, reason)?.severity ?? defaultSeverityOf(reason)
}

/** Why an event is not to be delivered, or null when it is. */
export function suppressionOf(
  config: AlertConfig | null,
  { reason, phi }: Pick<NewAlert, 'reason' | 'phi'>,
): string | null {
  if (config === null) return noWebhook
  const override = overrideOf(config, reason)
  if (override?.on === false) return `${reason} muted`
  return phi < (override?.min_phi ?? config.min_phi) ? 'below min_phi' : null
}

/** Where an event of this reason goes, or null when neither address passes (any more). */
export function targetOf(
  config: AlertConfig | null,
  reason: string,
  allow: WebhookAllowance,
): string | null {
  if (config === null) return null
  const own = readWebhookUrl(overrideOf(config, reason)?.url, allow)
  return own ?? readWebhookUrl(config.url, allow)
}

/** The secrets that sign at a time (milliseconds since 1970), the newest first. */
export function signingSecrets(secrets: AlertSecrets | null, at: number): string[] {
  if (secrets === null) return []
  const { secret, old_secret, old_secret_until } = secrets
  return old_secret !== null && (old_secret_until ?? 0) > at ? [secret, old_secret] : [secret]
}

/** How far up a severity stands: more is graver. */
export function gravity(severity: Severity): number {
  return -severities.indexOf(severity)
}

function overrideOf(config: AlertConfig | null, reason: string): ModeOverride | undefined {
  return isMode(reason) ? config?.modes?.[reason] : undefined
}

function defaultSeverityOf(reason: string): Severity {
  return isMode(reason) ? alertModes[reason] : otherwise
}

function isMode(reason: string): reason is AlertMode {
  return Object.hasOwn(alertModes, reason)
}

function readModes(
  value: unknown,
  allow: WebhookAllowance,
): NonNullable<AlertConfig['modes']> | null {
  const given = fieldsOf(value)
  const read = alertModeNames.flatMap((mode): [AlertMode, ModeOverride][] =>
    isObject(given[mode]) ? [[mode, readOverride(given[mode], mode, allow)]] : [],
  )
  return read.length === 0 ? null : Object.fromEntries(read)
}

function readOverride(value: object, mode: AlertMode, allow: WebhookAllowance): ModeOverride {
  const { on, severity, url, min_phi } = fieldsOf(value)
  const ownUrl = readWebhookUrl(url, allow)
  return {
    on: on !== false,
    severity: severities.find((each) => each === severity) ?? alertModes[mode],
    ...(ownUrl === null ? {} : { url: ownUrl }),
    ...(min_phi === undefined || min_phi === null ? {} : { min_phi: readMinPhi(min_phi) }),
  }
}

/** Coerced to a number and clamped to 0–1; 0 when it is none. */
function readMinPhi(value: unknown): number {
  return Math.min(1, Math.max(0, readNumber(value)))
}

/** As `Number` reads it, 0 for what is none. Of objects nothing is read: their conversion may throw. */
function readNumber(value: unknown): number {
  let inner = value
  while (Array.isArray(inner) && inner.length === 1) inner = inner[0]
  const number = typeof inner === 'object' ? 0 : Number(inner)
  return Number.isNaN(number) ? 0 : number
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Own fields alone: a name such as `constructor` is none. */
function fieldsOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? Object.assign(Object.create(null), value) : Object.create(null)
}
