import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Tier, tierNamed } from '../core/accounts/tiers.ts'
import { signingSecrets } from '../core/alerts/alerts.ts'
import { isDelivered, retryPauseMs } from '../core/alerts/delivery.ts'
import {
  type DigestReport,
  digestPeriod,
  joined,
  newDigestSum,
  nextDigest,
  type StepsTold,
} from '../core/alerts/digest.ts'
import { type DigestMail, digestBody, digestMail } from '../core/alerts/digest-message.ts'
import type { Mail } from '../outbound/mail.ts'
import { signatureHeaders, type Webhooks } from '../outbound/webhook.ts'
import type { Digest, DigestRun } from '../storage/digests.ts'
import type { Store } from '../storage/store.ts'
import type { JobContext, JobKind } from './scheduler.ts'

/** The dependencies of the digest job. */
export interface DigestParts {
  store: Store
  webhooks: Webhooks
  mail: Mail | null
  tiers: readonly Tier[]
  /** The base URL of this server, without a trailing slash. */
  baseUrl(): string
  /** Milliseconds since 1970. */
  now(): number
}

/** The result of sending a digest: '' if it was delivered, otherwise the error. */
export type DigestOutcome = { delivered: boolean; detail: string }

const kindName = 'digest'
const leaseMs = 300_000
const attempts = 5
const runsAPage = 50
/** Read within some tens of milliseconds. */
const stepsAQuery = 20_000

/** The path of the link in the mails that stops them. */
export const unsubscribePath = '/digest/unsubscribe'

/** The job that sends the next digest of an account when it is due. */
export function digestJob(account: string, due: number) {
  return { id: `${kindName}:${account}`, kind: kindName, input: account, due }
}

/**
 * Sends due digests. A digest that could not be sent, because the process was down or the receiver
 * unavailable, is sent once and covers the whole time since the last one. After five attempts, with the
 * retry pauses of events, it waits for its next date.
 */
export function createDigestJob(parts: DigestParts): JobKind {
  const { store, now } = parts

  async function run({ input: account, attempt }: JobContext): Promise<number | null> {
    const digest = await store.digests.of(account)
    if (digest === null) return null
    const at = now()
    if (digest.next > at) return digest.next
    const next = nextDigest(digest, at)
    const { delivered, detail } = (await maySend(account))
      ? await sendDigest(parts, parts.webhooks.send, account, digest, at)
      : { delivered: false, detail: null }
    if (!delivered && detail !== null && attempt < attempts) throw new Error(detail)
    const sentUntil = delivered ? at : null
    await store.tx(({ digests }) => digests.advance(account, digest, next, sentUntil))
    return next
  }

  /** The account may have changed to a tier without digests. */
  async function maySend(id: string): Promise<boolean> {
    const account = await store.accounts.find(id)
    return account !== null && tierNamed(parts.tiers, account.tier).digest
  }

  // A digest has its own retry limit, so the job never gives up.
  return {
    name: kindName,
    leaseMs,
    atOnce: 4,
    maxAttempts: Number.MAX_SAFE_INTEGER,
    retryAfterMs: retryPauseMs,
    run,
  }
}

/**
 * Builds the digest of the period that ends at `at` and sends it, to a webhook through `send`, in one
 * attempt.
 */
export async function sendDigest(
  parts: DigestParts,
  send: Webhooks['send'],
  account: string,
  digest: Digest,
  at: number,
): Promise<DigestOutcome> {
  const report = await makeReport(parts.store, account, digest, at)
  const detail =
    digest.channel === 'email'
      ? await sendMail(parts, account, digest, report)
      : await sendWebhook(parts, send, account, digest.url ?? '', report)
  return { delivered: detail === '', detail }
}

/** What the mail of a digest would say that is sent at `at` and covers a whole day or week. Sends nothing. */
export async function previewDigest(
  { store, baseUrl }: Pick<DigestParts, 'store' | 'baseUrl'>,
  account: string,
  cadence: Digest['cadence'],
  at: number,
): Promise<DigestMail> {
  const report = await makeReport(store, account, { cadence, sent_until: null }, at)
  return digestMail(report, { baseUrl: baseUrl(), unsubscribe: null })
}

