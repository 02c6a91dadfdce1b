import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, type TestContext } from 'node:test'
import type { AxeResults } from 'axe-core'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { launchChromium, whyNoChromium } from '../bench/chromium.ts'
import { buildWeb } from '../bin/build-web.js'
import { builtWeb } from '../src/surfaces/http/web-files.ts'
import { type App, type Holder, type Setup, start } from './harness.ts'

/** Why pages cannot be tested here, or false. */
export const noBrowser = whyNoChromium ?? false

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let launched: Promise<Browser> | undefined

after(async () => {
  await (await launched)?.close()
})

function launch(): Promise<Browser> {
  launched ??= launchChromium()
  return launched
}

/** Starts a service that serves the built pages, with the time of the browser. */
export async function startWithPages(t: TestContext, setup: Setup = {}): Promise<App> {
  await buildWeb()
  return start(t, { ...setup, webFolder: builtWeb, beginsNow: true })
}

/** A page of a browser of its own, and what went wrong on it. */
export interface Opened {
  page: Page
  /** Errors and warnings of the console, faults of scripts, and requests to other origins. */
  faults: string[]
}

/** Opens a browser of its own, signed in as the holder if one is given, at an address of the service. */
export async function openPage(
  t: TestContext,
  app: Pick<App, 'url'>,
  path: string,
  holder: Holder | null = null,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const browser = await launch()
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  t.after(() => context.close())
  if (holder !== null) {
    const signedIn = await context.request.post(`${app.url}/v1/session`, {
      data: { key: holder.key },
      headers: { origin: app.url, 'sec-fetch-site': 'same-origin' },
    })
    if (!signedIn.ok()) throw new Error(`not signed in: ${await signedIn.text()}`)
  }
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`${error.message}\n${error.stack}`))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text())
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.protocol.startsWith('http') && url.origin !== app.url) faults.push(`asks ${url.href}`)
  })
  await page.goto(app.url + path)
  return { page, faults }
}

/** The serious barriers that axe finds on a page, as rule and element; what `leftOut` selects is not looked at. */
export async function barriersOn(page: Page, leftOut: readonly string[] = []): Promise<string[]> {
  // The policy of the page forbids foreign scripts; what the browser evaluates for the test is none.
  await page.evaluate(axe)
  // A theme or width that has just changed is drawn whole, so that axe compares no colours of both.
  await page.evaluate(
    `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
      .then(() => Promise.allSettled(document.getAnimations()
        .filter((each) => each.effect.getComputedTiming().endTime < 1000)
        .map((each) => each.finished)))
      .then(() => {})`,
  )
  const context = JSON.stringify({ exclude: leftOut.map((selector) => [selector]) })
  const { violations } = (await page.evaluate(
    `axe.run(${context}, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })`,
  )) as AxeResults
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    )
}

/** Whether the page is wider than its window. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > innerWidth')
}

/**
 * The texts beside which a bidirectional override in a text of somebody else turns words of the page around: no element
 * of its own closes it in.
 */
export function turnedTexts(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const turned = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
      if (!text.data.includes('\\u202E') || text.parentElement.closest('script, style, option')) continue
      let element = text.parentElement
      while (/normal|embed/.test(getComputedStyle(element).unicodeBidi)) element = element.parentElement
      const isClosedIn = element.matches('bdi, [dir=auto], pre') || element.textContent === text.data
      if (!isClosedIn) turned.push(element.outerHTML.slice(0, 300))
    }
    return turned
  })()`)
}

/** Waits until this many elements are there. */
export async function untilCount(elements: Locator, count: number): Promise<void> {
  if (count > 0) await elements.nth(count - 1).waitFor()
  await elements.nth(count).waitFor({ state: 'detached' })
}
