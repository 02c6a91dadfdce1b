import { z } from 'zod'
import { isAbove, nextTier } from '../../core/accounts/subscription.ts'
import { type TierName, tierNames } from '../../core/accounts/tiers.ts'
import { minuteMs } from '../../core/time.ts'
import type { Payment } from '../../outbound/payment.ts'
import type { Keyed, Service } from '../gate/context.ts'
import type { DescribedRefusal, Operation } from '../gate/declaration.ts'
import { badRequest, describeRefusal } from '../gate/declaration.ts'
import { keyed } from '../gate/operation.ts'
import { countRate } from '../gate/rate-limit.ts'
import { Refusal } from '../gate/refusal.ts'
import { rateLimitRefusal } from '../gate/refusals.ts'
import { tierName } from './tiers.ts'

const retryAfterSeconds = 30
const pagesPerMinute = 10

const paymentDown: DescribedRefusal = {
  status: 503,
  words: ['unavailable'],
  when: 'The payment provider did not answer.',
  fields: { detail: z.string(), retry_after_s: z.int() },
}

const upgradeSchema = z.strictObject({
  url: z.string().describe('The page at which a person pays, or changes what is paid for.'),
  tier: tierName,
})

type Upgrade = z.infer<typeof upgradeSchema>

const askForUpgrade = keyed({
  name: 'upgrade.read',
  group: 'account',
  summary: 'Where a person pays for a higher tier.',
  description: `Without \`tier\` it is the next higher one. For an account that pays already, the page is the one that changes or ends the subscription. The provider is asked for at most ${pagesPerMinute} pages a minute. The tier moves when the payment provider reports the payment. A browser that opens this address is led to the page (303).`,
  http: { method: 'GET', path: '/v1/upgrade' },
  unmetered: true,
  input: z.object({ tier: tierName.optional() }),
  output: upgradeSchema,
  refusals: [
    badRequest,
    describeRefusal(409, 'conflict', 'The account has this tier already, or a higher one.'),
    describeRefusal(501, 'not_configured', 'This server sells no tiers.'),
    { ...rateLimitRefusal, when: `More than ${pagesPerMinute} pages in a minute.` },
    paymentDown,
  ],
})(async (context, { tier }) => {
  const { account, payment, settings } = context
  if (payment !== null) return { outside: () => pageOf(context, payment, tier) }
  if (settings.upgradePage !== null) {
    const next = tier ?? nextTier(account.tier, tierNames)
    return { url: settings.upgradePage, tier: next ?? account.tier }
  }
  throw new Refusal(501, 'not_configured', {
    detail: 'This server sells no tiers. Ask its operator for a higher one.',
  })
})

/** Leads to a higher tier: programs get the address, and a browser is led there. */
export const readUpgrade: typeof askForUpgrade = {
  ...askForUpgrade,
  async answer(service, call) {
    const isVisit = call.browser?.().isVisit === true
    try {
      const answer = await askForUpgrade.answer(service, call)
      return isVisit ? leadTo(call.headers, (answer.body as Upgrade).url, answer) : answer
    } catch (error) {
      if (!isVisit || !(error instanceof Refusal) || error.status !== 401) throw error
      const { tier } = call.query
      const back = `/v1/upgrade${tier === undefined ? '' : `?${new URLSearchParams({ tier })}`}`
      const signIn = `/signin?${new URLSearchParams({ to: back })}`
      return leadTo(call.headers, signIn, { status: 401, body: error.body })
    }
  },
}

function leadTo(
  headers: Record<string, string>,
  location: string,
  { body }: Awaited<ReturnType<Operation['answer']>>,
) {
  headers.location = location
  return { status: 303, body }
}

/** Whether `/v1/upgrade` leads anywhere. */
export function sellsTiers({ payment, settings }: Pick<Service, 'payment' | 'settings'>): boolean {
  return payment !== null || settings.upgradePage !== null
}

/** The page at the payment provider: for a customer that of the subscription, otherwise the checkout of a tier. */
async function pageOf(
  context: Keyed,
  payment: Payment,
  tier: TierName | undefined,
): Promise<Upgrade> {
  const { settings, account, store } = context
  // No daily quota counts the call, and each page is a request to the provider.
  await countRate(context, {
    counter: `upgrades:${account.id}`,
    limit: pagesPerMinute,
    windowMs: minuteMs,
    what: 'pages a minute',
  })
  const returnUrl = `${settings.baseUrl()}/app/settings`
  const subscriptions = await store.subscriptions.of(account.id)
  const paying = subscriptions.find(({ live }) => live)?.customer ?? null
  if (paying !== null) {
    const url = await payment.portal(paying, returnUrl)
    return { url: url ?? refuseDown(), tier: tier ?? account.tier }
  }
  const wanted = tier ?? nextTier(account.tier, [...settings.prices.keys()])
  const sold = [...settings.prices.keys()].join(', ')
  if (wanted === null || !isAbove(wanted, account.tier)) {
    throw new Refusal(409, 'conflict', {
      detail: `This account has the tier ${account.tier} already. This server sells ${sold}.`,
    })
  }
  const price = settings.prices.get(wanted)
  if (price === undefined) throw new Refusal(400, 'bad_request', { detail: `tier: send ${sold}` })
  const { email, verified } = await store.emails.of(account.id)
  const url = await payment.checkout({
    account: account.id,
    tier: wanted,
    price,
    email: verified ? email : null,
    customer: subscriptions.find(({ customer }) => customer !== null)?.customer ?? null,
    returnUrl,
  })
  return { url: url ?? refuseDown(), tier: wanted }
}

function refuseDown(): never {
  throw new Refusal(
    503,
    'unavailable',
    {
      detail: 'The payment provider did not answer. Nothing was paid; try again.',
      retry_after_s: retryAfterSeconds,
    },
    { 'retry-after': String(retryAfterSeconds) },
  )
}
