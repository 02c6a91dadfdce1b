import { gravity, type NewAlert, type Severity } from './alerts.ts'

/** The drift of one agent of a run for one reason, from its first step to the return to the ground. */
export interface Incident {
  run_id: string
  /** Whether `run_id` names a dialogue. */
  dialogue: boolean
  /** '' is the main agent. */
  agent_id: string
  reason: string
  /** The highest severity that was sent. */
  severity: Severity
  /** Milliseconds since 1970, as the other times. */
  opened: number
  updated: number
  /** Time of the last event. */
  notified: number
  /** Null while it is open. */
  closed: number | null
  /** Drifting steps so far. */
  steps: number
  /** The phi of the last drifting step. */
  phi: number
  max_phi: number
}

/** The state that an event of an incident reports. */
export type IncidentState = 'opened' | 'continues' | 'closed'

/** The log detail of a step whose open incident needs no event. */
export const partOfIncident = 'part of an open incident'

type Drift = Pick<NewAlert, 'run_id' | 'dialogue' | 'agent_id' | 'reason' | 'phi' | 'ts'>

/** Opens the incident of a drifting step. */
export function openIncident(
  { run_id, dialogue, agent_id, reason, phi, ts }: Drift,
  severity: Severity,
): Incident {
  return {
    run_id,
    dialogue,
    agent_id,
    reason,
    severity,
    opened: ts,
    updated: ts,
    notified: ts,
    closed: null,
    steps: 1,
    phi,
    max_phi: phi,
  }
}

/**
 * Adds a drifting step to an open incident, and decides whether to send an event: if the severity exceeds
 * the sent one, or `renotifyMs` have passed since the last event (null is never).
 */
export function updateIncident(
  incident: Incident,
  { phi, ts }: Pick<Drift, 'phi' | 'ts'>,
  severity: Severity,
  renotifyMs: number | null,
): { incident: Incident; notify: boolean } {
  const rises = gravity(severity) > gravity(incident.severity)
  const notify = rises || (renotifyMs !== null && ts - incident.notified >= renotifyMs)
  return {
    notify,
    incident: {
      ...incident,
      severity: rises ? severity : incident.severity,
      updated: Math.max(incident.updated, ts),
      notified: notify ? ts : incident.notified,
      steps: incident.steps + 1,
      phi,
      max_phi: Math.max(incident.max_phi, phi),
    },
  }
}

/** Closes an incident when its agent returns to the ground. */
export function closeIncident(incident: Incident, at: number): Incident {
  return { ...incident, closed: Math.max(at, incident.updated) }
}

/** Whether a reason means that the agent is on its errand. */
export function isOnErrand(reason: string): boolean {
  return onErrand.includes(reason)
}

const onErrand = ['grounded', 'advancing', 'excursion']

/** The advice of an event that closes an incident. */
export function closingAdvice({ steps, opened, closed }: Incident): string {
  const minutes = Math.round(((closed ?? opened) - opened) / 60_000)
  const length = minutes < 1 ? 'less than a minute' : `${minutes} min`
  return `The agent is back on its errand after ${steps} drifting ${steps === 1 ? 'step' : 'steps'} in ${length}.`
}
