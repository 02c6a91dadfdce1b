import { z } from 'zod'
import { wellFormed } from '../../core/text.ts'
import { isoTime } from '../../core/time.ts'
import type { StreamEvent } from '../../storage/database/stream.ts'
import { decisionNames, type Escalation } from '../../storage/escalations.ts'
import { badRequest, describeRefusal } from '../gate/declaration.ts'
import { idField, okAnswer, textField, time } from '../gate/fields.ts'
import { cursorFrom, limitField, pageOf } from '../gate/list.ts'
import { keyed } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'

const statuses = ['pending', 'decided'] as const
const longestWaitSeconds = 30
const longestReason = 200
const noPhi = 1

/** A question to a person, as answers show it. */
export const escalationSchema = z
  .strictObject({
    esc_id: z.string(),
    run_id: z.string(),
    reason: z.string(),
    advice: z.string().nullable(),
    streak: z.int().min(0).nullable(),
    detail: z.string().nullable(),
    status: z.enum(statuses),
    created: time,
    decision: z.enum(decisionNames).optional().describe('Present once it is decided.'),
    note: z.string().optional(),
    decided_at: time.optional(),
    decided_by: z.string().optional().describe('The account that decided.'),
  })
  .meta({ id: 'Escalation' })

const noEscalation = describeRefusal(404, 'no_escalation', 'The account has no such escalation.')

/** Asks a person to decide about a run. */
export const escalate = keyed({
  name: 'escalation.create',
  group: 'operating',
  summary: 'Ask a person to decide on a persistent drift.',
  description:
    'Sends the alert `escalation:<reason>`. Its phi is the one you send, or that of the last verdict on the run, or 1 if there is neither, so that no floor holds the alert back. While the escalation is pending, and after the decision `stop`, POST /v1/operator/consult refuses the acts of the run.',
  http: { method: 'POST', path: '/v1/escalation' },
  input: z.object({
    run_id: idField().describe('The id of the run. The server need not have stored that run.'),
    reason: reasonField(),
    advice: textField().nullish(),
    streak: z
      .int('send a whole number of 0 or more')
      .min(0, 'send a whole number of 0 or more')
      .nullish()
      .describe('The number of drifting steps in a row.'),
    detail: textField().nullish(),
    phi: z
      .number('send a number from 0 to 1')
      .min(0, 'send a number from 0 to 1')
      .max(1, 'send a number from 0 to 1')
      .nullish()
      .describe('Sent with the alert only. The server does not store it with the escalation.'),
  }),
  output: z.strictObject({
    esc_id: z.string().describe('Safe in a URL without encoding.'),
    status: z.literal('pending'),
    created: time,
  }),
  status: 201,
  refusals: [badRequest],
})(async (context, { run_id, reason, advice, streak, detail, phi }) => {
  const { account, now, newId } = context
  const created = now()
  const escalation = {
    esc_id: newId('esc'),
    run_id,
    reason,
    advice: advice ?? null,
    streak: streak ?? null,
    detail: detail ?? null,
    created,
  }
  await context.store.tx(async (store) => {
    await store.escalations.add(account.id, escalation)
    await store.stream.record([changeOf(account.id, escalation, created)])
    const run = await store.runs.find(account.id, run_id, created)
    await store.alerts.emit({
      account: account.id,
      run_id,
      dialogue: false,
      agent_id: '',
      goal: run?.ground ?? null,
      reason: `escalation:${reason}`,
      phi: phi ?? run?.phi ?? noPhi,
      advice: advice ?? 'A person is asked to decide: return, allow or stop.',
      ts: created,
    })
  })
  return { esc_id: escalation.esc_id, status: 'pending' as const, created: isoTime(created) }
})

/** Returns one escalation, after a wait for its decision if asked to, or the queue. */
export const readEscalations = keyed({
  name: 'escalation.read',
  group: 'operating',
  summary: 'One escalation, or the queue, newest first.',
  description:
    'With `id` the answer is that escalation. With `wait` too, the server holds the answer until a person decides or the time is up. The call counts as one read, however long it waits. The server answers at once if it is stopping, or if 50 calls of the account already wait.',
  http: { method: 'GET', path: '/v1/escalation' },
  input: z.object({
    id: idField().optional(),
    wait: waitField().describe('Seconds to wait for the decision. A value above 30 counts as 30.'),
    status: z.enum(statuses, `send ${statuses.join(' or ')}`).optional(),
    limit: limitField(200, 50),
    cursor: z.string().optional(),
  }),
  output: z.union([
    escalationSchema,
    z.strictObject({
      escalations: z.array(escalationSchema),
      next_cursor: z.string().nullable(),
    }),
  ]),
  refusals: [badRequest, noEscalation],
})(async ({ store, account, decisions, gone }, { id, wait, status, limit, cursor }) => {
  if (id !== undefined) {
    const found = await store.escalations.find(account.id, id)
    if (found?.decision !== null || wait === 0) return shownOr404(found)
    await decisions.wait(account.id, id, wait * 1000, gone())
    return shownOr404(await store.escalations.find(account.id, id))
  }
  const after = cursorFrom(cursor, z.object({ created: z.int(), esc_id: z.string() }))
  const found = await store.escalations.list(account.id, status ?? null, limit + 1, after)
  const { page, next_cursor } = pageOf(found, limit, ({ created, esc_id }) => ({ created, esc_id }))
  return { escalations: page.map(shownEscalation), next_cursor }
})

