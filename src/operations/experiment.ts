import { z } from 'zod'
import { compareArms } from '../core/experiment.ts'
import { keyed } from './operation.ts'
import { score } from './verdict.ts'

const tokens = z.number().min(0)

const pairedArm = z.strictObject({
  run_id: z.string().describe('The run; of several the last in the order of their ids.'),
  run_ids: z.array(z.string()),
  tokens: tokens.nullable(),
  score: score.nullable(),
  outcome: z.string().nullable(),
})

/** What the treatment saves or costs over the account's paired runs. */
export const readExperiment = keyed({
  name: 'experiment.read',
  group: 'detector',
  summary: 'Paired token costs of treatment and control.',
  description:
    'Differences are treatment minus control, over complete pairs; a bootstrap interval and an exact sign-flip test, sampled above 20 pairs. The same runs give the same bytes.',
  http: { method: 'GET', path: '/v1/experiment' },
  input: z.object({}),
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
      treatment_tokens: tokens,
      control_tokens: tokens,
      net_tokens: z.number(),
      mean_delta: z.number(),
      ci95: z.tuple([z.number(), z.number()]).nullable(),
      p_value: z.number().min(0).max(1).nullable(),
      verdict: z.enum(['less', 'more', 'no evidence', 'too few']),
    })
    .meta({ id: 'Experiment' }),
})(async ({ store, account, now }) => {
  const runs = await store.runs.paired(account.id, now())
  return compareArms(
    runs.flatMap(({ run_id, pair, arm, tokens, token_steps, score, outcome }) =>
      pair === null || arm === null
        ? []
        : { run_id, pair, arm, tokens: token_steps === 0 ? null : tokens, score, outcome },
    ),
  )
})
