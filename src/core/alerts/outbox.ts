import { isoTime, minuteMs } from '../time.ts'
import {
  type AlertConfig,
  type NewAlert,
  type Severity,
  severityOf,
  suppressionOf,
} from './alerts.ts'
import {
  closeIncident,
  closingAdvice,
  type Incident,
  type IncidentState,
  openIncident,
  partOfIncident,
  updateIncident,
} from './incidents.ts'

/** A step that drifts, or one with which its agent returns to the ground. */
export interface Happening extends NewAlert {
  drifting: boolean
}

/** What an account says of alerts, and the last number it gave to an event, log entry or incident. */
export interface AlertAccount {
  config: AlertConfig | null
  seq: number
}

/** One line of the alert log. Times are milliseconds since 1970. */
export interface LogEntry {
  ts: number
  run_id: string
  reason: string
  severity: Severity
  phi: number
  delivered: boolean
  /** Of the webhook's answer, 0 when there was none. */
  status: number
  /** Null when it was delivered. */
  detail: string | null
}

/** An event that is to be delivered. What it says never changes, however often it is sent. */
export interface OutboxEvent {
  ts: number
  run_id: string
  goal: string | null
  reason: string
  severity: Severity
  phi: number
  advice: string
  incident: EventIncident | null
}

/** What an event says of the incident it belongs to. */
export interface EventIncident {
  id: string
  state: IncidentState
  /** Drifting steps so far. */
  steps: number
  /** ISO 8601. */
  opened: string
}

/** Something an account has numbered. */
export interface Numbered<T> {
  account: string
  seq: number
  value: T
}

/** What becomes of happenings: each is sent, or logged with the reason why not, or both are needless. */
export interface Decided {
  events: Numbered<OutboxEvent>[]
  log: Numbered<LogEntry>[]
  /** Each changed incident in its last state. */
  incidents: Numbered<Incident>[]
}

/**
 * Decides happenings in their order. `accounts` has every account among them, `open` the open incidents
 * of their agents: all of those that return, and of those that drift where the account has incidents on.
 */
export function decideAlerts(
  happenings: readonly Happening[],
  accounts: ReadonlyMap<string, AlertAccount>,
  open: readonly Numbered<Incident>[],
): Decided {
  const decided: Decided = { events: [], log: [], incidents: [] }
  const lastSeq = new Map([...accounts].map(([account, { seq }]) => [account, seq]))
  const going = new Map<string, Numbered<Incident>>()
  for (const each of open) going.set(keyOf(each.account, each.value), each)
  const changed = new Map<string, Numbered<Incident>>()

  function numbered<T>(account: string, value: T): Numbered<T> {
    const seq = (lastSeq.get(account) ?? 0) + 1
    lastSeq.set(account, seq)
    return { account, seq, value }
  }

  function change(incident: Numbered<Incident>): void {
    const { account, seq, value } = incident
    changed.set(`${account}\0${seq}`, incident)
    if (value.closed === null) going.set(keyOf(account, value), incident)
    else going.delete(keyOf(account, value))
  }

  function suppress(happening: NewAlert, severity: Severity, detail: string): void {
    const entry = suppressedEntry({ ...happening, severity }, happening.ts, detail)
    decided.log.push(numbered(happening.account, entry))
  }

  function send(
    { account, ...rest }: NewAlert,
    severity: Severity,
    incident: EventIncident | null,
  ): number {
    const { ts, run_id, goal, reason, phi, advice } = rest
    const event = { ts, run_id, goal, reason, severity, phi, advice, incident }
    const sent = numbered(account, event)
    decided.events.push(sent)
    return sent.seq
  }

  function drift(happening: NewAlert, config: AlertConfig | null): void {
    const severity = severityOf(config, happening.reason)
    const suppression = suppressionOf(config, happening)
    if (suppression !== null || config === null) {
      suppress(happening, severity, suppression ?? '')
    } else if (config.incidents !== true || happening.reason.startsWith('escalation:')) {
      // Each escalation asks a person something of its own.
      send(happening, severity, null)
    } else {
      driftInIncident(happening, severity, config)
    }
  }

  function driftInIncident(happening: NewAlert, severity: Severity, config: AlertConfig): void {
    const { account } = happening
    const earlier = going.get(keyOf(account, happening))
    if (earlier === undefined) {
      const opened = numbered(account, openIncident(happening, severity))
      change(opened)
      send(happening, severity, tell(opened, 'opened'))
      return
    }
    const { renotify_minutes } = config
    const renotifyMs = renotify_minutes === undefined ? null : renotify_minutes * minuteMs
    const { incident, notify } = updateIncident(earlier.value, happening, severity, renotifyMs)
    const updated = { ...earlier, value: incident }
    change(updated)
    if (notify) send(happening, severity, tell(updated, 'continues'))
    else suppress(happening, severity, partOfIncident)
  }

  function comeBack(happening: NewAlert, config: AlertConfig | null): void {
    const { account, ts } = happening
    const agent = agentKey(account, happening)
    const own = [...going.values()].filter((each) => agentKey(each.account, each.value) === agent)
    for (const each of own) {
      const closed = { ...each, value: closeIncident(each.value, ts) }
      const { reason, severity, max_phi } = closed.value
      change(closed)
      if (config?.incidents !== true) continue
      const alert = { ...happening, reason, advice: closingAdvice(closed.value) }
      const suppression = suppressionOf(config, { reason, phi: max_phi })
      if (suppression === null) send(alert, severity, tell(closed, 'closed'))
      else suppress(alert, severity, suppression)
    }
  }

  for (const { drifting, ...happening } of happenings) {
    const config = accounts.get(happening.account)?.config ?? null
    if (drifting) drift(happening, config)
    else comeBack(happening, config)
  }
  decided.incidents.push(...changed.values())
  return decided
}

/** What the log says of an event that is not sent, at `ts`. */
export function suppressedEntry(
  { run_id, reason, severity, phi }: Pick<OutboxEvent, 'run_id' | 'reason' | 'severity' | 'phi'>,
  ts: number,
  detail: string,
): LogEntry {
  return { ts, run_id, reason, severity, phi, delivered: false, status: 0, detail }
}

/** The id of an incident within its account. */
export function incidentId(seq: number): string {
  return `inc_${seq.toString(36)}`
}

/** The id of an event, which stays the same however often it is sent. */
export function eventId(account: string, ts: number, seq: number): string {
  return `msg_${account.replace(/^acct_/, '')}_${ts.toString(36)}_${seq.toString(36)}`
}

/** The number in an event's id; it is of this account only if `eventId` makes the same id of it. */
export function seqOf(id: string): number {
  const seq = Number.parseInt(id.slice(id.lastIndexOf('_') + 1), 36)
  return Number.isSafeInteger(seq) ? seq : 0
}

function tell({ seq, value }: Numbered<Incident>, state: IncidentState): EventIncident {
  const { steps, opened } = value
  return { id: incidentId(seq), state, steps, opened: isoTime(opened) }
}

function keyOf(account: string, incident: Agent & Pick<Incident, 'reason'>): string {
  return [agentKey(account, incident), incident.reason].join('\0')
}

type Agent = Pick<Incident, 'run_id' | 'dialogue' | 'agent_id'>

/** Whose incidents: an agent's of a run, or a dialogue's. */
export function agentKey(account: string, { run_id, dialogue, agent_id }: Agent): string {
  return [account, dialogue ? 'dialogue' : 'run', run_id, agent_id].join('\0')
}
