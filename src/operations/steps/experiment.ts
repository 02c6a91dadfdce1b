import { z } from 'zod'
import { compareArms, type ExperimentRun } from '../../core/evaluation/experiment.ts'
import type { PairedRun } from '../../storage/runs/runs.ts'
import type { Keyed } from '../gate/context.ts'
import { inSlices, nextTurn } from '../gate/event-loop-turns.ts'
import { tokenCount } from '../gate/fields.ts'
import { cursorFrom, limitField, pageOf } from '../gate/list.ts'
import { keyed } from '../gate/operation.ts'
import { score } from './verdict.ts'

/** The most pairs of one answer. */
const maxPairs = 1_000

/** Runs that are read in one turn of the event loop. */
const runsPerTurn = 1_000

const pairedArm = z.strictObject({
  run_id: z
    .string()
    .describe('The id of the run. If several runs share the pair and arm, the last id in order.'),
  run_ids: z.array(z.string()),
  tokens: tokenCount.nullable(),
  score: score.nullable(),
  outcome: z.string().nullable(),
})

/** Compares the token costs of treatment and control over the account's paired runs. */
export const readExperiment = keyed({
  name: 'experiment.read',
  group: 'detector',
  summary: 'Paired token costs of treatment and control.',
  description:
    'Differences are treatment minus control, over complete pairs. The interval is a bootstrap interval. The test is an exact sign-flip test, sampled above 20 pairs. The same runs give the same bytes. An answer lists `limit` pairs in the order of their names, and `next_cursor` leads to the next ones. All other numbers cover all pairs.',
  http: { method: 'GET', path: '/v1/experiment' },
  input: z.object({
    limit: limitField(maxPairs, maxPairs),
    cursor: z.string().optional(),
  }),
  output: z
    .strictObject({
      pairs: z.array(
        z.strictObject({
          pair: z.string(),
          treatment: pairedArm.nullable(),
          control: pairedArm.nullable(),
          delta_tokens: z.number().nullable(),
        }),
      ),
      complete_pairs: z.int().min(0),
      incomplete_pairs: z.int().min(0),
      treatment_tokens: tokenCount,
      control_tokens: tokenCount,
      net_tokens: z.number(),
      mean_delta: z.number(),
      ci95: z.tuple([z.number(), z.number()]).nullable(),
      p_value: z.number().min(0).max(1).nullable(),
      verdict: z.enum(['less', 'more', 'no evidence', 'too few']),
      next_cursor: z.string().nullable(),
    })
    .meta({ id: 'Experiment' }),
})(async (context, { limit, cursor }) => {
  const after = cursorFrom(cursor, z.object({ pair: z.string() }))
  const { pairs, ...compared } = await inSlices(compareArms(await readRuns(context)))
  const first = after === null ? 0 : pairs.findIndex(({ pair }) => pair > after.pair)
  const found = first < 0 ? [] : pairs.slice(first, first + limit + 1)
  const { page, next_cursor } = pageOf(found, limit, ({ pair }) => ({ pair }))
  return { pairs: page, ...compared, next_cursor }
})

/** Reads the runs of all pairs in slices. */
async function readRuns({ store, account, now }: Keyed): Promise<ExperimentRun[]> {
  const at = now()
  const runs: ExperimentRun[] = []
  let last: PairedRun | undefined
  for (;;) {
    const page = await store.runs.paired(account.id, at, last ?? null, runsPerTurn)
    for (const { token_steps, tokens, ...run } of page) {
      runs.push({ ...run, tokens: token_steps === 0 ? null : tokens })
    }
    last = page.at(-1)
    if (page.length < runsPerTurn) return runs
    await nextTurn()
  }
}