async function makeReport(
  store: Store,
  account: string,
  digest: Pick<Digest, 'cadence' | 'sent_until'>,
  at: number,
): Promise<DigestReport> {
  const period = digestPeriod(digest, digest.sent_until, at)
  const sum = newDigestSum()
  const seen = new Set<string>()
  let page = await store.digests.runs(account, period.from, at, null, runsAPage)
  while (page.length > 0) {
    const told = await toldOf(store, account, page, period, stepsAQuery)
    for (const run of page) {
      if (!seen.has(run.run_id)) sum.add({ ...run, told: told.get(run.run_id) ?? [] })
      seen.add(run.run_id)
    }
    page = await store.digests.runs(account, period.from, at, page.at(-1) ?? null, runsAPage)
  }
  return sum.report({
    cadence: digest.cadence,
    ...period,
    pending_escalations: await store.escalations.countPending(account),
    undelivered_alerts: await store.deliveries.countUndelivered(account, period.from),
    held_alarms: await store.budgets.countHeld(account, period.from, period.to),
  })
}

/** Sums the steps of runs, `most` at a time, so that requests are served in between. */
export async function toldOf(
  store: Store,
  account: string,
  runs: readonly DigestRun[],
  period: { from: number; to: number },
  most: number,
): Promise<Map<string, StepsTold[]>> {
  const told = new Map<string, StepsTold[]>()
  let waiting = runs.map(({ run_id, steps }) => ({ run_id, since: 1, steps, drifted: false }))
  while (waiting.length > 0) {
    let room = most
    const parts = []
    for (const { run_id, since, steps, drifted } of waiting) {
      if (room === 0) break
      const until = Math.min(steps + 1, since + room)
      parts.push({ run_id, since, until, drifted })
      room -= until - since
    }
    const drifted = new Map<string, boolean>()
    for (const part of await store.digests.sumParts(account, parts, period)) {
      told.set(part.run_id, joined(told.get(part.run_id) ?? [], part.told))
      drifted.set(part.run_id, part.drifted)
    }
    const read = new Map(parts.map(({ run_id, until }) => [run_id, until]))
    waiting = waiting.flatMap((run) => {
      const since = read.get(run.run_id) ?? run.since
      const isRead = since > run.steps
      return isRead ? [] : [{ ...run, since, drifted: drifted.get(run.run_id) ?? run.drifted }]
    })
    await nextTurn()
  }
  return told
}

async function sendMail(
  { store, mail, baseUrl }: DigestParts,
  account: string,
  { token }: Digest,
  report: DigestReport,
): Promise<string> {
  const { email, verified } = await store.emails.of(account)
  if (email === null || !verified) return 'the account has no confirmed mail address'
  if (mail === null) return 'mail is not configured'
  const unsubscribe = `${baseUrl()}${unsubscribePath}?token=${token}`
  const failure = await mail.send({
    to: email,
    ...digestMail(report, { baseUrl: baseUrl(), unsubscribe }),
    headers: {
      'List-Unsubscribe': `<${unsubscribe}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'Auto-Submitted': 'auto-generated',
    },
  })
  return failure ?? ''
}

async function sendWebhook(
  { store, baseUrl, now }: DigestParts,
  send: Webhooks['send'],
  account: string,
  url: string,
  report: DigestReport,
): Promise<string> {
  const { secrets } = await store.alerts.settings(account)
  const links = { baseUrl: baseUrl(), unsubscribe: null }
  const { body, structured } = digestBody(url, account, report, links)
  const signing = structured ? signingSecrets(secrets, now()) : []
  // The same id on every attempt: the receiver recognises a repeated digest by it.
  const id = `digest_${account}_${report.to}`
  const timestampS = Math.floor(now() / 1000)
  const headers =
    signing.length === 0 ? {} : signatureHeaders({ id, timestampS, body, secrets: signing })
  const { status, error } = await send({ url, account, body, headers })
  if (isDelivered(status)) return ''
  return error ?? `webhook returned ${status}`
}
