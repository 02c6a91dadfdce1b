import type { FastifyReply, FastifyRequest } from 'fastify'
import { sessionLongestMs } from '../../core/accounts/session.ts'
import type { Browser } from '../../operations/gate/declaration.ts'
import type { AddressSettings } from './address.ts'
import { readCookie, writeCookie } from './cookie.ts'
import { isOverHttps, isOwnOrigin } from './origin.ts'

/** The parts that tell where a browser has reached this server. */
export interface BrowserParts {
  addresses: AddressSettings
  /** Base addresses, the main one first. */
  baseUrls(): readonly string[]
}

/** The name of the session's cookie over HTTPS, where no other host of the domain can set it. */
export const sessionCookie = '__Host-plumbline'
/** Its name over plain HTTP, where browsers refuse the prefix. */
const plainSessionCookie = 'plumbline_session'

const token = /^[\w-]{43}$/

/** Reads the browser of a request: the cookie of its session, and what sends it. */
export function readBrowser(
  request: FastifyRequest,
  reply: FastifyReply,
  { addresses, baseUrls }: BrowserParts,
): Browser {
  const { headers } = request
  const isSecure = isOverHttps(request, addresses, baseUrls())
  const name = isSecure ? sessionCookie : plainSessionCookie
  const value = readCookie(headers.cookie, name)
  const csrf = headers['x-plumbline-csrf']
  return {
    session: value !== null && token.test(value) ? value : null,
    csrf: typeof csrf === 'string' ? csrf : undefined,
    sender: senderOf(request, baseUrls()),
    isVisit: isVisit(request),
    keepSession(kept) {
      const maxAge = kept === null ? 0 : sessionLongestMs / 1000
      reply.header('set-cookie', writeCookie({ name, value: kept ?? '', maxAge, isSecure }))
    },
  }
}

/** A browser says that it navigates; an older one asks for a page first. */
function isVisit({ headers, method }: FastifyRequest): boolean {
  const { 'sec-fetch-mode': mode, accept = '' } = headers
  if (method !== 'GET') return false
  return mode === undefined ? accept.startsWith('text/html') : mode === 'navigate'
}

/**
 * Browsers say where a request comes from; over plain HTTP on a local network they send no `sec-fetch-site`, but the
 * origin of a POST. A program that says nothing holds no cookie of a victim.
 */
function senderOf({ headers }: FastifyRequest, baseUrls: readonly string[]): Browser['sender'] {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (site !== undefined && site !== 'same-origin') return 'another page'
  if (origin !== undefined && !isOwnOrigin(origin, host, baseUrls)) return 'another page'
  return site === undefined && origin === undefined ? 'program' : 'own page'
}
