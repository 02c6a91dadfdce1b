import { z } from 'zod'
import { incidentId } from '../../core/alerts/outbox.ts'
import { isoTime } from '../../core/time.ts'
import { badRequest } from '../gate/declaration.ts'
import { time } from '../gate/fields.ts'
import { cursorFrom, limitField, pageOf } from '../gate/list.ts'
import { keyed } from '../gate/operation.ts'
import { score } from '../steps/verdict.ts'
import { severitySchema } from './alerts.ts'

const incidentSchema = z
  .strictObject({
    id: z.string(),
    run_id: z.string().describe('The conversation, of a dialogue.'),
    dialogue: z.literal(true).optional(),
    agent_id: z.string().optional(),
    reason: z.string(),
    severity: severitySchema.describe('The gravest it was told of with.'),
    opened: time,
    updated: time.describe('Of the last drifting step.'),
    closed: time.nullable().describe('Null while it goes on.'),
    steps: z.int().min(1).describe('Drifting steps that were not held back by the config.'),
    phi: score.describe('Of the last of them.'),
    max_phi: score,
  })
  .meta({ id: 'Incident' })

/** Drift as incidents: one for each agent of a run and reason, from its first step to the return. */
export const listIncidents = keyed({
  name: 'alerts.incidents',
  group: 'operating',
  summary: 'Incidents of 30 days, those that were opened last first.',
  description:
    'There are some once `incidents` is set with POST /v1/alerts. They go with their run or dialogue.',
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
    incidents: page.map(({ seq, value }) => {
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
    }),
    next_cursor,
  }
})
