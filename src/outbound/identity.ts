import type { ClientAuth, Configuration, CustomFetchOptions } from 'openid-client'

/** The identity provider of this server, and this server's registration there. */
export interface IdentitySettings {
  /** The issuer as the provider spells it. */
  issuer: string
  clientId: string
  /** null for a public client. */
  clientSecret: string | null
}

/** The random values of one sign-in, by which its answer is recognised. */
export interface SignInChecks {
  state: string
  nonce: string
  /** The PKCE verifier, 43 characters or more. */
  verifier: string
}

/** A person whom the provider vouches for. */
export interface Person {
  issuer: string
  subject: string
  /** A mail address that the provider has confirmed; null without one. */
  email: string | null
}

/** An identity provider. Both methods return instead of throwing. */
export interface Identity {
  /** The host of the provider. */
  readonly name: string
  /** Returns the address at the provider to which the browser goes; null if the provider does not answer. */
  begin(redirectUri: string, checks: SignInChecks): Promise<string | null>
  /** Returns the person of the provider's answer, an address with its parameters; null if it is not valid. */
  finish(answer: URL, checks: SignInChecks): Promise<Person | null>
}

/** Time, and the log of failures, whose reasons hold no secret. */
export interface IdentityWorld {
  now(): number
  failed(reason: string): void
}

/** Only a server with a provider waits for the library to load. */
const load = () => import('openid-client')

/** Seconds for one answer of the provider. */
const timeoutS = 5
const maxAnswerBytes = 1024 * 1024
/** What the provider says about itself may change, such as its addresses. */
const knownForMs = 3_600_000

/** Creates the client of a provider. It asks for the provider's description when it is needed, and again after a failure. */
export function createIdentity(
  { issuer, clientId, clientSecret }: IdentitySettings,
  { now, failed }: IdentityWorld,
): Identity {
  const server = new URL(issuer)
  let known: { configuration: Promise<Configuration>; at: number } | null = null

  function configure(): Promise<Configuration> {
    const at = now()
    if (known !== null && at >= known.at && at - known.at < knownForMs) return known.configuration
    const configuration = discover()
    const asked = { configuration, at }
    known = asked
    configuration.catch(() => {
      if (known === asked) known = null
    })
    return configuration
  }

  async function discover(): Promise<Configuration> {
    const client = await load()
    return client.discovery(server, clientId, undefined, authOf(client, clientSecret), {
      timeout: timeoutS,
      [client.customFetch]: fetchBounded,
      execute: [
        client.enableNonRepudiationChecks,
        // The settings take http:// for this machine only.
        ...(server.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
    })
  }

  return {
    name: server.host,
    async begin(redirectUri, { state, nonce, verifier }) {
      try {
        const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await load()
        const parameters = {
          redirect_uri: redirectUri,
          scope: 'openid email',
          state,
          nonce,
          code_challenge: await calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        }
        return buildAuthorizationUrl(await configure(), parameters).href
      } catch (error) {
        failed(reasonOf(error))
        return null
      }
    },
    async finish(answer, { state, nonce, verifier }) {
      try {
        const { authorizationCodeGrant } = await load()
        const configuration = await configure()
        const tokens = await authorizationCodeGrant(configuration, answer, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        if (claims === undefined) return null
        const { iss, sub } = claims
        const told =
          claims.email === undefined
            ? await aboutPerson(configuration, tokens.access_token, sub)
            : claims
        return { issuer: iss, subject: sub, email: confirmedEmail(told) }
      } catch (error) {
        failed(reasonOf(error))
        return null
      }
    },
  }

  /** Many providers tell the mail address only here. Without an answer the account has none. */
  async function aboutPerson(configuration: Configuration, token: string, subject: string) {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return {}
    try {
      const { fetchUserInfo } = await load()
      return await fetchUserInfo(configuration, token, subject)
    } catch (error) {
      failed(reasonOf(error))
      return {}
    }
  }
}

function confirmedEmail(told: { email?: unknown; email_verified?: unknown }): string | null {
  return told.email_verified === true && typeof told.email === 'string' ? told.email : null
}

/** Sends the secret in the body where the provider takes it there, since providers read it alike there. */
function authOf(
  { None, ClientSecretPost, ClientSecretBasic }: Awaited<ReturnType<typeof load>>,
  secret: string | null,
): ClientAuth {
  if (secret === null) return None()
  const [post, basic] = [ClientSecretPost(secret), ClientSecretBasic(secret)]
  return (as, client, body, headers) => {
    const takesPost = as.token_endpoint_auth_methods_supported?.includes('client_secret_post')
    return (takesPost ? post : basic)(as, client, body, headers)
  }
}

/** Reads at most a megabyte of an answer, and follows no redirect. */
async function fetchBounded(url: string, options: CustomFetchOptions): Promise<Response> {
  const response = await fetch(url, options as RequestInit)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxAnswerBytes) throw new Error('too long')
    chunks.push(chunk)
  }
  const { status, headers } = response
  const hasBody = ![204, 205, 304].includes(status)
  return new Response(hasBody ? Buffer.concat(chunks) : null, { status, headers })
}

/** The words of the library and the provider for what went wrong; their texts may repeat what was sent. */
function reasonOf(error: unknown): string {
  const { name, code, error: word, cause } = error as Record<string, unknown>
  const inner = (cause as { code?: unknown; cause?: { code?: unknown } } | undefined) ?? {}
  const words = [name, code, word, inner.code, inner.cause?.code]
  return [...new Set(words.filter((each) => typeof each === 'string'))].join(' ')
}
