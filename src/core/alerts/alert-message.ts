import { cutTo } from '../text.ts'
import { isoTime } from '../time.ts'
import type { Severity } from './alerts.ts'
import { type Chat, chatAt } from './chat.ts'
import type { IncidentState } from './incidents.ts'
import { isEscalation, type OutboxEvent } from './outbox.ts'

/** Largest body of an event, in bytes. */
const maxBodyBytes = 20 * 1024

/** The message to send: text for a chat host, the structured event for every other host. */
export interface AlertMessage {
  /** JSON, at most 20 KiB: a long text is cut, an id never. */
  body: string
  /** Whether it is the structured event, whose signature a receiver can check. */
  structured: boolean
}

/**
 * Builds the message for an event of `account` to this address. `baseUrl` is where people reach the server,
 * without a trailing slash; null if that is not known.
 */
export function alertMessage(
  url: string,
  account: string,
  event: OutboxEvent,
  baseUrl: string | null,
): AlertMessage {
  const chat = chatAt(url)
  const runUrl = baseUrl === null ? null : urlOfRun(baseUrl, event)
  const render = (cut: OutboxEvent) =>
    chat === null
      ? JSON.stringify(structured(account, cut, runUrl))
      : chat.body(chatText(chat, cut))
  let body = ''
  for (const limit of textLimits) {
    body = render(shortened(event, limit))
    if (bytesOf(body) <= maxBodyBytes) break
  }
  return { body, structured: chat === null }
}

/** Limits on goal, advice, ground and explanation, in UTF-16 code units, tried in order until the body fits. */
const textLimits = [4000, 2000, 1000, 500, 250]

const icons: Record<Severity, string> = { critical: '🔴', warn: '🟠', info: '🔵' }
const closedIcon = '🟢'

/** The address of the run in the dashboard; null for an event without a run. */
function urlOfRun(baseUrl: string, { run_id, reason, about }: OutboxEvent): string | null {
  if (about === null && !isEscalation(reason)) return null
  return dashboardUrl(baseUrl, run_id)
}

/** The address of a run in the dashboard. */
export function dashboardUrl(baseUrl: string, runId: string): string {
  return `${baseUrl}/app/runs/${encodeURIComponent(runId)}`
}

function structured(account: string, event: OutboxEvent, runUrl: string | null): object {
  const { run_id, goal, reason, severity, phi, advice, ts, incident, about, state } = event
  return {
    event: 'drift',
    account,
    run_id,
    goal,
    reason,
    severity,
    phi,
    advice,
    ts: isoTime(ts),
    ...about,
    ...(incident === null ? {} : { incident }),
    state,
    ...(runUrl === null ? {} : { url: runUrl }),
  }
}

function chatText({ bold, plain }: Chat, event: OutboxEvent): string {
  const { run_id, goal, reason, severity, phi, advice, incident } = event
  const icon = incident?.state === 'closed' ? closedIcon : icons[severity]
  const line = (text: string) => plain(text.replaceAll(/\s+/g, ' ').trim())
  const told = incident === null ? '' : ` · ${stateWords(incident.state)}`
  return [
    `${icon} Plumbline ${bold(line(reason))} (${severity}) Φ ${phi.toFixed(2)}${told}`,
    ...(goal === null || goal === '' ? [] : [line(goal)]),
    `run ${line(run_id)}`,
    ...(advice === '' ? [] : [line(advice)]),
  ].join('\n')
}

function stateWords(state: IncidentState): string {
  return state === 'continues' ? 'the incident continues' : `incident ${state}`
}

function shortened(event: OutboxEvent, limit: number): OutboxEvent {
  const { goal, advice, about } = event
  return {
    ...event,
    goal: cutOrNull(goal, limit),
    advice: cutTo(advice, limit),
    about:
      about === null
        ? null
        : { ...about, ground: cutOrNull(about.ground, limit), why: cutTo(about.why, limit) },
  }
}

function cutOrNull(text: string | null, limit: number): string | null {
  return text === null ? null : cutTo(text, limit)
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}
