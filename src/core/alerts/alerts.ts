import type { Swap } from '../detector/contract/findings.ts'
import { isoTime } from '../time.ts'
import type { AloneLimit } from './alone.ts'
import { readWebhookUrl, type WebhookAllowance } from './public-url.ts'

/** Severities, highest first. */
export const severities = ['critical', 'warn', 'info'] as const

export type Severity = (typeof severities)[number]

/**
 * The configurable drift modes with their default severity. Leaving the errand is critical; an agent's own
 * report or a wrong spelling is a warning; a stall is information.
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

/** Default severity for reasons that are not alert modes. */
const otherwise: Severity = 'warn'

/** The settings of one mode. */
export interface ModeOverride {
  on: boolean
  severity: Severity
  url?: string
  /** 0–1; overrides the value of the account. */
  min_phi?: number
}

/** The alert config of an account. */
export interface AlertConfig {
  url: string
  /** 0–1: events below it are not delivered. */
  min_phi: number
  /** Time of the last change, ISO 8601. */
  created: string
  modes?: { [Mode in AlertMode]?: ModeOverride }
  /** Whether to send one event when drift starts and one when it ends, instead of one for each step. */
  incidents?: true
  /** Minutes between reminders of an open incident. */
  renotify_minutes?: number
  /** From when on an agent that works alone is told; absent is never. */
  unattended?: AloneLimit
}

/** The signing secrets: the current one, and the previous one while it is valid. */
export interface AlertSecrets {
  secret: string
  old_secret: string | null
  /** Milliseconds since 1970; null without an old secret. */
  old_secret_until: number | null
}

/** What the step of an alert held, so that a reader knows which errand it left and how. */
export interface AboutStep {
  ground: string | null
  why: string
  /** The number of the step in its run. */
  step: number
  /** '' is the main agent. */
  agent_id: string
  /** 0–1; null under the published rules. */
  drift_probability: number | null
  swap: Swap | null
}

/** A step, turn or escalation that may cause an alert. */
export interface NewAlert {
  account: string
  run_id: string
  /** Whether `run_id` names a dialogue; dialogues and runs can have the same id. */
  dialogue: boolean
  /** '' is the main agent. */
  agent_id: string
  goal: string | null
  /** A drift reason, or `escalation:` and its reason. */
  reason: string
  phi: number
  advice: string
  /** Milliseconds since 1970. */
  ts: number
  /** What the step held; absent for a turn of a dialogue and an escalation. */
  about?: AboutStep
  /** Whether the step before it drifted for the same reason; absent is no. */
  continues?: boolean
  /** Whether the budget of the account holds it back; absent is no. */
  held?: boolean
}

/** The reason of the event that says that an agent has worked alone for long. */
export const unattendedReason = 'unattended'

/** Highest numbers of minutes and acts of its limit. */
export const maxUnattended = { minutes: 10_080, acts: 100_000 } as const

/** The log detail of an alarm that the budget holds back. */
export const heldByBudget = 'held by your budget'

/** The log detail of an event without a valid address. */
export const noWebhook = 'no valid webhook configured'

/** Longest reminder interval, in minutes. */
export const maxRenotifyMinutes = 10_080

/**
 * Reads the config from a body of `POST /v1/alerts` at `now` (milliseconds since 1970); null if the url is
 * not allowed. Other fields are read leniently: an unusable value becomes the default or is dropped.
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
  const unattended = readAloneLimit(fields.unattended)
  return {
    url,
    min_phi: readMinPhi(fields.min_phi),
    created: isoTime(now),
    ...(modes === null ? {} : { modes }),
    ...(fields.incidents === true ? { incidents: true } : {}),
    ...(fields.incidents === true && renotify >= 1
      ? { renotify_minutes: Math.min(renotify, maxRenotifyMinutes) }
      : {}),
    ...(unattended === null ? {} : { unattended }),
  }
}

/** The limit of an agent that works alone; null without a usable number of minutes. */
function readAloneLimit(value: unknown): AloneLimit | null {
  const { minutes, acts } = fieldsOf(value)
  const read = (given: unknown, most: number) => Math.min(Math.floor(readNumber(given)), most)
  const limit = {
    minutes: read(minutes, maxUnattended.minutes),
    acts: Math.max(1, read(acts, maxUnattended.acts)),
  }
  return limit.minutes >= 1 ? limit : null
}

/** The severity of this reason for the account. */
export function severityOf(config: AlertConfig | null, reason: string): Severity {
  return overrideOf(config, reason)?.severity ?? defaultSeverityOf(reason)
}

/** Why an event must not be delivered, or null if it may. */
export function suppressionOf(
  config: AlertConfig | null,
  { reason, phi }: Pick<NewAlert, 'reason' | 'phi'>,
): string | null {
  if (config === null) return noWebhook
  const override = overrideOf(config, reason)
  if (override?.on === false) return `${reason} muted`
  return phi < (override?.min_phi ?? config.min_phi) ? 'below min_phi' : null
}

/** The address for an event of this reason, or null if no address is allowed (any more). */
export function targetOf(
  config: AlertConfig | null,
  reason: string,
  allow: WebhookAllowance,
): string | null {
  if (config === null) return null
  const own = readWebhookUrl(overrideOf(config, reason)?.url, allow)
  return own ?? readWebhookUrl(config.url, allow)
}

/** The signing secrets at a time (milliseconds since 1970), newest first. */
export function signingSecrets(secrets: AlertSecrets | null, at: number): string[] {
  if (secrets === null) return []
  const { secret, old_secret, old_secret_until } = secrets
  return old_secret !== null && (old_secret_until ?? 0) > at ? [secret, old_secret] : [secret]
}

/** The rank of a severity: higher is more severe. */
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

/** Coerces to a number in 0–1; 0 if it is not a number. */
function readMinPhi(value: unknown): number {
  return Math.min(1, Math.max(0, readNumber(value)))
}

/** As `Number`, but 0 for invalid numbers. Objects are not converted, because their conversion may throw. */
function readNumber(value: unknown): number {
  let inner = value
  while (Array.isArray(inner) && inner.length === 1) inner = inner[0]
  const number = typeof inner === 'object' ? 0 : Number(inner)
  return Number.isNaN(number) ? 0 : number
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads own fields only, so that a name such as `constructor` has no value. */
function fieldsOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? Object.assign(Object.create(null), value) : Object.create(null)
}
