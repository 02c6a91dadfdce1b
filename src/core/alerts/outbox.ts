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

/** A step that drifts, or that brings its agent back to the ground. */
export interface Happening extends NewAlert {
  drifting: boolean
}

/** The alert config of an account, and its last used number. */
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
  /** Status of the webhook's answer, 0 without an answer. */
  status: number
  /** Null after delivery. */
  detail: string | null
}

/** An event to deliver. Its content never changes between attempts. */
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

/** The incident fields of an event. */
export interface EventIncident {
  id: string
  state: IncidentState
  /** Drifting steps so far. */
  steps: number
  /** ISO 8601. */
  opened: string
}

/** A value with its number within its account. */
export interface Numbered<T> {
  account: string
  seq: number
  value: T
}

/** The events, log entries and incidents that happenings cause; a happening may cause none. */
export interface Decided {
  events: Numbered<OutboxEvent>[]
  log: Numbered<LogEntry>[]
  /** Each changed incident in its last state. */
  incidents: Numbered<Incident>[]
}

/**
 * Decides happenings in order. `accounts` must hold every account of them. `open` must hold the open
 * incidents of all returning agents, and of drifting agents whose account has incidents on.
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
      // Each escalation is a separate question to a person.
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

/** The log entry of an event that is not sent, at `ts`. */
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

/** The id of an event, the same on every attempt. */
export function eventId(account: string, ts: number, seq: number): string {
  return `msg_${account.replace(/^acct_/, '')}_${ts.toString(36)}_${seq.toString(36)}`
}

/** The number in an event id; compare `eventId` of it to verify that the id belongs to this account. */
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

/** The map key of the subject of an incident: an agent of a run, or a dialogue. */
export function agentKey(account: string, { run_id, dialogue, agent_id }: Agent): string {
  return [account, dialogue ? 'dialogue' : 'run', run_id, agent_id].join('\0')
}
