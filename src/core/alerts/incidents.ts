import { gravity, type NewAlert, type Severity } from './alerts.ts'

/** The drift of one agent of a run for one reason, from its first step to the return to the ground. */
export interface Incident {
  run_id: string
  /** Whether `run_id` names a dialogue. */
  dialogue: boolean
  /** '' is the main agent. */
  agent_id: string
  reason: string
  /** The gravest it was told of with. */
  severity: Severity
  /** Milliseconds since 1970, as the other times. */
  opened: number
  updated: number
  /** When it was last told of. */
  notified: number
  /** Null while it goes on. */
  closed: number | null
  /** Drifting steps so far. */
  steps: number
  /** Of the last drifting step. */
  phi: number
  max_phi: number
}

/** What an event of an incident says of it. */
export type IncidentState = 'opened' | 'continues' | 'closed'

/** Why a step of an open incident is not told of. */
export const partOfIncident = 'part of an open incident'

type Drift = Pick<NewAlert, 'run_id' | 'dialogue' | 'agent_id' | 'reason' | 'phi' | 'ts'>

/** The incident that a drifting step opens. */
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
 * An open incident after one more drifting step, and whether to tell of it again: when it has become
 * graver than it was told of, or `renotifyMs` have passed since (null is never).
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

/** An incident whose agent has returned to the ground. */
export function closeIncident(incident: Incident, at: number): Incident {
  return { ...incident, closed: Math.max(at, incident.updated) }
}

/** Whether a verdict is one that an agent on its errand gets. */
export function isOnErrand(reason: string): boolean {
  return onErrand.includes(reason)
}

const onErrand = ['grounded', 'advancing', 'excursion']

/** What is said when an incident closes. */
export function closingAdvice({ steps, opened, closed }: Incident): string {
  const minutes = Math.round(((closed ?? opened) - opened) / 60_000)
  const length = minutes < 1 ? 'less than a minute' : `${minutes} min`
  return `The agent is back on its errand after ${steps} drifting ${steps === 1 ? 'step' : 'steps'} in ${length}.`
}
