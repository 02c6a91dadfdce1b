import { z } from 'zod'
import { summariseCost } from '../../core/accounts/cost.ts'
import { tierNames } from '../../core/accounts/tiers.ts'
import { share, tokenCount } from '../gate/fields.ts'
import { keyed } from '../gate/operation.ts'

/** The newest entries of the run index that a cost summary covers. */
const scannedRuns = 100

/** Returns the cost of the account's recent runs. */
export const readCost = keyed({
  name: 'cost.read',
  group: 'detector',
  summary: 'The tokens that the most recent runs reported.',
  description: 'Covers the 100 most recent runs of the index, without expired runs.',
  unmetered: true,
  http: { method: 'GET', path: '/v1/cost' },
  input: z.object({}),
  output: z
    .strictObject({
      tier: z.enum(tierNames),
      runs: z.int().min(0).max(scannedRuns),
      runs_with_tokens: z.int().min(0).describe('Runs with at least one token count.'),
      steps: z.int().min(0).describe('All steps, with a token count or without.'),
      tokens: tokenCount,
      overhead_tokens: tokenCount.describe('Tokens of steps marked as overhead.'),
      work_tokens: tokenCount.describe('Tokens of steps not marked as overhead.'),
      overhead_fraction: share.describe('Overhead tokens divided by all tokens.'),
      tokens_per_step: tokenCount.describe('Tokens divided by all steps.'),
    })
    .meta({ id: 'CostSummary' }),
})(async ({ store, account, tier, now }) =>
  summariseCost(tier.name, await store.runs.recent(account.id, now(), scannedRuns)),
)
