import { isSpelledKey } from '../../core/accounts/keys.ts'
import { type Tier, tierNamed } from '../../core/accounts/tiers.ts'
import { unknownAddress } from '../../core/address.ts'
import { dayMs, dayOf } from '../../core/time.ts'
import type { Account } from '../../storage/accounts.ts'
import type { Service } from './context.ts'
import type { AddressLimit, Call, KeyedDeclaration } from './declaration.ts'
import { Refusal } from './refusal.ts'

/** What admission looks at in a call. */
export type Caller = Pick<Call, 'method' | 'address' | 'credential' | 'headers'>

/** An account that may go on, and the way to take back its count when the answer is a 404. */
export interface Admitted {
  account: Account
  tier: Tier
  uncount(): Promise<void>
}

/** Counts a call of an address against its daily limit; refuses it with 429 past the limit. */
export async function admitAddress(
  service: Service,
  call: Caller,
  limit: AddressLimit,
): Promise<void> {
  const perDay = limit.perDay(service.settings)
  if (perDay === 0) return
  const bucket = await bucketOf(service, call, limit)
  const { refusal } = await count(service, call, bucket, perDay, 'This address', limit.setting)
  if (refusal !== null) throw refusal
}

function bucketOf(
  { store, now }: Service,
  { address }: Caller,
  { counter }: AddressLimit,
): Promise<string> | string {
  // There is one of it, so it is not among those that are limited.
  if (address === unknownAddress) return `${counter}:${address}`
  return store.addressBuckets.find(counter, address, dayOf(now()))
}

/** Tells whose call it is (401), whether the tier allows it (402), and counts it (429). */
export async function admitAccount(
  service: Service,
  call: Caller,
  { paid, unmetered }: Pick<KeyedDeclaration<unknown, unknown>, 'paid' | 'unmetered'>,
): Promise<Admitted> {
  const account = await accountOf(service, call)
  const tier = tierNamed(service.settings.tiers, account.tier)
  if (paid !== undefined && !tier[paid.flag]) {
    throw new Refusal(402, 'upgrade_required', {
      detail: paid.detail,
      upgrade: service.settings.upgradeUrl(),
    })
  }
  if (unmetered) return { account, tier, uncount: async () => {} }
  const kind = call.method === 'GET' || call.method === 'HEAD' ? 'reads' : 'writes'
  const bucket = quotaBucket(account.id, kind)
  const { refusal, uncount } = await count(service, call, bucket, tier[kind], 'This account')
  if (refusal !== null) {
    // Refusals must not use up what a higher tier would allow today.
    await uncount()
    throw refusal
  }
  return { account, tier, uncount }
}

/** Admits the operator and nobody else (401). */
export function admitAdmin(service: Service, { credential }: Call): void {
  if (credential === undefined || credential === '') {
    throw noKey('Send the admin token as Authorization: Bearer TOKEN.')
  }
  if (!service.isAdminToken(credential)) throw badKey()
}

/** The counter of an account's reads or writes. */
export function quotaBucket(account: string, kind: 'reads' | 'writes'): string {
  return `${kind}:${account}`
}

/** Seconds until the daily counts begin anew, at midnight UTC. */
export function secondsToMidnight(now: number): number {
  return Math.ceil(((dayOf(now) + 1) * dayMs - now) / 1000)
}

async function accountOf(service: Service, { credential }: Caller): Promise<Account> {
  if (credential === undefined || credential === '') {
    throw noKey('Send a key as Authorization: Bearer KEY, or as the query parameter key.')
  }
  const account = isSpelledKey(credential)
    ? await service.store.accounts.withKey(service.hash(credential), service.now())
    : null
  if (account === null) throw badKey()
  return account
}

const challenge = { 'www-authenticate': 'Bearer' }

function noKey(detail: string): Refusal {
  return new Refusal(401, 'no_key', { detail }, challenge)
}

function badKey(): Refusal {
  return new Refusal(401, 'bad_key', {}, challenge)
}

interface Counted {
  /** What a call past the limit is told. */
  refusal: Refusal | null
  /** Takes the count back, on the day it was made. */
  uncount(): Promise<void>
}

/** Counts a call and tells the caller what is left; a limit of null is none, and is not spoken of. */
async function count(
  { store, now }: Service,
  { headers }: Caller,
  bucket: string,
  perDay: number | null,
  who: string,
  setting?: AddressLimit['setting'],
): Promise<Counted> {
  const at = now()
  const day = dayOf(at)
  const used = await store.counters.count(bucket, day)
  if (perDay === null) {
    return {
      refusal: null,
      uncount: async () => void (await store.counters.count(bucket, day, -1)),
    }
  }
  const resetSeconds = secondsToMidnight(at)
  const tellLeft = (used: number) => {
    headers['x-ratelimit-remaining'] = String(Math.max(0, perDay - used))
  }
  headers['x-ratelimit-limit'] = String(perDay)
  headers['x-ratelimit-reset'] = String(resetSeconds)
  tellLeft(used)
  return {
    refusal: used > perDay ? usedUp(who, perDay, resetSeconds, setting) : null,
    uncount: async () => tellLeft(await store.counters.count(bucket, day, -1)),
  }
}

function usedUp(
  who: string,
  perDay: number,
  resetSeconds: number,
  setting: AddressLimit['setting'] | undefined,
): Refusal {
  const raised =
    setting === undefined ? '' : ` The operator of this server can raise the limit with ${setting}.`
  return new Refusal(
    429,
    'rate_limit',
    {
      detail: `${who} has used its ${perDay} calls for today (UTC). The limit resets in ${resetSeconds} seconds.${raised}`,
      retry_after_s: resetSeconds,
    },
    { 'retry-after': String(resetSeconds) },
  )
}
