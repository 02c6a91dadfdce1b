import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext } from 'playwright-core'
import { buildWeb } from '../bin/build-web.js'
import { post } from './alerted.ts'
import { launchChromium, whyNoChromium } from './chromium.ts'
import { type EmptyPage, startEmptyPage } from './empty-page.ts'
import { englishGoal } from './goals.ts'
import { median } from './median.ts'
import { measureBuild } from './pages-build.ts'
import { measureScrolling, untilWhole } from './scrolling.ts'
import { type Server, startWithKey } from './server.ts'
import { alone, compared, type Row } from './table.ts'

const rounds = 5
const listed = 10_000
const longSteps = 10_000
const batch = 500
const longTaskMs = 100

/** One loading of a page, in milliseconds since its navigation began. */
interface Loading {
  paintedMs: number
  usableMs: number
  longTasks: number
  longestTaskMs: number
}

/**
 * Measures the pages in headless Chromium on loopback, each with an empty cache: first paint, time until it can be
 * used, long tasks, bytes, and the frames while a long run scrolls; and how long building them takes.
 */
export async function measureWeb(): Promise<Row[]> {
  if (whyNoChromium !== null) return [alone(`web: ${whyNoChromium}`, null)]
  await buildWeb()
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
  const { server, key } = await startWithKey('sqlite:./web.db', folder)
  const bare = await startEmptyPage()
  const browser = await launchChromium()
  try {
    process.stderr.write(`web: logging ${listed} runs and a run of ${longSteps} steps\n`)
    await fill(server, key)
    const signedIn = await signIn(browser, server, key)
    const measure = (path: string, usable: string) =>
      measurePage(browser, { server, bare, path, usable, signedIn })
    return [
      ...(await measure('/', '.product, main h1')),
      ...(await measure('/app', '.run-row')),
      ...(await measure('/app/runs/long', '.trace [role=row]')),
      ...(await measureBytes(browser, server, signedIn)),
      ...(await measureScrolling(browser, server, bare, signedIn)),
      await measureBuild(folder),
    ]
  } finally {
    await browser.close()
    bare.stop()
    await server.stop()
    await rm(folder, { recursive: true })
  }
}

/** Logs the runs of the list, and the long one last, so that it is on top. */
async function fill(server: Server, key: string): Promise<void> {
  const send = async (steps: object[]) => post({ server, key }, '/v1/drift/batch', { steps })
  for (let from = 0; from < listed; from += batch) {
    await send(
      Array.from({ length: batch }, (_, at) => ({
        run_id: `run ${from + at}`,
        goal: englishGoal(from + at),
      })),
    )
  }
  for (let from = 0; from < longSteps; from += batch) {
    await send(
      Array.from({ length: batch }, (_, at) => ({
        run_id: 'long',
        goal: englishGoal(from + at),
        tokens: 1_000,
      })),
    )
  }
}

type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>

async function signIn(browser: Browser, { url }: Server, key: string): Promise<SignedIn> {
  const context = await browser.newContext()
  const answer = await context.request.post(`${url}/v1/session`, {
    data: { key },
    headers: { origin: url, 'sec-fetch-site': 'same-origin' },
  })
  if (!answer.ok()) throw new Error(await answer.text())
  const state = await context.storageState()
  await context.close()
  return state
}

/** Loads a page and the empty one in turns. */
async function measurePage(
  browser: Browser,
  {
    server,
    bare,
    path,
    usable,
    signedIn,
  }: { server: Server; bare: EmptyPage; path: string; usable: string; signedIn: SignedIn },
): Promise<Row[]> {
  const ours: Loading[] = []
  const empty: Loading[] = []
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`web: ${path}, round ${round} of ${rounds}\n`)
    ours.push(await load(browser, server.url + path, usable, signedIn))
    empty.push(await load(browser, bare.url, 'p', signedIn))
  }
  const row = (text: string, field: keyof Loading, target: string) =>
    compared(
      `web: ${path}, ${text}`,
      ours.map((each) => each[field]),
      'empty page, node:http',
      empty.map((each) => each[field]),
      target,
    )
  const ofOurs = (text: string, field: keyof Loading, target: string): Row =>
    alone(`web: ${path}, ${text}`, median(ours.map((each) => each[field])), target)
  return [
    row('first contentful paint, ms', 'paintedMs', '≤ 400 ms'),
    row('usable, ms', 'usableMs', path === '/app' ? '≤ 800 ms' : ''),
    ofOurs(`tasks over ${longTaskMs} ms`, 'longTasks', '0'),
    ofOurs('longest task over 50 ms, ms', 'longestTaskMs', `≤ ${longTaskMs}`),
  ]
}