/** Records the decision of a person. */
export const decideEscalation = keyed({
  name: 'escalation.decide',
  group: 'operating',
  summary: 'Record a decision on an escalation, once.',
  http: { method: 'POST', path: '/v1/escalation/decide' },
  input: z
    .object({
      id: idField().optional().describe('The id of the escalation. `esc_id` is an alias.'),
      esc_id: idField().optional(),
      decision: z.enum(decisionNames, `send ${decisionNames.join(', ')}`),
      note: textField().nullish(),
    })
    .refine(({ id, esc_id }) => (id ?? esc_id) !== undefined, {
      path: ['id'],
      error: 'send the esc_id of an escalation',
    }),
  output: escalationSchema,
  refusals: [
    badRequest,
    noEscalation,
    describeRefusal(
      409,
      'already_decided',
      'Somebody has already decided. `detail` gives the decision.',
    ),
  ],
})(async ({ store, account, now }, { id, esc_id, decision, note }) => {
  const at = now()
  const found = await store.tx(async ({ escalations, stream }) => {
    const wanted = id ?? esc_id ?? ''
    const decided = await escalations.decide(account.id, wanted, {
      decision,
      note: note ?? null,
      decided_at: at,
      decided_by: account.id,
    })
    const found = await escalations.find(account.id, wanted)
    if (decided && found !== null) await stream.record([changeOf(account.id, found, at)])
    if (decided || found === null || found.decided_at === null) return found
    throw new Refusal(409, 'already_decided', {
      detail: `It was decided at ${isoTime(found.decided_at)}: ${found.decision}. Escalate again for another decision.`,
    })
  })
  if (found !== null) await store.tx(({ runs }) => runs.meet(account.id, found.run_id, at))
  return shownOr404(found)
})

/** Deletes an escalation, decided or not. */
export const deleteEscalation = keyed({
  name: 'escalation.delete',
  group: 'operating',
  summary: 'Delete an escalation.',
  description: 'Calls that wait for its decision get 404. The escalation no longer blocks the run.',
  http: { method: 'DELETE', path: '/v1/escalation' },
  input: z.object({
    id: idField(),
  }),
  output: okAnswer,
  refusals: [badRequest, noEscalation],
})(({ store, account, now }, { id }) =>
  store.tx(async ({ escalations, stream }) => {
    const found = await escalations.find(account.id, id)
    const deleted = await escalations.delete(account.id, id)
    if (!deleted || found === null) throw unknownEscalation()
    await stream.record([changeOf(account.id, found, now())])
    return { ok: true as const }
  }),
)

/** The event that tells listeners of a change of an escalation. */
function changeOf(
  account: string,
  { run_id, esc_id }: Pick<Escalation, 'run_id' | 'esc_id'>,
  at: number,
): StreamEvent {
  return { account, at, kind: 'escalation', run_id, subject: esc_id }
}

function reasonField() {
  const fault = `send a text of 1 to ${longestReason} characters`
  return z.string(fault).min(1, fault).max(longestReason, fault).overwrite(wellFormed)
}

function waitField(): z.ZodType<number, string | undefined> {
  const fault = `send seconds from 0 to ${longestWaitSeconds}`
  return z
    .string()
    .refine((text) => text.trim() !== '' && Number(text) >= 0, fault)
    .transform((text) => Math.min(Number(text), longestWaitSeconds))
    .default(0)
    .meta({ type: 'number', minimum: 0, default: 0 })
}

function shownOr404(escalation: Escalation | null): z.infer<typeof escalationSchema> {
  if (escalation !== null) return shownEscalation(escalation)
  throw unknownEscalation()
}

function unknownEscalation(): Refusal {
  return new Refusal(404, 'no_escalation', {
    detail: 'There is no such escalation. GET /v1/escalation lists all escalations.',
  })
}

/** Shows an escalation on the wire. */
export function shownEscalation(escalation: Escalation): z.infer<typeof escalationSchema> {
  const { decision, note, decided_at, decided_by, created, ...asked } = escalation
  return {
    ...asked,
    status: decision === null ? 'pending' : 'decided',
    created: isoTime(created),
    ...(decision === null ? {} : { decision }),
    ...(note === null ? {} : { note }),
    ...(decided_at === null ? {} : { decided_at: isoTime(decided_at) }),
    ...(decided_by === null ? {} : { decided_by }),
  }
}
