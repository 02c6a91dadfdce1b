import { z } from 'zod'
import { isEscalation, seqOf } from '../../core/alerts/outbox.ts'
import { hadLeft, type Label, labels, misfitOf } from '../../core/evaluation/labels.ts'
import { isoTime } from '../../core/time.ts'
import type { LabelledGoal, StoredLabel } from '../../storage/runs/labels.ts'
import type { Store } from '../../storage/store.ts'
import type { Keyed } from '../gate/context.ts'
import { badRequest, describeRefusal } from '../gate/declaration.ts'
import { exportOnce, exportRule } from '../gate/exports.ts'
import { idField, textField, time } from '../gate/fields.ts'
import { keyed } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'
import { type OfAccount, qualityLike, qualitySchema } from './quality.ts'

const noStep = describeRefusal(404, 'no_step', 'The account has no such step or incident.')

const labelSchema = z
  .strictObject({
    run_id: z.string(),
    step: z.int().min(1),
    label: z.enum(labels),
    note: z.string().nullable(),
    at: time,
    alarm: z
      .int()
      .min(1)
      .nullable()
      .describe('The step at which the drift of the step began; null if the step does not drift.'),
  })
  .meta({ id: 'Label' })

/** Records what a person says of a step. */
export const labelStep = keyed({
  name: 'labels.add',
  group: 'detector',
  summary: 'Say whether an alarm was useful, or that one was missing.',
  description:
    'The newest label of a step counts, and the history is kept until the run is deleted. `useful`, `false_alarm` and `redirected` (the user had moved the errand, and the service had not seen it) are for a step that drifts, `missed` for one that does not, `unclear` for either. `redirected` is recorded, and moves neither the ground nor a verdict.',
  http: { method: 'POST', path: '/v1/drift/label' },
  input: z
    .object({
      run_id: idField().optional().describe('The run of the step.'),
      step: z.int('send the number of a step').min(1, 'send the number of a step').optional(),
      incident: z
        .string()
        .regex(/^inc_[0-9a-z]{1,11}$/, 'send an id of GET /v1/alerts/incidents')
        .optional()
        .describe('An incident instead of a run and a step: the step with which it began.'),
      label: z.enum(labels, `send ${labels.join(', ')}`),
      note: textField().nullish(),
    })
    .refine(({ step, incident }) => (step === undefined) !== (incident === undefined), {
      path: ['step'],
      error: 'send step or incident',
    })
    .refine(({ run_id, step }) => step === undefined || run_id !== undefined, {
      path: ['run_id'],
      error: 'name the run of the step',
    }),
  output: z.strictObject({
    ok: z.literal(true),
    label: labelSchema,
    quality: qualitySchema
      .nullable()
      .describe('How good alarms like this one were; null for a step that does not drift.'),
  }),
  refusals: [badRequest, noStep],
})(addLabel)

/** What a person says of a step, or of the step with which an incident began. */
interface Said {
  run_id?: string | undefined
  step?: number | undefined
  incident?: string | undefined
  label: Label
  note?: string | null | undefined
}

/** Records what a person says of a step of an account. Throws a `Refusal` if there is no such step or the label does not fit. */
export async function addLabel(
  context: OfAccount,
  { run_id, step, incident, label, note }: Said,
): Promise<{
  ok: true
  label: z.infer<typeof labelSchema>
  quality: z.infer<typeof qualitySchema> | null
}> {
  const { account, now } = context
  const answer = await context.store.tx(async (store) => {
    await store.accounts.lock(account.id)
    const named =
      incident === undefined
        ? { run_id: run_id ?? '', step: step ?? 0 }
        : await beginningOf(store, account.id, incident, run_id)
    const at = now()
    const found = named && (await store.labels.step(account.id, named.run_id, named.step, at))
    if (named === null || found === null) {
      throw new Refusal(404, 'no_step', {
        detail: 'There is no such step. GET /v1/drift/run shows the steps of a run.',
      })
    }
    const misfit = misfitOf(label, found.drifting)
    if (misfit !== null) throw new Refusal(400, 'bad_request', { detail: `label: ${misfit}` })
    const added = { ...named, at, alarm: found.alarm, label, note: note ?? null }
    await store.labels.add(account.id, added)
    const subject = `${named.step}-${named.step}`
    await store.stream.record([
      { account: account.id, at, kind: 'steps', run_id: named.run_id, subject },
    ])
    return {
      ok: true as const,
      label: shown(added),
      quality: await qualityFor(context, store, added),
    }
  })
  // Apart from the label: a batch of steps locks its runs before its account.
  await context.store.tx(({ runs }) => runs.meet(account.id, answer.label.run_id, now()))
  return answer
}

/** The run and the step with which an incident began; null if there is none. */
async function beginningOf(
  store: Store,
  account: string,
  id: string,
  runId: string | undefined,
): Promise<{ run_id: string; step: number } | null> {
  const found = await store.alerts.incident(account, seqOf(id))
  if (found === null || found.value.dialogue || isEscalation(found.value.reason)) return null
  const { run_id, agent_id, reason, opened } = found.value
  if (runId !== undefined && runId !== run_id) return null
  const step = await store.labels.alarmAt(account, { run_id, agent_id, reason, at: opened })
  return step === null ? null : { run_id, step }
}

async function qualityFor(
  context: OfAccount,
  store: Store,
  { run_id, alarm }: StoredLabel,
): Promise<z.infer<typeof qualitySchema> | null> {
  const { account, now } = context
  if (alarm === null) return null
  const run = await store.runs.find(account.id, run_id, now())
  const [row] = await store.runs.trace(account.id, run_id, alarm - 1, 1)
  if (run === null || row === undefined) return null
  const { detector, host } = run
  return qualityLike({ ...context, store }, { reason: row.reason, detector, host })
}

function shown({ at, ...label }: StoredLabel): z.infer<typeof labelSchema> {
  return { ...label, at: isoTime(at) }
}

/** Exports the labelled steps as data that measures a detector. */
export const exportLabels = keyed({
  name: 'labels.export',
  group: 'detector',
  summary: 'The labelled steps, as JSON lines that plumbline eval reads.',
  description: `Each line is a pair of ground and goal: \`drift\` for a step whose newest label is useful or missed, \`same\` for false_alarm. Steps whose newest label is redirected or unclear say neither, and are left out. \`given\` is the label of the person. ${exportRule}`,
  http: { method: 'GET', path: '/v1/drift/labels' },
  input: z.object({}),
  output: z.unknown().describe('JSON lines.'),
  streams: 'application/x-ndjson',
})(async (context) => exportOnce(context, () => labelLines(context)))

const labelsPerPage = 200

async function* labelLines({ store, account, now }: Keyed): AsyncGenerator<string> {
  let after = { run_id: '', step: 0 }
  for (;;) {
    const page = await store.labels.newest(account.id, now(), after, labelsPerPage)
    const lines = page.flatMap(lineOf)
    if (lines.length > 0) yield `${lines.join('\n')}\n`
    if (page.length < labelsPerPage) return
    after = page.at(-1) ?? after
  }
}

function lineOf(labelled: LabelledGoal): string[] {
  const { ground, goal, label: given, run_id, step, reason, note, at } = labelled
  const left = hadLeft(given)
  if (left === null || ground === null) return []
  const label = left ? 'drift' : 'same'
  return [
    JSON.stringify({
      ground,
      goal,
      label,
      source: 'labels',
      given,
      run_id,
      step,
      reason,
      note,
      at: isoTime(at),
    }),
  ]
}
