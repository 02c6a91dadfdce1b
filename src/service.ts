import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hash,
  hkdfSync,
  randomBytes,
  randomInt,
  timingSafeEqual,
} from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'
import { base62, keyRandomLength, spellKey } from './core/accounts/keys.ts'
import { minuteMs } from './core/time.ts'
import { createDecisions } from './jobs/decisions.ts'
import { createDeliverJob } from './jobs/deliver.ts'
import { createDigestJob } from './jobs/digest.ts'
import { createEraseJob } from './jobs/erase.ts'
import { createExpireJob } from './jobs/expire.ts'
import { createFieldJob } from './jobs/field.ts'
import { createScheduler } from './jobs/scheduler.ts'
import { operations } from './operations/all.ts'
import type { Service } from './operations/gate/context.ts'
import type { Operation } from './operations/gate/declaration.ts'
import { createOneEach } from './operations/gate/one-each.ts'
import { Refusal } from './operations/gate/refusal.ts'
import type { Tool } from './operations/gate/tool.ts'
import { tools } from './operations/tools/tools.ts'
import { createEmbeddings } from './outbound/embeddings.ts'
import { createGuide } from './outbound/guide.ts'
import { createMail } from './outbound/mail.ts'
import type { Resolve } from './outbound/resolver.ts'
import { createWebhooks } from './outbound/webhook.ts'
import { createClock } from './storage/database/clock.ts'
import type { Database } from './storage/database/database.ts'
import { migrate } from './storage/database/migrations.ts'
import { openDatabase, sqlitePath } from './storage/database/open-database.ts'
import { lockForServer } from './storage/database/server-lock.ts'
import { checkSmallFile } from './storage/database/sqlite-file.ts'
import { createStore, type OpenStore, type Store } from './storage/store.ts'
import { createHttp, createMetricsHttp } from './surfaces/http/http.ts'
import { createMetrics } from './surfaces/http/metrics.ts'
import { listenAt } from './surfaces/http/server.ts'
import { startWarnings } from './surfaces/http/start-warnings.ts'
import type { McpExtension } from './surfaces/mcp/server.ts'

/** What the process stands on besides its configuration; tests bring their own. */
export interface World {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
  /** Set in tests, which move the clock: `now` counts also where the database has a clock. */
  keepsOwnTime?: boolean
  /** A number in [0, 1). */
  random(): number
  /** Where log lines go. */
  log: { write(line: string): void }
  /** Whether every answer is checked against its schema. */
  checkAnswers: boolean
  /** What can be asked; tests add operations that fail. */
  operations: readonly Operation[]
  tools: readonly Tool[]
  /** What the tool endpoint serves beside our own; tests add what a conformance suite looks for. */
  extendTools?: McpExtension
  /** Of this program. */
  version: string
  /** Asked for the addresses of webhooks' names, instead of the real name servers. */
  resolve?: Resolve
}

/** A running service. */
export interface Running {
  /** Where it listens, `http://host:port`. */
  readonly url: string
  /** What its operations stand on. */
  readonly service: Service
  readonly store: OpenStore
  readonly log: Logger
  /** Where `/metrics` is, when it has a port of its own. */
  readonly metricsUrl: string | null
  /** Runs the jobs that are due and waits for them; answers how many. They run by themselves too. */
  runDue(): Promise<number>
  /**
   * Not ready at once; for `graceMs` connections that were already on their way are still taken, then
   * none; requests in flight are answered, and everything is closed.
   */
  stop(options?: { graceMs: number }): Promise<void>
}

const idLength = 22
const webhookSecretBytes = 32
const drainMs = 7000
/** Longer than the longest wait for a webhook. */
const jobGraceMs = 6_000

/** Bytes that are read in about a second. */
const checkedAtStart = 512 * 1024 * 1024
const damagedDetail =
  'The database file is damaged. Stop the server and bring a backup back: plumbline restore FILE --force.'

/** The world of a real process. */
export const realWorld: World = {
  now: Date.now,
  random: Math.random,
  log: process.stderr,
  checkAnswers: false,
  operations,
  tools,
  version: JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version,
}

