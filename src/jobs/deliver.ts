import { noWebhook, signingSecrets, suppressionOf, targetOf } from '../core/alerts/alerts.ts'
import {
  attemptEntry,
  detailOf,
  endpointAfter,
  isDelivered,
  retryDelayMs,
} from '../core/alerts/delivery.ts'
import { eventId, suppressedEntry } from '../core/alerts/outbox.ts'
import { readDestination, type WebhookAllowance } from '../core/alerts/public-url.ts'
import { alertRequest } from '../outbound/alert.ts'
import type { WebhookAnswer, Webhooks } from '../outbound/webhook.ts'
import type { Delivery, DeliveryChange } from '../storage/alerts/deliveries.ts'
import { deliverKind } from '../storage/alerts/outbox.ts'
import type { OpenStore } from '../storage/store.ts'
import type { JobContext, JobKind } from './scheduler.ts'

/** The dependencies of the delivery job. */
export interface DeliverParts {
  store: Pick<OpenStore, 'alerts' | 'deliveries' | 'tx'>
  webhooks: Webhooks
  allow: WebhookAllowance
  /** Retries after a failed attempt. */
  retries: number
  /** Where people reach the server, without a trailing slash; null if that is not known. */
  baseUrl: string | null
  /** Milliseconds since 1970. */
  now(): number
  /** A number in [0, 1). */
  random(): number
}

const atOnce = 16
/** Pause before an account tries again to get a slot for its request. */
const busyPauseMs = 500

const leaseMs = 30_000
/**
 * Longer than one attempt and its records: an attempt that starts with less of the lease left might
 * outlive it.
 */
const attemptMs = 12_000

/** Most waiting events of an account; the oldest ones beyond it fail and can be replayed. */
const maxWaiting = 1_000
const tooMany = `more than ${maxWaiting} events waited`

/**
 * Sends the outbox of an account one event after another: first attempts in the order of the events,
 * retries when they are due. The content of an event was fixed when it was emitted; the current config
 * decides whether and where it goes.
 */
export function createDeliverJob(parts: DeliverParts): JobKind {
  const { store, now } = parts

  async function run({ input: account, heldUntil, signal }: JobContext): Promise<number | null> {
    const tooOld = await store.deliveries.behind(account, maxWaiting)
    if (tooOld !== null) {
      await store.tx(({ deliveries }) => deliveries.giveUpTo(account, tooOld, tooMany, now()))
    }
    while (heldUntil - now() > attemptMs) {
      const next = await store.deliveries.next(account)
      if (next === null || next.due > now()) return next?.due ?? null
      if (signal.aborted) return now()
      if (!(await deliver(next, signal))) return now() + busyPauseMs
    }
    return now()
  }

  /** Sends one event; returns false if it must wait because all slots are taken or the process stops. */
  async function deliver(delivery: Delivery, signal: AbortSignal): Promise<boolean> {
    const { account, seq, value } = delivery
    const { config, secrets } = await store.alerts.settings(account)
    // Its phi was checked when it was emitted.
    const suppression = suppressionOf(config, { reason: value.reason, phi: 1 })
    const url = targetOf(config, value.reason, parts.allow)
    if (suppression !== null || url === null) {
      await giveUp(delivery, suppression ?? noWebhook)
      return true
    }
    const endpoint = await store.deliveries.endpoint(account, url)
    if (endpoint?.paused_until != null && endpoint.paused_until > now()) {
      await postpone(delivery, endpoint.paused_until, endpoint.pause_detail ?? '')
      return true
    }
    const host = readDestination(url)?.host ?? ''
    const at = now()
    const secretsNow = signingSecrets(secrets, at)
    const id = eventId(account, value.ts, seq)
    const { baseUrl } = parts
    const sent = { url, account, id, event: value, baseUrl, secrets: secretsNow, at }
    const answer = await parts.webhooks.sendNow(alertRequest(sent))
    if (answer === null) return false
    // An attempt that the stopping process aborts does not count.
    if (signal.aborted && answer.status === 0) return false
    await record(delivery, url, host, at, answer)
    return true
  }

  async function record(
    delivery: Delivery,
    url: string,
    host: string,
    at: number,
    answer: WebhookAnswer,
  ): Promise<void> {
    const { account, seq, value } = delivery
    const { status, latencyMs: latency_ms, bytes } = answer
    const [tries, attempts] = [delivery.tries + 1, delivery.attempts + 1]
    const detail = detailOf(answer)
    const delayMs = retryDelayMs(answer, tries, parts.retries, parts.random())
    await store.tx(async ({ deliveries, alerts }) => {
      // Read again, because a new config resets the state of the address.
      const earlier = await deliveries.endpoint(account, url)
      const endpoint = endpointAfter(earlier, answer, now())
      const change: DeliveryChange = {
        ...delivery,
        state: isDelivered(status) ? 'delivered' : delayMs === null ? 'failed' : 'waiting',
        due: Math.max(now() + (delayMs ?? 0), endpoint?.paused_until ?? 0),
        tries,
        attempts,
        detail,
      }
      await deliveries.change(delivery, change, attemptEntry(value, at, answer), now())
      const seen = { attempt: attempts, ts: at, host, status, detail, latency_ms, bytes }
      await deliveries.addAttempt(account, seq, seen)
      // Do not store the state of an address that was replaced or deleted meanwhile.
      const { config } = await alerts.settings(account)
      const isTarget = targetOf(config, value.reason, parts.allow) === url
      await deliveries.putEndpoint(account, url, isTarget ? endpoint : null, now())
    })
  }

  async function giveUp(delivery: Delivery, detail: string): Promise<void> {
    const change = { ...delivery, state: 'failed' as const, detail }
    await store.tx(({ deliveries }) =>
      deliveries.change(delivery, change, suppressedEntry(delivery.value, now(), detail), now()),
    )
  }

  /** Postpones an event to the end of the pause, and logs the pause once. */
  async function postpone(delivery: Delivery, due: number, detail: string): Promise<void> {
    const entry = delivery.held ? null : suppressedEntry(delivery.value, now(), detail)
    await store.tx(({ deliveries }) =>
      deliveries.change(delivery, { ...delivery, due, held: true, detail }, entry, now()),
    )
  }

  // Events have their own retry limit, so the job itself never gives up.
  return { name: deliverKind, leaseMs, atOnce, maxAttempts: Number.MAX_SAFE_INTEGER, run }
}
