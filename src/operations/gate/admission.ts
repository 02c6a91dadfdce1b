import { isSpelledKey, type KeyScope } from '../../core/accounts/keys.ts'
import { type Tier, tierNamed } from '../../core/accounts/tiers.ts'
import { unknownAddress } from '../../core/address.ts'
import { dayOf } from '../../core/time.ts'
import type { Account } from '../../storage/accounts.ts'
import { admitBrowser } from './browser-session.ts'
import type { Service } from './context.ts'
import { countDaily, quotaBucket } from './daily-limit.ts'
import type { AddressLimit, Call, KeyedDeclaration } from './declaration.ts'
import { Refusal } from './refusal.ts'

/** The parts of a call that admission reads. */
export type Caller = Pick<Call, 'method' | 'address' | 'credential' | 'headers' | 'browser'>

/** An admitted account and its tier. */
export interface Admitted {
  account: Account
  tier: Tier
  /** The stored session of the browser that calls; null for a call with a key. */
  session: string | null
  /** Takes the call off the daily count again. */
  refund(): Promise<void>
  /** Whether the credential still belongs to the account, for a call that goes on for long. */
  stands(): Promise<boolean>
}

/** Counts a call against the daily limit of its address. Refuses the call beyond the limit (429). */
export async function admitAddress(
  service: Service,
  call: Caller,
  limit: AddressLimit,
): Promise<void> {
  const whole = limit.perDay(service.settings)
  if (whole === 0) return
  const page = call.browser?.().sender === 'own page' ? limit.fromPage : undefined
  const perDay = page?.perDay ?? whole
  const bucket = await bucketOf(service, call, page?.counter ?? limit.counter)
  const setting = page === undefined ? limit.setting : undefined
  const { refusal } = await countDaily(service, call, bucket, perDay, 'This address', setting)
  if (refusal !== null) throw refusal
}

function bucketOf(
  { store, now }: Service,
  { address }: Caller,
  counter: string,
): Promise<string> | string {
  // All callers without a known address share this one bucket, so the table of addresses need not hold it.
  if (address === unknownAddress) return `${counter}:${address}`
  return store.addressBuckets.find(counter, address, dayOf(now()))
}

/** Finds the account of the call (401), checks its tier (402) and counts the call (429). */
export async function admitAccount(
  service: Service,
  call: Caller,
  {
    paid,
    unmetered,
    isHook = false,
  }: Pick<KeyedDeclaration<unknown, unknown>, 'paid' | 'unmetered'> & {
    /** Whether the call reports events of hooks, which is all that some keys may do. */
    isHook?: boolean
  },
): Promise<Admitted> {
  const { account, scope, session } = await ownerOf(service, call)
  if (scope === 'hooks' && !isHook) {
    throw new Refusal(403, 'forbidden', {
      detail: 'This key may only report events of hooks. Use a key of the scope full.',
    })
  }
  const tier = tierNamed(service.settings.tiers, account.tier)
  if (paid !== undefined && !tier[paid.flag]) {
    throw new Refusal(402, 'upgrade_required', {
      detail: paid.detail,
      upgrade: service.settings.upgradeUrl(),
    })
  }
  const stands = () => isOwner(service, call, account)
  if (unmetered) return { account, tier, session, stands, refund: async () => {} }
  const kind = call.method === 'GET' || call.method === 'HEAD' ? 'reads' : 'writes'
  const bucket = quotaBucket(account.id, kind)
  const { refusal, refund } = await countDaily(service, call, bucket, tier[kind], 'This account')
  if (refusal !== null) {
    // The account may move to a higher tier today, and refused calls must not use up that tier's quota.
    await refund()
    throw refusal
  }
  return { account, tier, session, stands, refund }
}

/** Whether a credential still belongs to an account; also while the database cannot say. */
async function isOwner(service: Service, call: Caller, { id }: Account): Promise<boolean> {
  try {
    return (await ownerOf(service, call)).account.id === id
  } catch (error) {
    return !(error instanceof Refusal)
  }
}

/** Admits only the operator (401). */
export function admitAdmin(service: Service, { credential }: Call): void {
  if (credential === undefined || credential === '') {
    throw noKey('Send the admin token as Authorization: Bearer TOKEN.')
  }
  if (!service.isAdminToken(credential)) throw badKey()
}

async function ownerOf(
  service: Service,
  { credential, method, browser }: Caller,
): Promise<{ account: Account; scope: KeyScope; session: string | null }> {
  if (credential === undefined) {
    const admitted = await admitBrowser(service, method, browser?.())
    if (admitted !== null) return { ...admitted, scope: 'full' }
  }
  if (credential === undefined || credential === '') {
    throw noKey('Send a key as Authorization: Bearer KEY, or as the query parameter key.')
  }
  const owner = isSpelledKey(credential)
    ? await service.store.accounts.withKey(service.hash(credential), service.now())
    : null
  if (owner === null) throw badKey()
  return { ...owner, session: null }
}

const challenge = { 'www-authenticate': 'Bearer' }

function noKey(detail: string): Refusal {
  return new Refusal(401, 'no_key', { detail }, challenge)
}

function badKey(): Refusal {
  return new Refusal(401, 'bad_key', {}, challenge)
}
