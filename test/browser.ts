import type { Answer, App } from './harness.ts'

/** A browser without its pages: it keeps cookies as a browser does, and follows no redirect by itself. */
export interface Browser {
  /** Its cookies by name, for every path. */
  readonly cookies: Map<string, string>
  /** The last `set-cookie` headers as they came. */
  setCookies: readonly string[]
  /** Asks as a page of the server does: with the cookies and, for a change, the csrf of the session. */
  request(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Signs in with a key. */
  signIn(key: string): Promise<Answer>
  /** The same browser, whose cookies go to another node. */
  at(app: App): Browser
}

/** A new browser that asks one service, or an address. */
export function newBrowser(app: Pick<App, 'url'>, cookies = new Map<string, string>()): Browser {
  const browser: Browser = {
    cookies,
    setCookies: [],
    async request(method, path, body, headers = {}) {
      const csrf = method === 'GET' ? undefined : await csrfOf(browser)
      const response = await fetch(new URL(path, app.url), {
        method,
        redirect: 'manual',
        headers: {
          ...(cookies.size === 0 ? {} : { cookie: cookieHeader(cookies) }),
          ...(method === 'GET' ? {} : { origin: app.url, 'sec-fetch-site': 'same-origin' }),
          ...(csrf === undefined ? {} : { 'x-plumbline-csrf': csrf }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      browser.setCookies = response.headers.getSetCookie()
      for (const line of browser.setCookies) keepCookie(cookies, line)
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: parsed(text) }
    },
    get: (path, headers) => browser.request('GET', path, undefined, headers),
    post: (path, body, headers) => browser.request('POST', path, body, headers),
    signIn: (key) => browser.post('/v1/session', { key }),
    at: (other) => newBrowser(other, cookies),
  }
  return browser
}

async function csrfOf({ cookies, get }: Browser): Promise<string | undefined> {
  return cookies.size === 0 ? undefined : (await get('/v1/session')).body.csrf
}

function cookieHeader(cookies: ReadonlyMap<string, string>): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
}

function keepCookie(cookies: Map<string, string>, line: string): void {
  const [pair = ''] = line.split(';')
  const at = pair.indexOf('=')
  const name = pair.slice(0, at)
  if (/; *max-age=0\b/i.test(line) || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name)
  else cookies.set(name, pair.slice(at + 1))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
