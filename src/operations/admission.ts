import { isSpelledKey } from '../core/keys.ts'
import { type Tier, tierNamed } from '../core/tiers.ts'
import type { Account } from '../storage/accounts.ts'
import type { AddressLimit, Call, KeyedDeclaration, Service } from './operation.ts'
import { Refusal } from './refusal.ts'

const dayMs = 86_400_000

/** An account that may go on, and the way to take back its count when the answer is a 404. */
export interface Admitted {
  account: Account
  tier: Tier
  uncount(): Promise<void>
}

/** Counts a call of an address against its daily limit; refuses it with 429 past the limit. */
export async function admitAddress(
  service: Service,
  call: Call,
  limit: AddressLimit,
): Promise<void> {
  const perDay = limit.perDay(service.settings)
  if (perDay === 0) return
  await count(service, call, `${limit.counter}:${call.address}`, perDay, 'This address')
}

/** Tells whose call it is (401), whether the tier allows it (402), and counts it (429). */
export async function admitAccount(
  service: Service,
  call: Call,
  { paid, unmetered }: Pick<KeyedDeclaration<unknown, unknown>, 'paid' | 'unmetered'>,
): Promise<Admitted> {
  const account = await accountOf(service, call)
  const tier = tierNamed(service.settings.tiers, account.tier)
  if (paid !== undefined && account.tier === 'ground') {
    throw new Refusal(402, 'upgrade_required', {
      detail: paid,
      upgrade: service.settings.upgradeUrl(),
    })
  }
  const kind = call.method === 'GET' || call.method === 'HEAD' ? 'reads' : 'writes'
  const perDay = tier[kind]
  if (unmetered || perDay === null) return { account, tier, uncount: async () => {} }
  const bucket = quotaBucket(account.id, kind)
  await count(service, call, bucket, perDay, 'This account')
  return {
    account,
    tier,
    async uncount() {
      const used = await service.store.counters.count(bucket, dayOf(service.now()), -1)
      call.headers['x-ratelimit-remaining'] = String(Math.max(0, perDay - used))
    },
  }
}

/** The counter of an account's reads or writes. */
export function quotaBucket(account: string, kind: 'reads' | 'writes'): string {
  return `${kind}:${account}`
}

/** Days since 1970-01-01 UTC. */
export function dayOf(now: number): number {
  return Math.floor(now / dayMs)
}

/** Seconds until the daily counts begin anew, at midnight UTC. */
export function secondsToMidnight(now: number): number {
  return Math.ceil(((dayOf(now) + 1) * dayMs - now) / 1000)
}

async function accountOf(service: Service, { credential }: Call): Promise<Account> {
  if (credential === undefined) {
    throw new Refusal(
      401,
      'no_key',
      { detail: 'Send a key as Authorization: Bearer KEY, or as the query parameter key.' },
      challenge,
    )
  }
  const account = isSpelledKey(credential)
    ? await service.store.accounts.withKey(service.hash(credential), service.now())
    : null
  if (account === null) throw new Refusal(401, 'bad_key', {}, challenge)
  return account
}

const challenge = { 'www-authenticate': 'Bearer' }

async function count(
  { store, now }: Service,
  call: Call,
  bucket: string,
  perDay: number,
  who: string,
): Promise<void> {
  const at = now()
  const used = await store.counters.count(bucket, dayOf(at), 1)
  const resetSeconds = secondsToMidnight(at)
  call.headers['x-ratelimit-limit'] = String(perDay)
  call.headers['x-ratelimit-remaining'] = String(Math.max(0, perDay - used))
  call.headers['x-ratelimit-reset'] = String(resetSeconds)
  if (used <= perDay) return
  throw new Refusal(
    429,
    'rate_limit',
    {
      detail: `${who} has used its ${perDay} calls for today (UTC). They are renewed in ${resetSeconds} seconds.`,
      retry_after_s: resetSeconds,
    },
    { 'retry-after': String(resetSeconds) },
  )
}
