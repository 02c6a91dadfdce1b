import {
  isNews,
  movedTier,
  paidTier,
  readSubscriptionChange,
} from '../../core/accounts/subscription.ts'
import type { TierName } from '../../core/accounts/tiers.ts'
import type { Change, Service } from '../gate/context.ts'
import { Refusal } from '../gate/refusal.ts'

/**
 * Takes an event of the payment provider, once, and moves the tier of its account as the subscriptions say. An event
 * that comes late changes nothing. Refuses one whose signature is wrong or old (400).
 */
export async function takePaymentEvent(
  service: Service,
  body: Uint8Array,
  signature: string,
  caller: Pick<Change, 'request_id' | 'address'>,
): Promise<void> {
  const { payment, settings, logChange } = service
  if (payment === null) {
    throw new Refusal(501, 'not_configured', {
      detail: 'No payment provider is configured: PLUMBLINE_STRIPE_KEY.',
    })
  }
  const event = await payment.readEvent(body, signature)
  if (event === null) {
    throw new Refusal(400, 'bad_signature', {
      detail:
        'The header stripe-signature does not sign this body with PLUMBLINE_STRIPE_WEBHOOK_SECRET, or is older than 5 minutes.',
    })
  }
  const tiers = new Map([...settings.prices].map(([tier, price]) => [price, tier]))
  const moved = await applyEvent(service, event, (price) => tiers.get(price) ?? null)
  if (moved !== null) logChange({ action: 'upgrade.event', ...caller, ...moved })
}

function applyEvent(
  { store, now }: Service,
  event: { id: string },
  tierOfPrice: (price: string) => TierName | null,
): Promise<{ account: string; tier: TierName } | null> {
  const change = readSubscriptionChange(event, tierOfPrice)
  return store.tx(async ({ accounts, subscriptions }) => {
    if (!(await subscriptions.addEvent(event.id, now())) || change === null) return null
    const known = await subscriptions.find(change.subscription)
    const account = known?.account ?? change.account
    // An account that was erased meanwhile has nothing to move.
    if (account === null || !(await accounts.lock(account))) return null
    // Read it again: another event of the account may have held the lock.
    const stored = await subscriptions.find(change.subscription)
    if (!isNews(stored, change)) return null
    const before = paidTier(await subscriptions.of(account))
    await subscriptions.set({ ...change, account })
    const after = paidTier(await subscriptions.of(account))
    const current = (await accounts.find(account))?.tier ?? 'ground'
    const tier = movedTier(current, before, after)
    if (tier === current) return null
    await accounts.setTier(account, tier)
    return { account, tier }
  })
}
