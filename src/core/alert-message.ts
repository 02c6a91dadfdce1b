import type { Severity } from './alerts.ts'
import type { IncidentState } from './incidents.ts'
import type { OutboxEvent } from './outbox.ts'
import { readDestination } from './public-url.ts'
import { isoTime } from './time.ts'

/** Largest body of an event, in bytes. */
const maxBodyBytes = 20 * 1024

/** What is sent: a chat host gets a text, every other host the structured event. */
export interface AlertMessage {
  /** JSON, at most 20 KiB: a long goal or advice is cut, an id never is. */
  body: string
  /** Whether it is the structured event, which a receiver can check the signature of. */
  structured: boolean
}

/** The message that tells of an event of `account` to this address. */
export function alertMessage(url: string, account: string, event: OutboxEvent): AlertMessage {
  const kind = hostKindOf(url)
  const render = (cut: OutboxEvent) =>
    JSON.stringify(kind === 'other' ? structured(account, cut) : chatBodies[kind](cut))
  let body = ''
  for (const limit of textLimits) {
    body = render(shortened(event, limit))
    if (bytesOf(body) <= maxBodyBytes) break
  }
  return { body, structured: kind === 'other' }
}

/**
 * Which kind of host an address leads to, decided on the whole host name: Slack's incoming webhooks,
 * Discord (its domain, whatever is below it, and its former domain), or any other.
 */
export function hostKindOf(url: string): 'slack' | 'discord' | 'other' {
  const host = readDestination(url)?.host ?? ''
  if (host === 'hooks.slack.com') return 'slack'
  const isDiscord =
    host === 'discord.com' || host.endsWith('.discord.com') || host === 'discordapp.com'
  return isDiscord ? 'discord' : 'other'
}

/** Longest goal and advice, in UTF-16 code units, tried in turn until the body fits. */
const textLimits = [4000, 2000, 1000, 500]

/** Discord refuses longer messages. */
export const maxDiscordLength = 2000

const chatBodies = {
  slack: (event: OutboxEvent) => ({ text: chatText(event, '*', forSlack) }),
  discord: (event: OutboxEvent) => ({
    content: cutTo(chatText(event, '**', forDiscord), maxDiscordLength),
  }),
}

const icons: Record<Severity, string> = { critical: '🔴', warn: '🟠', info: '🔵' }
const closedIcon = '🟢'

function structured(account: string, { incident, ...event }: OutboxEvent): object {
  const { run_id, goal, reason, severity, phi, advice, ts } = event
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
    ...(incident === null ? {} : { incident }),
  }
}

function chatText(event: OutboxEvent, bold: string, safe: (text: string) => string): string {
  const { run_id, goal, reason, severity, phi, advice, incident } = event
  const icon = incident?.state === 'closed' ? closedIcon : icons[severity]
  const line = (text: string) => safe(text.replaceAll(/\s+/g, ' ').trim())
  const told = incident === null ? '' : ` · ${stateWords(incident.state)}`
  return [
    `${icon} Plumbline ${bold}${line(reason)}${bold} (${severity}) Φ ${phi.toFixed(2)}${told}`,
    ...(goal === null || goal === '' ? [] : [line(goal)]),
    `run ${line(run_id)}`,
    ...(advice === '' ? [] : [line(advice)]),
  ].join('\n')
}

function stateWords(state: IncidentState): string {
  return state === 'continues' ? 'the incident continues' : `incident ${state}`
}

/** A text as Slack shows it: `<…>` would be a link or a mention. */
export function forSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** A text as Discord shows it: a zero-width space keeps what an agent wrote from calling people. */
export function forDiscord(text: string): string {
  return text.replaceAll(/@(?=everyone|here)|<(?=@)/g, (sign) => `${sign}\u200B`)
}

function shortened(event: OutboxEvent, limit: number): OutboxEvent {
  const { goal, advice } = event
  return {
    ...event,
    goal: goal === null ? null : cutTo(goal, limit),
    advice: cutTo(advice, limit),
  }
}

/** A text of at most `limit` UTF-16 code units, with an ellipsis where it was cut. */
export function cutTo(text: string, limit: number): string {
  if (text.length <= limit) return text
  // Half a surrogate pair would be no text.
  return `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}
