import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { followLocalLink, localPath } from '../../operations/account/local-link.ts'
import type { Service } from '../../operations/gate/context.ts'
import { Refusal } from '../../operations/gate/refusal.ts'
import { isLoopback } from './address.ts'
import { type BrowserParts, readBrowser } from './browser.ts'

/** The parts of the routes by which people sign in. */
export interface SignInRoutesParts extends BrowserParts {
  service: Service
}

/** The word in `/signin?error=` for what went wrong. */
export type SignInError = 'expired' | 'state' | 'provider' | 'denied'

const home = '/app'

/** The headers by which a proxy says that it passes the request of another machine on. */
const forwarding = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'cf-connecting-ip', 'via']

/** Serves the routes that a person's browser follows to sign in. They answer redirects. */
export async function signInRoutes(app: FastifyInstance, parts: SignInRoutesParts): Promise<void> {
  const { service } = parts
  // HEAD would use the link up.
  app.get(localPath, { exposeHeadRoute: false }, async (request, reply) => {
    refuseOtherMachines(request, parts)
    const { token } = request.query as { token?: string | string[] }
    const browser = readBrowser(request, reply, parts)
    const isIn = typeof token === 'string' && (await followLocalLink(service, browser, token))
    return reply.redirect(isIn ? home : signInPage('expired'), 302)
  })
}

/** The page that says why a sign-in failed. */
export function signInPage(error: SignInError): string {
  return `/signin?error=${error}`
}

/** The link is for the person at this machine: no proxy may lead others to it, and no name of another host. */
function refuseOtherMachines(
  { headers, ip }: FastifyRequest,
  { addresses }: SignInRoutesParts,
): void {
  const named = [...forwarding, addresses.clientAddressHeader ?? '']
  const isForwarded = named.some((name) => headers[name] !== undefined)
  if (isLoopback(ip) && isLoopbackHost(headers.host) && !isForwarded) return
  throw new Refusal(403, 'forbidden', {
    detail:
      'This link works only in a browser on the machine of the server, under 127.0.0.1 or localhost. Sign in with a key.',
  })
}

function isLoopbackHost(host: string | undefined): boolean {
  if (!URL.canParse(`http://${host ?? ''}`)) return false
  const name = new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '')
  return isIP(name) === 0 ? name === 'localhost' : isLoopback(name)
}