/** Opens the database, migrates it, and listens. Rejects when any of that fails. */
export async function startService(config: Config, world: World): Promise<Running> {
  const log = pino({ level: config.logLevel, base: null }, world.log)
  for (const name of config.unknownSettings) log.warn({ name }, 'this setting is not known')
  for (const name of config.laterSettings) {
    log.warn({ name }, 'this version does not have this setting yet, and ignores it')
  }

  function noteClock(aheadMs: number): void {
    const aheadS = Math.round(aheadMs / 1000)
    log.warn({ ahead_s: aheadS }, 'the clock of this node is wrong; that of the database counts')
  }
  let damaged = false
  function noteDamage(says: string): void {
    if (damaged) return
    damaged = true
    log.error(
      { says },
      'the database file is damaged: plumbline doctor tells more, and plumbline restore FILE --force brings a backup back once the server is stopped',
    )
  }
  const { database, now, unlock } = await openForServer(
    config.databaseUrl,
    world,
    noteClock,
    noteDamage,
  )
  if (checkFile(config.databaseUrl, noteDamage) === 'too large') {
    log.info('the database file is too large to be checked at the start; plumbline doctor reads it')
  }
  const store = createStore(database)
  const metrics = createMetrics()
  let url = ''
  const baseUrls = () => [
    config.baseUrl ?? url,
    ...(config.altBaseUrl === null ? [] : [config.altBaseUrl]),
  ]
  store.onSteps((logged) => {
    metrics.countCommit(logged.length)
    for (const step of logged) if (step !== 'damaged') metrics.countVerdict(step.verdict, true)
  })
  metrics.watch({
    waitingSteps: store.waitingSteps,
    jobs: () => store.jobs.count(now()),
  })
  const service = createService(
    config,
    store,
    { ...world, now },
    () => baseUrls()[0] ?? '',
    (verdict) => metrics.countVerdict(verdict, false),
    log,
  )
  const offered = world.operations.filter(
    ({ access }) => access !== 'admin' || config.adminToken !== null,
  )

  let stopping = false
  const http = {
    service,
    operations: offered,
    tools: world.tools,
    extension: world.extendTools,
    version: world.version,
    addresses: config,
    metrics,
    servesMetrics: config.metricsPort === null,
    log,
    baseUrls,
    newRequestId: createRequestIds(randomBytes(6).toString('base64url')),
    async assertWritable() {
      if (damaged) throw new Refusal(503, 'unavailable', { detail: damagedDetail })
      await store.writable(now())
    },
    isStopping: () => stopping,
  }
  const app = createHttp(http)
  const metricsApp = config.metricsPort === null ? null : createMetricsHttp(http)
  let metricsUrl: string | null = null

  const scheduler = createScheduler({
    store,
    kinds: [
      createExpireJob(store, now),
      createEraseJob(store, now),
      createFieldJob(store, now, () => service.newId('seed')),
      createDeliverJob({
        store,
        webhooks: service.webhooks,
        allow: config.webhookAllow,
        retries: config.alertRetries,
        now,
        random: world.random,
      }),
      createDigestJob({ ...service, ...service.settings, store }),
    ],
    chores: [{ name: 'save use of keys', everyMs: minuteMs, run: store.accounts.saveUse }],
    now,
    random: world.random,
    log,
    graceMs: jobGraceMs,
  })

  let stopped: Promise<void> | null = null
  async function drain(graceMs = 0): Promise<void> {
    stopping = true
    service.decisions.close()
    // Closing the listener resets connections that the kernel has taken and we have not seen yet.
    if (graceMs > 0) await new Promise((next) => setTimeout(next, graceMs))
    const cutOff = setTimeout(() => {
      app.server.closeAllConnections()
      metricsApp?.server.closeAllConnections()
    }, drainMs)
    await Promise.all([app.close(), metricsApp?.close(), scheduler.stop()])
    clearTimeout(cutOff)
    await service.webhooks.close()
    service.mail?.close()
    service.embeddings?.close()
    await store.close()
    unlock()
  }

  async function listen(): Promise<void> {
    const { host, port, metricsPort } = config
    url = await listenAt(app, { port, host })
    for (const warning of startWarnings(config, url)) log.warn(warning)
    if (metricsApp !== null) {
      metricsUrl = await listenAt(metricsApp, { port: metricsPort ?? 0, host })
    }
    await scheduler.start()
  }
  // Half of a service would go on listening.
  await listen().catch(async (error) => {
    await drain()
    throw error
  })
  return {
    url,
    service,
    store,
    log,
    metricsUrl,
    runDue: scheduler.runDue,
    stop({ graceMs } = { graceMs: 0 }) {
      stopped ??= drain(graceMs)
      return stopped
    },
  }
}

/** A database, the clock its nodes go by, and what lets another server have it. */
interface Opened {
  database: Database
  now: () => number
  unlock: () => void
}

