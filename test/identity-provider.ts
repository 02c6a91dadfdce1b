import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import Provider from 'oidc-provider'
import type { Browser } from './browser.ts'
import { newBrowser } from './browser.ts'
import type { Answer } from './harness.ts'

/** A real OpenID Connect provider on a free loopback port. Its people sign in without a form. */
export interface IdentityProvider {
  readonly url: string
  /** The settings of a service that uses it. */
  readonly env: Record<string, string>
  /** Registers a service, which it sends people back to; before that it answers 503. */
  register(serviceUrl: string): void
  /** The person who signs in from now on; null declines. */
  person: string | null
  /** Whether it vouches for the mail addresses of its people. */
  vouches: boolean
  /** Stops it answering, and goes on. */
  stop(): Promise<void>
  resume(): Promise<void>
}

const clientId = 'plumbline'
const clientSecret = 'the-secret-of-the-client-0123456789'
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const signingKey = { ...privateKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }

/** Starts a provider for one test. */
export async function startProvider(t: TestContext): Promise<IdentityProvider> {
  let answer = (_request: IncomingMessage, response: ServerResponse): unknown =>
    response.writeHead(503).end()
  const server = createServer((request, response) => void answer(request, response))
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
  await listen(0)
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  t.after(() => (server.listening ? stop() : undefined))

  const provider: IdentityProvider = {
    url,
    env: {
      PLUMBLINE_OIDC_ISSUER: url,
      PLUMBLINE_OIDC_CLIENT_ID: clientId,
      PLUMBLINE_OIDC_CLIENT_SECRET: clientSecret,
    },
    person: 'ada',
    vouches: true,
    stop,
    resume: () => listen(port),
    register(serviceUrl) {
      const oidc = createOidc(url, `${serviceUrl}/auth/callback`, provider)
      const callback = oidc.callback()
      answer = (request, response) =>
        request.url?.startsWith('/interaction/')
          ? finishInteraction(oidc, provider, request, response)
          : callback(request, response)
    },
  }
  return provider
}

function createOidc(url: string, redirectUri: string, provider: IdentityProvider): Provider {
  return new Provider(url, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [signingKey] },
    cookies: { keys: ['a key for the cookies of the provider'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        email: `${id}@reader.test`,
        email_verified: provider.vouches,
      }),
    }),
  })
}

/** Does what the person of a provider would do on its pages: signs in and consents, or declines. */
async function finishInteraction(
  oidc: Provider,
  { person }: IdentityProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await oidc.interactionDetails(request, response)
  if (person === null) {
    return oidc.interactionFinished(request, response, { error: 'access_denied' })
  }
  if (prompt.name === 'login') {
    return oidc.interactionFinished(request, response, { login: { accountId: person } })
  }
  const grant = new oidc.Grant({
    accountId: session?.accountId ?? person,
    clientId: String(params.client_id),
  })
  grant.addOIDCScope('openid email')
  const consent = { grantId: await grant.save() }
  await oidc.interactionFinished(request, response, { consent })
}

/** Follows a sign-in from `/auth/start` to the provider and back; returns the path of the callback, not yet followed. */
export async function visitProvider(
  browser: Browser,
  provider: IdentityProvider,
  start = '/auth/start',
  change: (url: URL) => void = () => {},
): Promise<string> {
  const begun = await browser.get(start)
  const there = new URL(locationOf(begun), provider.url)
  if (there.origin !== provider.url) throw new Error(`it leads to ${there}`)
  change(there)
  const atProvider = newBrowser(provider)
  let next = there
  for (let hop = 0; hop < 10; hop++) {
    const answer = await atProvider.get(next.pathname + next.search)
    next = new URL(locationOf(answer), provider.url)
    if (next.origin !== provider.url) return next.pathname + next.search
  }
  throw new Error('the provider leads round in circles')
}

/** Where a redirect leads. */
export function locationOf({ status, headers, text }: Answer): string {
  const location = headers.get('location')
  if (location === null) throw new Error(`${status} leads nowhere: ${text}`)
  return location
}
