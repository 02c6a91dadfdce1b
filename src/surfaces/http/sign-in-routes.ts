import { isIP } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { followLocalLink, localPath } from '../../operations/account/local-link.ts'
import {
  beginSignIn,
  callbackPath,
  endSignIn,
  type SignInError,
  signInMs,
} from '../../operations/account/provider-sign-in.ts'
import type { Service } from '../../operations/gate/context.ts'
import { Refusal } from '../../operations/gate/refusal.ts'
import { isLoopback } from './address.ts'
import { type BrowserParts, readBrowser } from './browser.ts'
import { readCookie, writeCookie } from './cookie.ts'
import { isOverHttps } from './origin.ts'

/** The parts of the routes by which people sign in. */
export interface SignInRoutesParts extends BrowserParts {
  service: Service
}

const home = '/app'

/** Tells the pages that a link of this machine has led here, so that they may begin with a recorded run. It is no secret. */
const arrivedCookie = 'plumbline_arrived=1; Path=/app; Max-Age=60; SameSite=Strict'

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
    if (isIn) reply.header('set-cookie', arrivedCookie)
    return reply.redirect(isIn ? home : signInPage('expired'), 302)
  })
  app.get('/auth/start', { exposeHeadRoute: false }, async (request, reply) => {
    const { to } = request.query as { to?: string | string[] }
    const elsewhere = service.identity === null ? null : startAtBase(request, parts)
    if (elsewhere !== null) return reply.redirect(elsewhere, 302)
    const begun = await beginSignIn(service, to)
    if ('error' in begun) return reply.redirect(signInPage(begun.error), 302)
    keepFlow(request, reply, parts, begun.flow)
    return reply.redirect(begun.url, 302)
  })
  app.get(callbackPath, { exposeHeadRoute: false }, async (request, reply) => {
    const browser = readBrowser(request, reply, parts)
    const flow = readCookie(request.headers.cookie, flowCookie(request, parts).name)
    const { searchParams } = new URL(request.url, 'http://any')
    const ended = await endSignIn(service, browser, searchParams, flow)
    // After a fault the browser may try again.
    keepFlow(request, reply, parts, null)
    return reply.redirect('error' in ended ? signInPage(ended.error) : ended.to, 302)
  })
}

/** The cookie that binds a sign-in in flight to its browser. */
function flowCookie(request: FastifyRequest, { addresses, baseUrls }: BrowserParts) {
  const isSecure = isOverHttps(request, addresses, baseUrls())
  return { name: isSecure ? '__Host-plumbline-signin' : 'plumbline_signin', isSecure }
}

/** Has the browser hold a sealed sign-in for as long as the sign-in may take; null takes it away. */
function keepFlow(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: BrowserParts,
  flow: string | null,
): void {
  const maxAge = flow === null ? 0 : signInMs / 1000
  const cookie = { ...flowCookie(request, parts), value: flow ?? '', maxAge }
  reply.header('set-cookie', writeCookie(cookie))
}

/**
 * The address at which to begin instead, because the provider leads back to the main base address and a cookie of
 * this host would be missing there; null to begin here. A proxy may rename the host, so it is tried once.
 */
function startAtBase({ headers, url }: FastifyRequest, { baseUrls }: BrowserParts): string | null {
  const [baseUrl = ''] = baseUrls()
  const { searchParams } = new URL(url, 'http://any')
  if (new URL(baseUrl).host === headers.host || searchParams.has('moved')) return null
  searchParams.set('moved', '1')
  return `${baseUrl}/auth/start?${searchParams}`
}

/** The page that says why a sign-in failed. */
function signInPage(error: SignInError): string {
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
