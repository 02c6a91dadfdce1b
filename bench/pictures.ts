// Takes the pictures of docs/pictures from a server with plausible runs: npm run pictures

import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { buildWeb } from '../bin/build-web.js'
import { readConfig } from '../src/config.ts'
import { createAccount } from '../src/operations/account/accounts.ts'
import { realWorld, startService } from '../src/service.ts'
import { builtWeb } from '../src/surfaces/http/web-files.ts'
import { launchChromium } from './chromium.ts'
import { withPalette } from './png.ts'
import { errands, labelled, loginTimeout, subAgents, type ToldStep } from './told-runs.ts'

const folder = join(import.meta.dirname, '../docs/pictures')
const minuteMs = 60_000
const mostBytes = 120_000

await buildWeb()
/** The service lives through the day before the pictures, so that its runs have plausible times. */
let agoMs = 40 * 60 * minuteMs
const receiver = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const { port } = receiver.address() as AddressInfo
const config = readConfig({
  PORT: '0',
  DATABASE_URL: 'sqlite::memory:',
  LOG_LEVEL: 'error',
  PLUMBLINE_WEBHOOK_ALLOW: `localhost:${port}`,
})
if ('faults' in config) throw new Error(config.faults.join('; '))
const running = await startService(config, {
  ...realWorld,
  now: () => Date.now() - agoMs,
  keepsOwnTime: true,
  webFolder: builtWeb,
})
const { key } = (await createAccount(running.service, 'enterprise', null)).key
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

// biome-ignore lint/suspicious/noExplicitAny: answers of several shapes
async function ask(method: string, path: string, body?: object): Promise<any> {
  const answer = await fetch(running.url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
  return answer.json()
}

async function tell(runId: string, steps: readonly ToldStep[]): Promise<void> {
  for (const [at, step] of steps.entries()) {
    agoMs -= 47_000 + (at % 5) * 11_000
    await ask('POST', '/v1/drift', { run_id: runId, tokens: 1_900 + ((at * 731) % 2_400), ...step })
  }
}

const url = `http://localhost:${port}/agents`
await ask('POST', '/v1/alerts', { url, incidents: true })
for (const [at, steps] of labelled.entries()) {
  await tell(`task-${at + 1}`, steps)
  await ask('POST', '/v1/drift/outcome', { run_id: `task-${at + 1}`, outcome: 'success' })
}
for (const [runId, { steps, outcome }] of Object.entries(errands)) {
  agoMs -= 30 * minuteMs
  await tell(runId, steps)
  if (outcome !== null) await ask('POST', '/v1/drift/outcome', { run_id: runId, outcome })
}
const { runs } = await ask('GET', '/v1/drift/runs?limit=100')
let labels = 0
for (const { run_id } of runs) {
  const { trace } = await ask('GET', `/v1/drift/run?run_id=${encodeURIComponent(run_id)}`)
  const step = trace.find((each: { drifting: boolean }) => each.drifting)?.step
  if (step !== undefined && /^task/.test(run_id)) {
    const label = labels === 5 ? 'false_alarm' : 'useful'
    await ask('POST', '/v1/drift/label', { run_id, step, label })
    labels++
  }
}
agoMs = 34 * minuteMs
await tell('release-notes', subAgents)
for (const [run_id, detail] of [
  ['invoice-export', 'May I send the export to the address in the ticket?'],
  ['staging-upgrade', 'The next command upgrades the production database.'],
] as const) {
  agoMs -= minuteMs
  await ask('POST', '/v1/escalation', { run_id, reason: 'goal-drift', detail })
}
agoMs = loginTimeout.length * 75_000
await tell('login-timeout', loginTimeout)
agoMs = 0

const browser = await launchChromium()
const desktop = { viewport: { width: 1440, height: 900 } }
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 }

async function take(
  name: string,
  path: string,
  until: string,
  options: BrowserContextOptions = desktop,
  isSignedIn = true,
): Promise<void> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  if (isSignedIn) {
    await context.request.post(`${running.url}/v1/session`, {
      data: { key },
      headers: { origin: running.url, 'sec-fetch-site': 'same-origin' },
    })
  }
  const page: Page = await context.newPage()
  await page.goto(running.url + path)
  await page.locator(until).first().waitFor()
  await page.evaluate(
    'document.fonts.ready.then(() => new Promise((done) => setTimeout(done, 600)))',
  )
  const png = withPalette(await page.screenshot())
  if (png.length > mostBytes) process.stderr.write(`${name} has ${png.length} bytes\n`)
  writeFileSync(join(folder, `${name}.png`), png)
  process.stderr.write(`${name}.png ${png.length}\n`)
  await context.close()
}

const row = '.trace [role=row]'
await take('run', '/app/runs/login-timeout', row, { ...desktop, colorScheme: 'light' })
await take('run-dark', '/app/runs/login-timeout', row, { ...desktop, colorScheme: 'dark' })
await take('run-sub-agents', '/app/runs/release-notes', row)
await take('run-phone', '/app/runs/login-timeout', row, phone)
await take('runs', '/app/runs', '.run-row')
await take('escalations', '/app/escalations', '.decide, .escalation')
await take('alerts', '/app/alerts', '[role=switch]')
await take('quality', '/app/quality', '.quality-page')
await take('product', '/', 'main h1', desktop, false)
await take('sign-in', '/signin', '.signin', desktop, false)
await browser.close()
await running.stop()
receiver.close()
