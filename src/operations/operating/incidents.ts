import { z } from 'zod'
import type { Incident } from '../../core/alerts/incidents.ts'
import { incidentId, type Numbered } from '../../core/alerts/outbox.ts'
import { isoTime } from '../../core/time.ts'
import { badRequest } from '../gate/declaration.ts'
import { time } from '../gate/fields.ts'
import { cursorFrom, limitField, pageOf } from '../gate/list.ts'
import { keyed } from '../gate/operation.ts'
import { score } from '../steps/verdict.ts'
import { severitySchema } from './alerts.ts'

/** An incident, as answers show it. */
export const incidentSchema = z
  .strictObject({
    id: z.string(),
    run_id: z.string().describe('The run, or for a dialogue its conversation.'),
    dialogue: z.literal(true).optional(),
    agent_id: z.string().optional(),
    reason: z.string(),
    severity: severitySchema.describe('The highest severity that an event has reported.'),
    opened: time,
    updated: time.describe('The time of the last drifting step.'),
    closed: time.nullable().describe('Null while the incident goes on.'),
    steps: z.int().min(1).describe('The drifting steps that the alert settings did not hold back.'),
    phi: score.describe('The phi of the last of these steps.'),
    max_phi: score,
  })
  .meta({ id: 'Incident' })

/** Lists the incidents: one for each agent of a run and reason, from its first alarm to its return. */
export const listIncidents = keyed({
  name: 'alerts.incidents',
  group: 'operating',
  summary: 'The incidents of the last 30 days, the last opened first.',
  description:
    'The server keeps incidents once you set `incidents` with POST /v1/alerts. It deletes them with their run or dialogue.',
  http: { method: 'GET', path: '/v1/alerts/incidents' },
  input: z.object({
    open: z.enum(['true', 'false'], 'send true or false').optional(),
    limit: limitField(200, 50),
    cursor: z.string().optional(),
  }),
  output: z.strictObject({
    incidents: z.array(incidentSchema),
    next_cursor: z.string().nullable(),
  }),
  refusals: [badRequest],
})(async ({ store, account }, { open, limit, cursor }) => {
  const before = cursorFrom(cursor, z.object({ before: z.int() }))?.before ?? null
  const filter = open === undefined ? null : open === 'true'
  const found = await store.alerts.incidents(account.id, filter, limit + 1, before)
  const { page, next_cursor } = pageOf(found, limit, ({ seq }) => ({ before: seq }))
  return {
    incidents: page.map(shownIncident),
    next_cursor,
  }
})

/** Shows an incident on the wire. */
export function shownIncident({
  seq,
  value,
}: Pick<Numbered<Incident>, 'seq' | 'value'>): z.infer<typeof incidentSchema> {
  const { dialogue, agent_id, opened, updated, closed, notified: _, ...incident } = value
  return {
    id: incidentId(seq),
    ...incident,
    ...(dialogue ? { dialogue } : {}),
    ...(agent_id === '' ? {} : { agent_id }),
    opened: isoTime(opened),
    updated: isoTime(updated),
    closed: closed === null ? null : isoTime(closed),
  }
}
