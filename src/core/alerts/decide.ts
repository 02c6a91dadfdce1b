import { keyOf } from '../text.ts'
import { isoTime, minuteMs } from '../time.ts'
import {
  type AlertConfig,
  heldByBudget,
  type NewAlert,
  type Severity,
  severityOf,
  suppressionOf,
  unattendedReason,
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
import {
  agentKey,
  incidentId,
  isEscalation,
  type LogEntry,
  type Numbered,
  type OutboxEvent,
  suppressedEntry,
} from './outbox.ts'

/** A step that drifts, or that brings its agent back to the ground. */
export interface Happening extends NewAlert {
  drifting: boolean
}

/**
 * The number of a row within its account: one that it has, or the `nth` of the new ones (from 1) that the
 * account gives out when the row is stored.
 */
type RowNumber = { seq: number } | { nth: number }

/** Orders numbers of one account: stored rows are older than new ones. */
function byAge(one: RowNumber, other: RowNumber): number {
  if ('seq' in one) return 'seq' in other ? one.seq - other.seq : -1
  return 'seq' in other ? 1 : one.nth - other.nth
}

/** A row that is decided and not yet stored. */
interface Draft<T> {
  account: string
  number: RowNumber
  value: T
}

/** An event whose incident may not have its number yet. */
interface EventDraft extends Omit<OutboxEvent, 'incident'> {
  incident: { number: RowNumber; state: IncidentState; steps: number; opened: number } | null
}

/** The events, log entries and incidents that happenings cause; a happening may cause none. */
export interface DecidedAlerts {
  /** How many new numbers each account has to give out; an account that needs none is absent. */
  readonly newNumbers: ReadonlyMap<string, number>
  readonly events: readonly Draft<EventDraft>[]
  readonly log: readonly Draft<LogEntry>[]
  /** Each changed incident in its last state. */
  readonly incidents: readonly Draft<Incident>[]
}

/**
 * Decides the alerts of happenings in order. `configs` must hold the config of every account of them, or
 * null. `open` must hold the open incidents of all their agents.
 */
export function decideAlerts(
  happenings: readonly Happening[],
  configs: ReadonlyMap<string, AlertConfig | null>,
  open: readonly Numbered<Incident>[],
): DecidedAlerts {
  const newNumbers = new Map<string, number>()
  const events: Draft<EventDraft>[] = []
  const log: Draft<LogEntry>[] = []
  /** The open incidents by agent and reason. */
  const going = new Map<string, Draft<Incident>>()
  const changed = new Map<RowNumber, Draft<Incident>>()
  for (const { account, seq, value } of open) {
    going.set(incidentKey(account, value), { account, number: { seq }, value })
  }

  function draft<T>(account: string, value: T): Draft<T> {
    const nth = (newNumbers.get(account) ?? 0) + 1
    newNumbers.set(account, nth)
    return { account, number: { nth }, value }
  }

  function change(incident: Draft<Incident>): void {
    const { account, number, value } = incident
    changed.set(number, incident)
    if (value.closed === null) going.set(incidentKey(account, value), incident)
    else going.delete(incidentKey(account, value))
  }

  function suppress(happening: NewAlert, severity: Severity, detail: string): void {
    const entry = suppressedEntry({ ...happening, severity }, happening.ts, detail)
    log.push(draft(happening.account, entry))
  }

  function send(
    { account, ts, run_id, goal, reason, phi, advice, about, continues }: NewAlert,
    severity: Severity,
    incident: EventDraft['incident'],
  ): void {
    events.push(
      draft(account, {
        ts,
        run_id,
        goal,
        reason,
        severity,
        phi,
        advice,
        incident,
        state: incident?.state ?? (continues === true ? 'continues' : 'opened'),
        about: about ?? null,
      }),
    )
  }

  function drift(happening: NewAlert, config: AlertConfig | null): void {
    const severity = severityOf(config, happening.reason)
    const held = happening.held === true ? heldByBudget : null
    const suppression = suppressionOf(config, happening) ?? held
    if (suppression !== null || config === null) {
      suppress(happening, severity, suppression ?? '')
    } else if (config.incidents !== true || isOutsideIncidents(happening.reason)) {
      send(happening, severity, null)
    } else {
      driftInIncident(happening, severity, config)
    }
  }

  function driftInIncident(happening: NewAlert, severity: Severity, config: AlertConfig): void {
    const { account } = happening
    const earlier = going.get(incidentKey(account, happening))
    if (earlier === undefined) {
      const opened = draft(account, openIncident(happening, severity))
      change(opened)
      send(happening, severity, incidentOf(opened, 'opened'))
      return
    }
    const { renotify_minutes } = config
    const renotifyMs = renotify_minutes === undefined ? null : renotify_minutes * minuteMs
    const { incident, notify } = updateIncident(earlier.value, happening, severity, renotifyMs)
    const updated = { ...earlier, value: incident }
    change(updated)
    if (notify) send(happening, severity, incidentOf(updated, 'continues'))
    else suppress(happening, severity, partOfIncident)
  }

  function comeBack(happening: NewAlert, config: AlertConfig | null): void {
    const { account, ts } = happening
    const agent = agentKey(account, happening)
    const own = [...going.values()]
      .filter((each) => agentKey(each.account, each.value) === agent)
      .sort((one, other) => byAge(one.number, other.number))
    for (const each of own) {
      const closed = { ...each, value: closeIncident(each.value, ts) }
      const { reason, severity, max_phi } = closed.value
      change(closed)
      if (config?.incidents !== true) continue
      const alert = { ...happening, reason, advice: closingAdvice(closed.value) }
      const suppression = suppressionOf(config, { reason, phi: max_phi })
      if (suppression === null) send(alert, severity, incidentOf(closed, 'closed'))
      else suppress(alert, severity, suppression)
    }
  }

  for (const { drifting, ...happening } of happenings) {
    const config = configs.get(happening.account) ?? null
    if (drifting) drift(happening, config)
    else comeBack(happening, config)
  }
  return { newNumbers, events, log, incidents: [...changed.values()] }
}

/** The rows of decided alerts, numbered. */
export interface NumberedAlerts {
  events: Numbered<OutboxEvent>[]
  log: Numbered<LogEntry>[]
  incidents: Numbered<Incident>[]
}

/** Numbers decided alerts; `last` holds the last number of each account before the new ones. */
export function numberAlerts(
  { events, log, incidents }: DecidedAlerts,
  last: ReadonlyMap<string, number>,
): NumberedAlerts {
  const seqOf = (account: string, number: RowNumber) =>
    'seq' in number ? number.seq : (last.get(account) ?? 0) + number.nth
  const numbered = <T>({ account, number, value }: Draft<T>): Numbered<T> => ({
    account,
    seq: seqOf(account, number),
    value,
  })
  const eventOf = ({ account, number, value }: Draft<EventDraft>): Numbered<OutboxEvent> => {
    const { incident, ...event } = value
    if (incident === null) return numbered({ account, number, value: { ...event, incident } })
    const { state, steps, opened } = incident
    const id = incidentId(seqOf(account, incident.number))
    const told = { id, state, steps, opened: isoTime(opened) }
    return numbered({ account, number, value: { ...event, incident: told } })
  }
  return {
    events: events.map(eventOf),
    log: log.map(numbered),
    incidents: incidents.map(numbered),
  }
}

/** Each escalation is a separate question to a person, and an agent that works alone need not drift. */
function isOutsideIncidents(reason: string): boolean {
  return isEscalation(reason) || reason === unattendedReason
}

function incidentOf({ number, value }: Draft<Incident>, state: IncidentState) {
  const { steps, opened } = value
  return { number, state, steps, opened }
}

function incidentKey(
  account: string,
  incident: Pick<Incident, 'run_id' | 'dialogue' | 'agent_id' | 'reason'>,
): string {
  return keyOf(agentKey(account, incident), incident.reason)
}
