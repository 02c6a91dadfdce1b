import { z } from 'zod'
import { isSpelledKey } from '../../core/accounts/keys.ts'
import { sessionEnd } from '../../core/accounts/session.ts'
import type { Account } from '../../storage/accounts.ts'
import { csrfOf, findSession, refuseForged } from '../gate/browser-session.ts'
import type { Service } from '../gate/context.ts'
import type { Browser, Call, DescribedRefusal, Visit } from '../gate/declaration.ts'
import { badRequest } from '../gate/declaration.ts'
import { okAnswer } from '../gate/fields.ts'
import { open } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'
import { csrfRefusal, scopeRefusal } from '../gate/refusals.ts'
import { tierName } from './tiers.ts'
import { sellsTiers } from './upgrade.ts'

const sessionSchema = z
  .strictObject({
    signed_in: z.boolean(),
    account: z.string().optional(),
    tier: tierName.optional(),
    email: z.string().nullable().optional(),
    csrf: z
      .string()
      .optional()
      .describe('For a session: the header x-plumbline-csrf of every request but GET.'),
    sign_in: z
      .strictObject({
        provider: z.boolean().describe('Whether GET /auth/start leads to an identity provider.'),
        name: z.string().nullable().describe('The host of the provider.'),
      })
      .describe('How a person signs in besides with a key.'),
    upgrade: z.boolean().describe('Whether GET /v1/upgrade leads to a higher tier.'),
  })
  .meta({ id: 'Session' })

/** Reads whether the caller is signed in, and how a person signs in. */
export const readSession = open({
  name: 'session.read',
  group: 'account',
  summary: 'Whether this browser or key is signed in, and how to sign in.',
  description: 'Works without a key. A key in the request goes before the cookie of a session.',
  http: { method: 'GET', path: '/v1/session' },
  input: z.object({}),
  output: sessionSchema,
})(async (context) => {
  const { call, identity } = context
  const offered = {
    sign_in: { provider: identity !== null, name: identity?.name ?? null },
    upgrade: sellsTiers(context),
  }
  const found = await whoCalls(context)
  if (found === null) return { signed_in: false, ...offered }
  const { account, browser } = found
  const session = browser?.session ?? null
  return {
    signed_in: true,
    account: account.id,
    tier: account.tier,
    email: account.email,
    ...(session === null ? {} : { csrf: csrfOf(context, session) }),
    ...offered,
  }

  /** The account of the key or the session; null without a valid one. A cookie that is worth nothing is taken away. */
  async function whoCalls(
    visit: Visit,
  ): Promise<{ account: Account; browser: Browser | null } | null> {
    if (call.credential !== undefined) {
      const owner = await ownerOfKey(visit, call.credential)
      return owner?.scope === 'full' ? { account: owner.account, browser: null } : null
    }
    const browser = browserOf(call)
    if (browser.session === null) return null
    const admitted = await findSession(visit, browser)
    if (admitted === null) browser.keepSession(null)
    return admitted === null ? null : { account: admitted.account, browser }
  }
})

const wrongKey: DescribedRefusal = {
  status: 401,
  words: ['bad_key'],
  when: 'The key is unknown, mistyped, revoked or expired.',
  fields: { detail: z.string() },
}

/** Signs a browser in with a key. */
export const signIn = open({
  name: 'session.sign-in',
  group: 'account',
  summary: 'Sign this browser in with a key.',
  description:
    'Sets the cookie of a session: __Host-plumbline, or plumbline_session over plain HTTP. The session takes the place of the key on keyed routes. It ends after 7 days without use, after 30 days, and with the key. It never counts for /mcp, hooks and OpenTelemetry.',
  http: { method: 'POST', path: '/v1/session' },
  input: z.object({ key: z.string('send a key, pl_live_…').describe('A key of the scope full.') }),
  output: okAnswer,
  refusals: [badRequest, wrongKey, scopeRefusal, csrfRefusal],
})(async (context, { key }) => {
  const browser = browserOf(context.call)
  // Otherwise another site could sign this browser in to an account of its own.
  refuseForged(context, { ...browser, session: null })
  const owner = await ownerOfKey(context, key.trim())
  if (owner === null) {
    throw new Refusal(401, 'bad_key', {
      detail: 'This key is not known here. Was all of it copied?',
    })
  }
  if (owner.scope !== 'full') {
    throw new Refusal(403, 'forbidden', {
      detail: 'This key may only report events of hooks. Use a key of the scope full.',
    })
  }
  const { account, keyId } = owner
  browser.keepSession(
    await context.store.tx((tx) =>
      addSession({ ...context, store: tx }, browser, account.id, keyId),
    ),
  )
  return { ok: true as const }
})

/** Signs a browser out. */
export const signOut = open({
  name: 'session.sign-out',
  group: 'account',
  summary: 'Sign this browser out, on every node at once.',
  http: { method: 'DELETE', path: '/v1/session' },
  input: z.object({}),
  output: okAnswer,
  refusals: [csrfRefusal],
})(async (context) => {
  const browser = browserOf(context.call)
  const admitted = await findSession(context, browser)
  if (admitted !== null) {
    refuseForged(context, browser)
    await context.store.sessions.end(admitted.session)
  }
  browser.keepSession(null)
  return { ok: true as const }
})

/**
 * Stores a session of an account, which ends with the key `keyId` if one is given, in place of the browser's last one.
 * Call it in a transaction, and have the browser keep the token that it returns after the commit.
 */
export async function addSession(
  { store, hash, newToken, now }: Service,
  browser: Browser,
  account: string,
  keyId: string | null,
): Promise<string> {
  const token = newToken()
  const created = now()
  if (browser.session !== null) await store.sessions.end(hash(browser.session))
  await store.sessions.add({
    hash: hash(token),
    account,
    key_id: keyId,
    created,
    expires: sessionEnd(created, created),
  })
  return token
}

function ownerOfKey({ store, hash, now }: Service, key: string) {
  return isSpelledKey(key) ? store.accounts.withKey(hash(key), now()) : null
}

/** No page calls where no cookie counts, so that there is no session either. */
function browserOf({ browser }: Pick<Call, 'browser'>): Browser {
  return (
    browser?.() ?? {
      ...{ session: null, csrf: undefined, sender: 'program', isVisit: false },
      keepSession: () => {},
    }
  )
}