/** Loads a page in a browser of its own, until it can be used and rests. */
async function load(
  browser: Browser,
  url: string,
  usable: string,
  storageState: SignedIn,
): Promise<Loading> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, storageState })
  const page = await context.newPage()
  await page.addInitScript(observeLoading, usable)
  await page.goto(url)
  await page.evaluate('loading.ready')
  await untilWhole(page)
  const { paintedMs, usableMs, tasks } = (await page.evaluate('({ ...loading, ready: true })')) as {
    paintedMs: number
    usableMs: number
    tasks: number[]
  }
  await context.close()
  return {
    paintedMs,
    usableMs,
    longTasks: tasks.filter((ms) => ms > longTaskMs).length,
    longestTaskMs: Math.max(0, ...tasks),
  }
}

/** Runs in the page: notes when it was painted, when it can be used, and its long tasks. */
function observeLoading(usable: string): void {
  const ready = Promise.withResolvers<void>()
  const loading = { paintedMs: 0, usableMs: 0, tasks: [] as number[], ready: ready.promise }
  const finish = () => {
    if (loading.paintedMs > 0 && loading.usableMs > 0) ready.resolve()
  }
  const scope = globalThis as unknown as {
    loading: typeof loading
    document: { querySelector(selector: string): unknown }
    requestAnimationFrame(then: () => void): void
  }
  scope.loading = loading
  const observe = (
    type: string,
    take: (entry: { name: string; startTime: number; duration: number }) => void,
  ) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({
      type,
      buffered: true,
    } as never)
  observe('paint', ({ name, startTime }) => {
    if (name !== 'first-contentful-paint') return
    loading.paintedMs = startTime
    finish()
  })
  observe('longtask', ({ duration }) => loading.tasks.push(duration))
  // Usable: what is asked for stands there, is painted, and the page takes the next task.
  const look = () => {
    if (scope.document.querySelector(usable) === null) scope.requestAnimationFrame(look)
    else {
      setTimeout(() => {
        loading.usableMs = performance.now()
        finish()
      })
    }
  }
  scope.requestAnimationFrame(look)
}

/** The bytes of scripts and styles that the first view of the dashboard fetches, gzipped. */
async function measureBytes(
  browser: Browser,
  { url }: Server,
  storageState: SignedIn,
): Promise<Row[]> {
  const context = await browser.newContext({ storageState })
  const page = await context.newPage()
  const asked = new Set<string>()
  page.on('request', (request) => asked.add(request.url()))
  await page.goto(`${url}/app`)
  await page.locator('.run-row').first().waitFor()
  await context.close()
  const kilobytes = async (ending: string) => {
    const files = [...asked].filter((each) => new URL(each).pathname.endsWith(ending))
    const sizes = await Promise.all(
      files.map(async (file) => {
        const answer = await fetch(file, { headers: { 'accept-encoding': 'gzip' } })
        await answer.arrayBuffer()
        return Number(answer.headers.get('content-length'))
      }),
    )
    return sizes.reduce((sum, size) => sum + size, 0) / 1000
  }
  return [
    alone('web: scripts of the first view of /app, gzipped, kB', await kilobytes('.js'), '≤ 60'),
    alone('web: styles of the first view of /app, gzipped, kB', await kilobytes('.css'), '≤ 12'),
  ]
}
