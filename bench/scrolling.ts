import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { EmptyPage } from './empty-page.ts'
import { percentile } from './median.ts'
import type { Server } from './server.ts'
import { compared, type Row } from './table.ts'

const rounds = 5
const framesScrolled = 120
const pixelsAFrame = 690

/** The work of each frame while the run of 10,000 steps scrolls, against a page that only scrolls. */
export async function measureScrolling(
  browser: Browser,
  server: Server,
  bare: EmptyPage,
  storageState: Awaited<ReturnType<BrowserContext['storageState']>>,
): Promise<Row[]> {
  const viewport = { width: 1440, height: 900 }
  const context = await browser.newContext({ viewport, storageState })
  const long = await context.newPage()
  await long.goto(`${server.url}/app/runs/long?step=1`)
  await long.locator('.trace [role=row]').first().waitFor()
  await untilWhole(long)
  const empty = await context.newPage()
  await empty.goto(`${bare.url}/tall`)
  const ours: number[][] = []
  const peers: number[][] = []
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`web: scrolling, round ${round} of ${rounds}\n`)
    await long.bringToFront()
    ours.push(await scroll(long, '.trace-scroll'))
    await empty.bringToFront()
    peers.push(await scroll(empty, '#scroll'))
  }
  await context.close()
  const row = (percent: number, target: string) =>
    compared(
      `web: a frame while 10,000 steps scroll, p${percent}, ms`,
      ours.map((frames) => percentile(frames, percent)),
      'empty page, scrolling',
      peers.map((frames) => percentile(frames, percent)),
      target,
    )
  return [row(50, '≤ 16.7 ms'), row(99, '')]
}

/** Scrolls from the top, and returns the milliseconds of work of each frame: from the scroll to the end of its paint. */
function scroll(page: Page, selector: string): Promise<number[]> {
  return page.evaluate(
    async ([wanted, frames, pixels]) => {
      const scope = globalThis as unknown as {
        document: { querySelector(selector: string): (EventTarget & { scrollTop: number }) | null }
        requestAnimationFrame(then: () => void): void
      }
      const element = scope.document.querySelector(wanted)
      if (element === null) throw new Error(`there is no ${wanted}`)
      let began = 0
      element.addEventListener('scroll', () => (began = performance.now()), { capture: true })
      element.scrollTop = 0
      const nextFrame = () =>
        new Promise<number>((done) =>
          scope.requestAnimationFrame(() => {
            // A message that is posted before the paint arrives behind it.
            const { port1, port2 } = new MessageChannel()
            port1.addEventListener('message', () => done(performance.now()))
            port1.start()
            port2.postMessage(null)
          }),
        )
      await nextFrame()
      const took: number[] = []
      for (let frame = 1; frame <= frames; frame++) {
        element.scrollTop = frame * pixels
        took.push((await nextFrame()) - began)
      }
      return took
    },
    [selector, framesScrolled, pixelsAFrame] as const,
  )
}

/** Waits until a long run is read whole, and the page has rested for a moment. */
export async function untilWhole(page: Page): Promise<void> {
  await page.locator('.partial').waitFor({ state: 'detached', timeout: 60_000 })
  await page.evaluate('new Promise((done) => setTimeout(done, 500))')
}
