import { z } from 'zod'
import { tierNames } from '../../core/accounts/tiers.ts'
import { open } from '../gate/operation.ts'

/** The name of a tier. */
export const tierName = z.enum(tierNames, `send ${tierNames.join(', ')}`)

const perDay = z.int().min(0).nullable()

const tier = z
  .strictObject({
    name: tierName,
    reads: perDay.describe('Keyed GETs a day; null is unlimited.'),
    writes: perDay.describe('Other keyed requests a day; null is unlimited.'),
    retention_days: z
      .int()
      .min(1)
      .describe('The days that the server keeps a run after its last step.'),
    seats: z.int().min(1).nullable().describe('Seats of a team; null is unlimited.'),
    alerts: z.boolean(),
    digest: z.boolean(),
    price_usd: z.number().min(0).nullable().describe('The price per month; null is by agreement.'),
  })
  .meta({ id: 'Tier' })

/** Lists the tiers of this server. */
export const listTiers = open({
  name: 'tiers.list',
  group: 'account',
  summary: 'The tiers with their daily limits and prices.',
  http: { method: 'GET', path: '/v1/tiers' },
  input: z.object({}),
  output: z.strictObject({ tiers: z.array(tier) }),
})(async ({ settings }) => ({ tiers: [...settings.tiers] }))
