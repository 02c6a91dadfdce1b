import { z } from 'zod'
import { landingOf } from '../../core/accounts/landing.ts'
import { parseJson } from '../../core/text.ts'
import { minuteMs } from '../../core/time.ts'
import type { Identity, Person } from '../../outbound/identity.ts'
import type { Service } from '../gate/context.ts'
import type { Browser } from '../gate/declaration.ts'
import { describeRefusal } from '../gate/declaration.ts'
import { keyed } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'
import { emailField } from './accounts.ts'
import { issueKey, newKeySchema } from './keys.ts'
import { addSession } from './session.ts'

/** The path to which the provider sends the browser back. */
export const callbackPath = '/auth/callback'

/** How long a person has for signing in at the provider. */
export const signInMs = 10 * minuteMs

/** Why a sign-in failed, as `/signin?error=` names it. */
export type SignInError = 'expired' | 'state' | 'provider' | 'denied'

/** A sign-in in flight. The browser holds it sealed, so that no other browser can end it and no node need know it. */
const flowSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  to: z.string(),
  expires: z.number(),
})

/**
 * Begins a sign-in that leads to the path `to`: the address at the provider, and the sealed flow for the browser to
 * hold; or why not. Refuses it without a provider (501).
 */
export async function beginSignIn(
  service: Service,
  to: unknown,
): Promise<{ url: string; flow: string } | { error: SignInError }> {
  const identity = requireProvider(service)
  const { newToken, now } = service
  const checks = { state: newToken(), nonce: newToken(), verifier: newToken() }
  const url = await identity.begin(redirectUriOf(service), checks)
  if (url === null) return { error: 'provider' }
  const flow = { ...checks, to: landingOf(to), expires: now() + signInMs }
  return { url, flow: service.seal(JSON.stringify(flow), await flowSecret(service)) }
}

/**
 * Ends a sign-in with the provider's answer and the flow that the browser holds: signs the browser in and returns
 * the path to go to, or why not. The first sign-in of a person makes an account of the tier `ground`.
 */
export async function endSignIn(
  service: Service,
  browser: Browser,
  answer: URLSearchParams,
  sealed: string | null,
): Promise<{ to: string } | { error: SignInError }> {
  const identity = requireProvider(service)
  const flow = sealed === null ? null : await readFlow(service, sealed)
  if (flow === null || flow.expires <= service.now()) return { error: 'expired' }
  const states = answer.getAll('state')
  if (states.length !== 1 || states[0] !== flow.state) return { error: 'state' }
  if (answer.get('error') === 'access_denied') return { error: 'denied' }
  const url = new URL(redirectUriOf(service))
  url.search = answer.toString()
  const person = await identity.finish(url, flow)
  if (person === null) return { error: 'provider' }
  const { session, keyShown } = await service.store.tx(async (store) => {
    const own = { ...service, store }
    const { account, keyShown } = await accountOf(own, person)
    return { session: await addSession(own, browser, account, null), keyShown }
  })
  browser.keepSession(session)
  return { to: keyShown ? flow.to : welcomePath }
}

const welcomePath = '/welcome'

function requireProvider({ identity }: Service): Identity {
  if (identity !== null) return identity
  throw new Refusal(501, 'not_configured', {
    detail:
      'No identity provider is configured. Sign in with a key; the operator of this server makes one with plumbline keys create.',
  })
}

function redirectUriOf({ settings }: Service): string {
  return `${settings.baseUrl()}${callbackPath}`
}

function flowSecret({ store, newToken }: Service): Promise<string> {
  return store.secrets.take('sign-in', newToken())
}

async function readFlow(service: Service, sealed: string) {
  const text = service.unseal(sealed, await flowSecret(service))
  const read = flowSchema.safeParse(text === null ? null : parseJson(text))
  return read.success ? read.data : null
}

/** Finds the account of a person, or makes it, in a transaction. Of two first sign-ins at once, one makes it. */
async function accountOf(
  { store: { accounts, emails, identities }, newId, now }: Service,
  { issuer, subject, email }: Person,
): Promise<{ account: string; keyShown: boolean }> {
  const account = newId('acct')
  const created = now()
  if (!(await identities.add({ issuer, subject, account, created }))) {
    const known = await identities.find(issuer, subject)
    if (known === null) throw new Error('an identity that is neither new nor known')
    return known
  }
  await accounts.create({ id: account, tier: 'ground', email: null, created })
  const address = emailField.safeParse(email)
  if (address.success) await emails.adopt(account, address.data)
  return { account, keyShown: false }
}

/** Shows the first key of an account that a sign-in has made. */
export const showFirstKey = keyed({
  name: 'session.first-key',
  group: 'account',
  summary: 'The first key of an account that signing in has made. Only one answer shows it.',
  description:
    'For the page that a person sees after the first sign-in with an identity provider. Later keys come from POST /v1/me/keys. The call does not count against the quota.',
  http: { method: 'POST', path: '/v1/session/first-key' },
  unmetered: true,
  secret: true,
  input: z.unknown(),
  output: newKeySchema,
  status: 201,
  changes: ({ id, prefix }) => ({ key_id: id, prefix }),
  refusals: [
    describeRefusal(
      409,
      'already_shown',
      'The first key was shown, or no sign-in has made the account.',
    ),
  ],
})((context) =>
  context.store.tx(async (store) => {
    if (await store.identities.showKey(context.account.id)) {
      return issueKey({ ...context, store }, context.account.id)
    }
    throw new Refusal(409, 'already_shown', {
      detail:
        'The first key of this account was shown already. Make another with POST /v1/me/keys.',
    })
  }),
)
