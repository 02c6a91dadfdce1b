import { keyOf } from '../text.ts'
import type { AboutStep, Severity } from './alerts.ts'
import type { Incident, IncidentState } from './incidents.ts'

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
  /**
   * The state of its incident. Outside an incident it tells the drift of the agent for this reason: opened by
   * the first drifting step, continued by the next ones.
   */
  state: IncidentState
  /** What the step held; null for an event without a step. */
  about: AboutStep | null
}

/** Whether this reason is that of an escalation. */
export function isEscalation(reason: string): boolean {
  return reason.startsWith('escalation:')
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

type Agent = Pick<Incident, 'run_id' | 'dialogue' | 'agent_id'>

/** The map key of the subject of an incident: an agent of a run, or a dialogue. */
export function agentKey(account: string, { run_id, dialogue, agent_id }: Agent): string {
  return keyOf(account, dialogue ? 'dialogue' : 'run', run_id, agent_id)
}
