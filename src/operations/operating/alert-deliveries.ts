import { z } from 'zod'
import { deliveryStates, isDelivered } from '../../core/alerts/delivery.ts'
import { eventId, seqOf } from '../../core/alerts/outbox.ts'
import { isoTime } from '../../core/time.ts'
import type { Attempt, Delivery } from '../../storage/alerts/deliveries.ts'
import { badRequest, describeRefusal } from '../gate/declaration.ts'
import { idField, time } from '../gate/fields.ts'
import { cursorFrom, limitField, pageOf } from '../gate/list.ts'
import { keyed } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'
import { score } from '../steps/verdict.ts'
import { severitySchema } from './alerts.ts'

const maxReplayed = 500

/** An event with its attempts, as answers show it. */
export const deliverySchema = z
  .strictObject({
    id: z.string().describe('The `webhook-id` of the event.'),
    ts: time.describe('The time the event was emitted.'),
    run_id: z.string(),
    reason: z.string(),
    severity: severitySchema,
    phi: score,
    state: z
      .enum(deliveryStates)
      .describe('The state of the delivery. You can replay a failed one.'),
    next: time
      .nullable()
      .describe('The time of the next attempt; null unless the event waits for one.'),
    detail: z.string().optional().describe('Why the event still waits, or why it failed.'),
    attempts: z.array(
      z.strictObject({
        attempt: z.int().min(1),
        ts: time,
        host: z.string(),
        delivered: z.boolean(),
        status: z.int(),
        detail: z.string().optional(),
        latency_ms: z.int().min(0).describe('The time until the headers of the answer came.'),
        bytes: z.int().min(0).describe('The bytes read of the answer’s body.'),
      }),
    ),
  })
  .meta({ id: 'AlertDelivery' })

const noDelivery = describeRefusal(
  404,
  'no_delivery',
  'The account has no event with this id, or the event is older than 30 days.',
)

/** Lists the events of the last 30 days with their attempts. */
export const listDeliveries = keyed({
  name: 'alerts.deliveries',
  group: 'operating',
  summary: 'The events of the last 30 days with their attempts, newest first.',
  description:
    'The list leaves out events that were suppressed when they were emitted. Only the log has them.',
  http: { method: 'GET', path: '/v1/alerts/deliveries' },
  input: z.object({
    state: z.enum(deliveryStates, `send ${deliveryStates.join(', ')}`).optional(),
    limit: limitField(200, 50),
    cursor: z.string().optional(),
  }),
  output: z.strictObject({
    deliveries: z.array(deliverySchema),
    next_cursor: z.string().nullable(),
  }),
  refusals: [badRequest],
})(async ({ store: { deliveries }, account }, { state, limit, cursor }) => {
  const before = cursorFrom(cursor, z.object({ before: z.int() }))?.before ?? null
  const found = await deliveries.list(account.id, state ?? null, limit + 1, before)
  const { page, next_cursor } = pageOf(found, limit, ({ seq }) => ({ before: seq }))
  const seqs = page.map(({ seq }) => seq)
  const attempts = await deliveries.attemptsOf(account.id, seqs)
  return {
    deliveries: page.map((each) => shownDelivery(each, attempts.get(each.seq) ?? [])),
    next_cursor,
  }
})

/** Enqueues delivered or failed events again. */
export const replayDeliveries = keyed({
  name: 'alerts.replay',
  group: 'operating',
  summary: 'Send an event again, or all events that failed since a time.',
  description: `An event keeps its id and gets all its attempts again. One call replays at most ${maxReplayed} failed events, oldest first.`,
  http: { method: 'POST', path: '/v1/alerts/deliveries/replay' },
  input: z
    .object({
      id: idField().optional().describe('The event, whether delivered or not.'),
      since: z.iso
        .datetime({ offset: true, error: 'send a time such as 2026-01-31T12:00:00Z' })
        .optional()
        .describe('Replays the failed events that were emitted at this time or later.'),
    })
    .refine(({ id, since }) => (id === undefined) !== (since === undefined), 'send id or since'),
  output: z.strictObject({
    ok: z.literal(true),
    replayed: z.int().min(0),
    more: z.boolean().describe('Whether more events have failed since then.'),
  }),
  refusals: [badRequest, noDelivery],
})(async ({ store, account, now }, { id, since }) =>
  store.tx(async ({ deliveries }) => {
    if (id !== undefined) {
      const found = await deliveries.find(account.id, seqOf(id))
      if (found === null || eventId(account.id, found.value.ts, found.seq) !== id) {
        throw new Refusal(404, 'no_delivery', {
          detail: 'No event has this id. Send an id from GET /v1/alerts/deliveries.',
        })
      }
      const again = found.state === 'waiting' ? [] : [found.seq]
      await deliveries.replay(account.id, again, now())
      return { ok: true as const, replayed: again.length, more: false }
    }
    const failed = await deliveries.failedSince(
      account.id,
      Date.parse(since ?? ''),
      maxReplayed + 1,
    )
    const again = failed.slice(0, maxReplayed)
    await deliveries.replay(account.id, again, now())
    return { ok: true as const, replayed: again.length, more: failed.length > again.length }
  }),
)

/** Shows a delivery on the wire. */
export function shownDelivery(
  { account, seq, value, state, due, detail }: Delivery,
  attempts: readonly Attempt[],
): z.infer<typeof deliverySchema> {
  const { ts, run_id, reason, severity, phi } = value
  return {
    id: eventId(account, ts, seq),
    ts: isoTime(ts),
    run_id,
    reason,
    severity,
    phi,
    state,
    next: state === 'waiting' ? isoTime(due) : null,
    ...(detail === null ? {} : { detail }),
    attempts: attempts.map(({ ts, detail, status, ...attempt }) => ({
      ...attempt,
      ts: isoTime(ts),
      status,
      delivered: isDelivered(status),
      ...(detail === null ? {} : { detail }),
    })),
  }
}
