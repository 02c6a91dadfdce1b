import { isTierName, type TierName, tierNames } from './tiers.ts'

/** What an event of the payment provider says about a subscription. */
export interface SubscriptionChange {
  subscription: string
  /** The customer at the provider; null if the event does not say. */
  customer: string | null
  /** The account that the checkout was for; null if the event does not say. */
  account: string | null
  /** The tier that the subscription pays for; null for none that this server sells. */
  tier: TierName | null
  /** Whether it is paid for, or the provider still tries. */
  live: boolean
  /** Whether it ends by itself. */
  ending: boolean
  /** Whether it has ended for good. */
  over: boolean
  /** The order among the events of a subscription: a later one has a higher number. */
  version: number
}

/** A subscription as it is stored. */
export type Subscription = Omit<SubscriptionChange, 'account'> & { account: string }

const liveStatuses = ['active', 'trialing', 'past_due']
const finalStatuses = ['canceled', 'incomplete_expired']

/**
 * Reads an event of Stripe; null for one that says nothing about a subscription. `tierOfPrice` knows the prices that
 * this server sells. A subscription at another price, such as one of last year, keeps the tier of its checkout.
 */
export function readSubscriptionChange(
  event: unknown,
  tierOfPrice: (price: string) => TierName | null,
): SubscriptionChange | null {
  const { type, created, data } = fieldsOf(event)
  const object = fieldsOf(fieldsOf(data).object)
  if (typeof type !== 'string' || typeof created !== 'number') return null
  const metadata = fieldsOf(object.metadata)
  const boughtTier =
    typeof metadata.tier === 'string' && isTierName(metadata.tier) ? metadata.tier : null
  const common = {
    customer: idOf(object.customer),
    account: textOf(metadata.account) ?? textOf(object.client_reference_id),
    version: created * ranks.length + rankOf(type),
  }
  if (type.startsWith('checkout.session.')) {
    const subscription = idOf(object.subscription)
    const isPaid = paidCheckouts.includes(type) && object.payment_status !== 'unpaid'
    if (subscription === null || !isPaid) return null
    return { ...common, subscription, tier: boughtTier, live: true, ending: false, over: false }
  }
  const subscription = idOf(object)
  const { status } = object
  if (!type.startsWith('customer.subscription.') || subscription === null) return null
  if (typeof status !== 'string') return null
  const { data: items } = fieldsOf(object.items)
  const tiers = (Array.isArray(items) ? items : [])
    .map((item) => idOf(fieldsOf(item).price))
    .map((price) => (price === null ? null : tierOfPrice(price)))
  const over = type.endsWith('.deleted') || finalStatuses.includes(status)
  return {
    ...common,
    subscription,
    tier: highestTier(tiers) ?? boughtTier,
    live: !over && liveStatuses.includes(status),
    ending: object.cancel_at_period_end === true || typeof object.cancel_at === 'number',
    over,
  }
}

/** Whether an event brings news about a subscription: an earlier one, and one after the end, does not. */
export function isNews(stored: Subscription | null, change: SubscriptionChange): boolean {
  return stored === null || (!stored.over && change.version >= stored.version)
}

/** The tier that subscriptions pay for; null without a live one. */
export function paidTier(subscriptions: readonly Subscription[]): TierName | null {
  return highestTier(subscriptions.map(({ live, tier }) => (live ? tier : null)))
}

/**
 * The tier of an account of the tier `current` whose subscriptions paid for `before` and now pay for `after`. A tier
 * that the operator has given stays: no payment lowers it, and neither does the end of a cheaper subscription.
 */
export function movedTier(
  current: TierName,
  before: TierName | null,
  after: TierName | null,
): TierName {
  const [was, is] = [before ?? 'ground', after ?? 'ground']
  if (rank(is) > rank(was)) return rank(is) > rank(current) ? is : current
  return rank(is) < rank(was) && current === was ? is : current
}

/** The lowest of the tiers `sold` above `current`; null if none is. */
export function nextTier(current: TierName, sold: readonly TierName[]): TierName | null {
  return tierNames.find((name) => rank(name) > rank(current) && sold.includes(name)) ?? null
}

/** Whether a tier is above another. */
export function isAbove(tier: TierName, other: TierName): boolean {
  return rank(tier) > rank(other)
}

function rank(tier: TierName): number {
  return tierNames.indexOf(tier)
}

function highestTier(tiers: readonly (TierName | null)[]): TierName | null {
  return tierNames.findLast((name) => tiers.includes(name)) ?? null
}

const paidCheckouts = ['checkout.session.completed', 'checkout.session.async_payment_succeeded']

/** Events of one second in the order in which they count: the subscription knows more than its checkout. */
const ranks = [
  'checkout.session.',
  'customer.subscription.created',
  'customer.subscription.',
  'customer.subscription.deleted',
]

/** The place of a type that is listed itself, and otherwise of the one that begins it. */
function rankOf(type: string): number {
  const exact = ranks.indexOf(type)
  return exact >= 0 ? exact : ranks.findIndex((start) => type.startsWith(start))
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** The id of an object, which an event holds whole or by its id. */
function idOf(value: unknown): string | null {
  return textOf(value) ?? textOf(fieldsOf(value).id)
}
