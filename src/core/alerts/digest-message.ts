import { rounded } from '../figures.ts'
import { escapeHtml } from '../html.ts'
import { isoTime } from '../time.ts'
import { dashboardUrl } from './alert-message.ts'
import { type Chat, chatAt } from './chat.ts'
import type { DigestReport, WorstRun } from './digest.ts'

/** The content of a mail. */
export interface DigestMail {
  subject: string
  text: string
  html: string
}

/** The targets of the links in a digest. */
export interface DigestLinks {
  /** The base URL of this server, without a trailing slash. */
  baseUrl: string
  /** The link that stops the mails; null in other channels. */
  unsubscribe: string | null
}

/** Renders the digest as a mail of one screen, in text and HTML. */
export function digestMail(report: DigestReport, links: DigestLinks): DigestMail {
  const stop = links.unsubscribe
  const html = escapeHtml
  return {
    subject: `Plumbline: ${headline(report)}`,
    text: [
      ...textLines(report, links.baseUrl, asWritten),
      ...(stop === null ? [] : ['', `No more of these: ${stop}`]),
      '',
    ].join('\n'),
    html: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${html(title(report))}</title></head>
<body style="font:15px/1.5 system-ui,sans-serif;max-width:40rem;margin:0 auto;padding:16px">
<h1 style="font-size:18px;margin:0">${html(upperFirst(headline(report)))}</h1>
<p style="margin:0 0 16px;opacity:.7">${html(title(report))}</p>
${report.worst_runs.length === 0 ? '' : `<ol style="padding-left:20px">${report.worst_runs.map((run) => htmlRun(run, links.baseUrl)).join('')}</ol>\n`}${factLines(
  report,
)
  .map((line) => `<p style="margin:4px 0">${html(line)}</p>`)
  .join('\n')}
${stop === null ? '' : `<p style="margin-top:24px;opacity:.7"><a href="${html(stop)}">No more of these mails</a></p>\n`}</body></html>
`,
  }
}

/** Builds the body of a digest for a webhook: text for chat hosts, all figures for every other host. */
export function digestBody(
  url: string,
  account: string,
  report: DigestReport,
  { baseUrl }: DigestLinks,
): { body: string; structured: boolean } {
  const chat = chatAt(url)
  if (chat !== null) {
    const lines = textLines(report, baseUrl, chat)
    return { body: chat.body(lines.join('\n')), structured: false }
  }
  const { from, to, worst_runs, drift, ...figures } = report
  const body = JSON.stringify({
    event: 'digest',
    account,
    from: isoTime(from),
    to: isoTime(to),
    ...figures,
    drift: drift.map((each) => ({ ...each, share: Number(each.share.toFixed(4)) })),
    worst_runs: worst_runs.map((run) => ({
      ...run,
      max_phi: rounded(run.max_phi),
      url: dashboardUrl(baseUrl, run.run_id),
    })),
  })
  return { body, structured: true }
}

const asWritten = { bold: (text: string) => text, plain: (text: string) => text }

function textLines(
  report: DigestReport,
  baseUrl: string,
  { bold, plain }: Pick<Chat, 'bold' | 'plain'>,
): string[] {
  const runs = report.worst_runs.flatMap((run, place) => [
    `${place + 1}. ${plain(run.ground ?? run.run_id)}`,
    `   ${plain(runFacts(run))}`,
    `   ${plain(dashboardUrl(baseUrl, run.run_id))}`,
  ])
  return [
    bold(upperFirst(headline(report))),
    title(report),
    '',
    ...runs,
    ...(runs.length === 0 ? [] : ['']),
    ...factLines(report).map(plain),
  ]
}

function htmlRun(run: WorstRun, baseUrl: string): string {
  const url = escapeHtml(dashboardUrl(baseUrl, run.run_id))
  return `<li style="margin-bottom:8px"><a href="${url}">${escapeHtml(run.ground ?? run.run_id)}</a><br>${escapeHtml(runFacts(run))}</li>`
}

function headline({ runs, drifting_runs }: DigestReport): string {
  if (runs === 0) return 'no run made a step'
  if (drifting_runs === 0)
    return runs === 1
      ? 'the one run kept to its errand'
      : `all ${counted(runs, 'run')} kept to their errands`
  return `${grouped(drifting_runs)} of ${counted(runs, 'run')} drifted`
}

function title({ cadence, from, to }: DigestReport): string {
  const at = (ms: number) => isoTime(ms).slice(0, 16).replace('T', ' ')
  return `${upperFirst(cadence)} digest, ${at(from)} to ${at(to)} UTC`
}

function runFacts({
  reason,
  drifting_steps,
  steps,
  max_phi,
  drift_tokens,
  drifting,
}: WorstRun): string {
  return [
    `${reason}: ${grouped(drifting_steps)} of ${counted(steps, 'step')}`,
    `Φ up to ${max_phi.toFixed(2)}`,
    ...(drift_tokens === 0 ? [] : [`${counted(drift_tokens, 'token')} since it first drifted`]),
    drifting ? 'drifting still' : 'back on its errand',
  ].join(', ')
}

function factLines(report: DigestReport): string[] {
  const { steps, drifting_steps, drift, tokens, drift_tokens } = report
  const reasons = drift.map(({ reason, share }) => `${reason} ${percent(share)}`)
  const drifted =
    drifting_steps === 0
      ? 'none drifted'
      : `${percent(drifting_steps / steps)} drifted (${reasons.join(', ')})`
  const spent = `${grouped(drift_tokens)} (${percent(drift_tokens / tokens)}) at or after a first drifting verdict`
  return [
    ...(steps === 0 ? [] : [`${upperFirst(counted(steps, 'step'))}: ${drifted}.`]),
    ...(tokens === 0 ? [] : [`${counted(tokens, 'token')}: ${spent}.`]),
    ...(report.held_alarms === 0
      ? []
      : [`${counted(report.held_alarms, 'alarm')} held by your budget.`]),
    `${counted(report.pending_escalations, 'escalation')} pending, ${counted(report.undelivered_alerts, 'alert')} undelivered.`,
  ]
}

function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** A whole number with commas between thousands. */
function grouped(number: number): string {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, ',')
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