/** Opens a database as its server, which on SQLite is the only one, and migrates it. */
async function openForServer(
  url: string,
  world: World,
  noteClock: (aheadMs: number) => void,
  noteDamage: (says: string) => void,
): Promise<Opened> {
  const database = await openDatabase(url, noteDamage)
  const path = sqlitePath(url)
  let unlock = () => {}
  try {
    if (path !== null && path !== ':memory:') unlock = lockForServer(path)
    await migrate(database)
    const now = world.keepsOwnTime ? world.now : await createClock(database, world.now, noteClock)
    return { database, now, unlock }
  } catch (error) {
    await database.close()
    unlock()
    throw error
  }
}

/** Looks for damage in a SQLite file, unless that would keep the start waiting. */
function checkFile(url: string, noteDamage: (says: string) => void): 'checked' | 'too large' {
  const path = sqlitePath(url)
  if (path === null || path === ':memory:') return 'checked'
  const faults = checkSmallFile(path, checkedAtStart)
  if (faults !== null && faults.length > 0) noteDamage(faults.join('; '))
  return faults === null ? 'too large' : 'checked'
}

/** What operations stand on, over an open store; `baseUrl` is asked for when it is needed. */
export function createService(
  config: Config,
  store: Store,
  world: Pick<World, 'now' | 'checkAnswers' | 'resolve'>,
  baseUrl: () => string,
  countVerdict: Service['countVerdict'],
  log: Pick<Logger, 'info'>,
): Service {
  const { detector, adaptation, checkPerDay, toolsPerDay, tiers } = config
  const adminDigest = config.adminToken === null ? null : digestOf(config.adminToken)
  return {
    settings: {
      detector,
      adaptation,
      checkPerDay,
      toolsPerDay,
      tiers,
      webhookAllow: config.webhookAllow,
      baseUrl,
      upgradeUrl: () => config.upgradeUrl ?? baseUrl(),
    },
    store,
    decisions: createDecisions(store, world.now),
    exports: createOneEach(),
    now: world.now,
    newId: (prefix) =>
      `${prefix}_${randomDigits(idLength)
        .map((digit) => base62.charAt(digit))
        .join('')}`,
    newKey,
    newWebhookSecret: () => `whsec_${randomBytes(webhookSecretBytes).toString('base64')}`,
    hash: (text) => hash('sha256', text, 'base64url'),
    isAdminToken: (credential) =>
      adminDigest !== null && timingSafeEqual(digestOf(credential), adminDigest),
    seal,
    unseal,
    countVerdict,
    webhooks: createWebhooks({
      allow: config.webhookAllow,
      resolve: world.resolve,
      now: world.now,
    }),
    mail: config.mail === null ? null : createMail(config.mail),
    guide: config.guide === null ? null : createGuide(config.guide),
    embeddings:
      config.embeddings === null
        ? null
        : createEmbeddings(config.embeddings, {
            now: world.now,
            failed: (reason) => log.info({ reason }, 'an embeddings request failed'),
          }),
    noteChange: (change) => log.info(change, 'changed'),
    digestTests: createOneEach(),
    noteRefusedWebhook: () =>
      log.info('a webhook was refused; PLUMBLINE_WEBHOOK_ALLOW exempts hosts from the rule'),
    checkAnswers: world.checkAnswers,
  }
}

/** A key that no account has. */
export function newKey(): string {
  return spellKey(randomDigits(keyRandomLength))
}

/** Ids that are new in this process and, by its own part, among all processes. */
function createRequestIds(process: string): () => string {
  let count = 0
  return () => `req_${process}_${(count++).toString(36)}`
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Uniform numbers of 0–61 from the system's generator. */
function randomDigits(count: number): number[] {
  return Array.from({ length: count }, () => randomInt(62))
}

const cipher = 'aes-256-gcm'
const saltLength = 16
const tagLength = 16
// Every sealed text has a key of its own, from its salt, so the nonce need not vary.
const nonce = Buffer.alloc(12)

/** AES-256-GCM under a key drawn from the secret and a new salt (HKDF-SHA-256): salt, tag and text in base64url. */
function seal(text: string, secret: string): string {
  const salt = randomBytes(saltLength)
  const sealing = createCipheriv(cipher, sealingKey(secret, salt), nonce)
  const sealed = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()])
  return Buffer.concat([salt, sealing.getAuthTag(), sealed]).toString('base64url')
}

function unseal(sealed: string, secret: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  const salt = bytes.subarray(0, saltLength)
  const tag = bytes.subarray(saltLength, saltLength + tagLength)
  const opening = createDecipheriv(cipher, sealingKey(secret, salt), nonce).setAuthTag(tag)
  const text = opening.update(bytes.subarray(saltLength + tagLength), undefined, 'utf8')
  try {
    return text + opening.final('utf8')
  } catch {
    return null
  }
}

/** The stored SHA-256 of a key does not help: this is another function of it. */
function sealingKey(secret: string, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, 'plumbline replay', 32))
}
