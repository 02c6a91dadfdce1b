import { z } from 'zod'
import { gapReasons, type ShowEvents, type ShownEvent } from '../jobs/channels.ts'
import { type PlacedEvent, stepsOf } from '../storage/database/stream.ts'
import type { Store } from '../storage/store.ts'
import { deliverySchema, shownDelivery } from './operating/alert-deliveries.ts'
import { escalationSchema, shownEscalation } from './operating/escalation.ts'
import { incidentSchema, shownIncident } from './operating/incidents.ts'
import { listedRunSchema, shownListed } from './steps/run-list.ts'
import { traceStep, traceStepSchema } from './steps/runs.ts'

/** The data of each event of a stream. What is gone has its id and `deleted`. */
export const streamEventSchemas = {
  step: traceStepSchema.extend({ run_id: z.string() }).meta({ id: 'StreamedStep' }),
  run: z.union([listedRunSchema, z.strictObject({ run_id: z.string(), deleted: z.literal(true) })]),
  incident: incidentSchema,
  escalation: z.union([
    escalationSchema,
    z.strictObject({ esc_id: z.string(), run_id: z.string(), deleted: z.literal(true) }),
  ]),
  delivery: deliverySchema,
  gap: z.strictObject({
    reason: z
      .enum(gapReasons)
      .describe(
        'Whether the listener was too slow, its id is older than an hour, or the server could not read what changed.',
      ),
  }),
}

/** The data of each event of a stream, by the name of the event. */
export type StreamData = {
  [Name in keyof typeof streamEventSchemas]: z.infer<(typeof streamEventSchemas)[Name]>
}

/** Creates the function that shows events as the routes for their subjects do, by the state of now. */
export function createShowEvents(store: Store, now: () => number): ShowEvents {
  return async (account, events) => {
    const lastOf = new Map(events.map((event, place) => [subjectOf(event), place]))
    // A delivery changes nothing of how its run stands.
    const runEnds = new Map(
      events.flatMap(({ kind, run_id }, place) => (kind === 'delivery' ? [] : [[run_id, place]])),
    )
    const shown = await Promise.all(
      events.map(async (event, place) => [
        // Several changes of one subject show the same state.
        ...(event.kind === 'steps' || lastOf.get(subjectOf(event)) === place
          ? await showEvent(store, account, event)
          : []),
        ...(runEnds.get(event.run_id) === place ? await showRun(store, account, event, now()) : []),
      ]),
    )
    return shown.flat()
  }
}

function subjectOf({ kind, subject }: PlacedEvent): string {
  return `${kind} ${subject}`
}

async function showEvent(store: Store, account: string, event: PlacedEvent): Promise<ShownEvent[]> {
  const { kind, run_id, subject } = event
  switch (kind) {
    case 'steps': {
      const { first, last } = stepsOf(subject)
      const steps = await store.runs.trace(account, run_id, first - 1, last - first + 1)
      return steps.map((row) => ({
        ...told(event, 'step', { run_id, ...traceStep(row) }),
        step: row.step,
      }))
    }
    case 'incident': {
      const found = await store.alerts.incident(account, Number(subject))
      return found === null ? [] : [told(event, 'incident', shownIncident(found))]
    }
    case 'escalation': {
      const found = await store.escalations.find(account, subject)
      const gone = { esc_id: subject, run_id, deleted: true }
      return [told(event, 'escalation', found === null ? gone : shownEscalation(found))]
    }
    case 'delivery': {
      const seq = Number(subject)
      const found = await store.deliveries.find(account, seq)
      if (found === null) return []
      const attempts = await store.deliveries.attemptsOf(account, [seq])
      return [told(event, 'delivery', shownDelivery(found, attempts.get(seq) ?? []))]
    }
    case 'run':
      return []
  }
}

/** Shows the run of an event as a list does, since each event of a run can change how it stands there. */
async function showRun(
  store: Store,
  account: string,
  event: PlacedEvent,
  at: number,
): Promise<ShownEvent[]> {
  const { run_id, kind } = event
  if (run_id === '') return []
  const found = await store.runs.listed(account, run_id, at)
  if (found === null) {
    return kind === 'run' ? [told(event, 'run', { run_id, deleted: true })] : []
  }
  const shown = await shownListed(store, account, [found], at)
  return shown.map((run) => told(event, 'run', run))
}

function told({ tx, seq, run_id }: PlacedEvent, name: string, content: object): ShownEvent {
  return { place: { tx, seq }, step: null, name, runId: run_id, data: JSON.stringify(content) }
}
