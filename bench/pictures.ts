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
import { pictureOfBacktest } from './backtest-picture.ts'
import { launchChromium } from './chromium.ts'
import { withPalette } from './png.ts'
import {
  collision,
  errands,
  labelled,
  loginTimeout,
  pairs,
  spoken,
  subAgents,
  type ToldStep,
} from './told-runs.ts'

const folder = join(import.meta.dirname, '../docs/pictures')
const minuteMs = 60_000
const mostBytes = 120_000

await buildWeb()
/** The service lives through two days before the pictures, so that its runs have plausible times. */
let agoMs = 48 * 60 * minuteMs
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

// biome-ignore lint/suspicious/noExplicitAny: answers of several shapes
async function ask(method: string, path: string, body?: object, by = key): Promise<any> {
  const answer = await fetch(running.url + path, {
    method,
    headers: { authorization: `Bearer ${by}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
  return answer.json()
}

/** Lets time go by until this long ago, with what the service does by itself meanwhile. */
async function liveUntil(thenAgoMs: number): Promise<void> {
  while (agoMs > thenAgoMs) {
    agoMs = Math.max(thenAgoMs, agoMs - 5 * minuteMs)
    await running.runDue()
  }
}

async function tell(runId: string, steps: readonly ToldStep[], by = key): Promise<void> {
  for (const [at, step] of steps.entries()) {
    agoMs -= 47_000 + (at % 5) * 11_000
    const tokens = 1_900 + ((at * 731) % 2_400)
    await ask('POST', '/v1/drift', { run_id: runId, tokens, ...step }, by)
  }
}

const url = `http://localhost:${port}/agents`
await ask('POST', '/v1/alerts', { url, incidents: true })
await ask('POST', '/v1/digest', { cadence: 'daily', hour_utc: 7, channel: 'webhook', url })
for (const label of ['laptop', 'build machine']) {
  const made = await ask('POST', '/v1/me/keys', { label })
  agoMs -= 10 * minuteMs
  await ask('GET', '/v1/me', undefined, made.key)
}
const { code } = await ask('POST', '/v1/team/invite', { label: 'Support' })
const { key: theirs } = (await createAccount(running.service, 'group', null)).key
await ask('POST', '/v1/team/join', { code, label: 'Support' }, theirs)
await ask('POST', '/v1/team', { name: 'Shop', label: 'Checkout', share_goals: true })
for (const [runId, steps] of Object.entries(pairs)) {
  await liveUntil(agoMs - 40 * minuteMs)
  await tell(runId, steps)
  await ask('POST', '/v1/drift/outcome', { run_id: runId, outcome: 'success' })
}
for (const [at, steps] of labelled.entries()) {
  await tell(`task-${at + 1}`, steps)
  await ask('POST', '/v1/drift/outcome', { run_id: `task-${at + 1}`, outcome: 'success' })
}
for (const [at, [runId, { steps, outcome }]] of Object.entries(errands).entries()) {
  await liveUntil(agoMs - 120 * minuteMs)
  const words = spoken[at]
  if (words !== undefined) await ask('POST', '/v1/hear', { words, agent: runId })
  await tell(runId, steps)
  if (outcome !== null) await ask('POST', '/v1/drift/outcome', { run_id: runId, outcome })
}
await tell('support-upgrade', collision, theirs)
const { runs } = await ask('GET', '/v1/drift/runs?limit=100')
for (const { run_id } of runs) {
  if (!/^task/.test(run_id) || run_id === 'task-11') continue
  const { trace } = await ask('GET', `/v1/drift/run?run_id=${encodeURIComponent(run_id)}`)
  for (const { step, drifting } of trace as { step: number; drifting: boolean }[]) {
    const label = run_id === 'task-6' ? 'false_alarm' : 'useful'
    if (drifting) await ask('POST', '/v1/drift/label', { run_id, step, label })
  }
}
await liveUntil(34 * minuteMs)
await tell('release-notes', subAgents)
for (const [run_id, detail] of [
  ['invoice-export', 'May I send the export to the address in the ticket?'],
  ['staging-upgrade', 'The next command upgrades the production database.'],
] as const) {
  agoMs -= minuteMs
  await ask('POST', '/v1/escalation', { run_id, reason: 'goal-drift', detail })
}
await liveUntil(loginTimeout.length * 75_000)
await tell('login-timeout', loginTimeout)
agoMs = 0
await running.runDue()

/** An account that a first sign-in has made, whose key nobody has seen. */
const fresh = await createAccount(running.service, 'ground', null)
await running.store.identities.add({
  issuer: 'https://login.example.com',
  subject: 'ada',
  account: fresh.account.id,
  created: Date.now(),
})

const browser = await launchChromium()
const tall = { viewport: { width: 1440, height: 1120 } }
const desktop = { viewport: { width: 1440, height: 900 } }
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 }

async function take(
  name: string,
  path: string,
  until: string,
  options: BrowserContextOptions = desktop,
  signedInAs: string | null = key,
): Promise<void> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  if (signedInAs !== null) {
    await context.request.post(`${running.url}/v1/session`, {
      data: { key: signedInAs },
      headers: { origin: running.url, 'sec-fetch-site': 'same-origin' },
    })
  }
  const page: Page = await context.newPage()
  await page.goto(running.url + path)
  await page.locator(until).first().waitFor()
  await page.evaluate(
    'document.fonts.ready.then(() => new Promise((done) => setTimeout(done, 600)))',
  )
  keep(name, withPalette(await page.screenshot()))
  await context.close()
}

function keep(name: string, png: Buffer): void {
  if (png.length > mostBytes) process.stderr.write(`${name} has ${png.length} bytes\n`)
  writeFileSync(join(folder, `${name}.png`), png)
  process.stderr.write(`${name}.png ${png.length}\n`)
}

const row = '.trace [role=row]'
await take('run', '/app/runs/login-timeout', row, { ...desktop, colorScheme: 'light' })
await take('run-dark', '/app/runs/login-timeout', row, { ...desktop, colorScheme: 'dark' })
await take('run-sub-agents', '/app/runs/release-notes', row)
await take('run-phone', '/app/runs/login-timeout', row, phone)
await take('runs', '/app/runs', '.run-row')
await take('escalations', '/app/escalations', '.decide')
await take('alerts', '/app/alerts', '[role=switch]')
await take('quality', '/app/quality', '.reliability', tall)
await take('cost', '/app/cost', '.facts')
await take('fleet', '/app/fleet', '.collisions')
await take('keys', '/app/keys', 'form')
await take('settings', '/app/settings', '.digest')
await take('field', '/app/field', '.axes')
await take('onboarding', '/app/runs', '.onboarding', desktop, fresh.key.key)
await take('welcome', '/welcome', '.key-card', desktop, fresh.key.key)
await take('sign-in', '/signin', '.signin', desktop, null)
await take('product', '/', 'main h1', desktop, null)
await take('docs', '/docs/reasons', 'main h1', desktop, null)
keep('backtest', await pictureOfBacktest(browser))
await browser.close()
await running.stop()
receiver.close()
