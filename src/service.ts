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
import { existsSync, readFileSync } from 'node:fs'
import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'
import { base62, keyRandomLength, spellKey } from './core/accounts/keys.ts'
import { minuteMs } from './core/time.ts'
import { createEncoder, type Encoder, shippedWeights } from './encoder/encoder.ts'
import { createChannels } from './jobs/channels.ts'
import { createDecisions } from './jobs/decisions.ts'
import { createDeliverJob } from './jobs/deliver.ts'
import { createDigestJob } from './jobs/digest.ts'
import { createEraseJob } from './jobs/erase.ts'
import { createExpireJob } from './jobs/expire.ts'
import { createFieldJob } from './jobs/field.ts'
import { createResultsJob } from './jobs/results.ts'
import { createScheduler } from './jobs/scheduler.ts'
import { createSpansJob } from './jobs/spans.ts'
import { createUnreadJob } from './jobs/unread.ts'
import { createWaitingActs } from './jobs/waiting-acts.ts'
import { operations } from './operations/all.ts'
import { createCollisions } from './operations/fleet.ts'
import { createAnswerTimes } from './operations/gate/answer-times.ts'
import type { Service } from './operations/gate/context.ts'
import type { Operation } from './operations/gate/declaration.ts'
import { createInFlight } from './operations/gate/in-flight.ts'
import { Refusal } from './operations/gate/refusal.ts'
import type { Tool } from './operations/gate/tool.ts'
import { foldTrace } from './operations/hosts/fold-trace.ts'
import { readLate } from './operations/hosts/read-late.ts'
import { createShowEvents } from './operations/stream-events.ts'
import { tools } from './operations/tools/tools.ts'
import { createCollector } from './outbound/collector.ts'
import { createEmbeddings } from './outbound/embeddings.ts'
import { createGuide } from './outbound/guide.ts'
import { createIdentity } from './outbound/identity.ts'
import { createMail } from './outbound/mail.ts'
import { createPayment } from './outbound/payment.ts'
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
import { builtWeb, readWebFiles } from './surfaces/http/web-files.ts'
import type { McpExtension } from './surfaces/mcp/server.ts'

/** The dependencies of a process besides its configuration. Tests replace them. */
export interface World {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
  /** Set in tests, which move the clock: `now` then replaces the clock of the database too. */
  keepsOwnTime?: boolean
  /** A number in [0, 1). */
  random(): number
  /** The output of log lines. */
  log: { write(line: string): void }
  /** Set in tests. Checks every answer against the output schema of its operation. */
  checkAnswers: boolean
  /** The operations to serve. Tests add some that fail. */
  operations: readonly Operation[]
  tools: readonly Tool[]
  /** Adds to the tool endpoint. Tests add the fixtures of a conformance suite. */
  extendTools?: McpExtension
  /** The version of this program. */
  version: string
  /** Replaces the name servers for the hosts of webhooks. */
  resolve?: Resolve
  /** Where the built pages lie; null serves none. */
  webFolder: string | null
}

/** A running service. */
export interface Running {
  /** The URL on which it listens, `http://host:port`. */
  readonly url: string
  /** The dependencies of its operations. */
  readonly service: Service
  readonly store: OpenStore
  readonly log: Logger
  /** Whether it serves the pages of web/. */
  readonly hasPages: boolean
  /** The URL of `/metrics` on its separate port; null without one. */
  readonly metricsUrl: string | null
  /** Runs the due jobs now, waits for them, and returns their number. Jobs also run by themselves. */
  runDue(): Promise<number>
  /**
   * Stops the service. It is not ready from now on, but accepts connections for `graceMs`, because some are
   * on their way. It then answers the requests in flight and closes everything.
   */
  stop(options?: { graceMs: number }): Promise<void>
}

const idLength = 22
const webhookSecretBytes = 32
const tokenBytes = 32
const drainMs = 7000
/** Longer than the longest webhook request. */
const jobGraceMs = 6_000

/** The largest database file that is checked at the start: its check takes about a second. */
const checkedAtStart = 512 * 1024 * 1024
const damagedDetail =
  'The database file is damaged. Stop the server and bring a backup back: plumbline restore FILE --force.'

/** The dependencies of a real process. */
export const realWorld: World = {
  now: Date.now,
  random: Math.random,
  log: process.stderr,
  checkAnswers: false,
  operations,
  tools,
  version: JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version,
  webFolder: builtWeb,
}

/** Opens the database, migrates it and listens. Rejects if one of these fails. */
export async function startService(config: Config, world: World): Promise<Running> {
  const log = pino({ level: config.logLevel, base: null }, world.log)
  for (const name of config.unknownSettings) log.warn({ name }, 'this setting is not known')
  for (const name of config.laterSettings) {
    log.warn({ name }, 'this version does not have this setting yet, and ignores it')
  }

  function logClock(aheadMs: number): void {
    const aheadS = Math.round(aheadMs / 1000)
    log.warn({ ahead_s: aheadS }, 'the clock of this node is wrong; that of the database counts')
  }
  let damaged = false
  function reportDamage(says: string): void {
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
    logClock,
    reportDamage,
  )
  if (checkFile(config.databaseUrl, reportDamage) === 'too large') {
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
    openEncoder(config.encoder, log),
  )
  store.onEvent(service.channels.wake)
  const offered = world.operations.filter(
    ({ access }) => access !== 'admin' || config.adminToken !== null,
  )

  const web = world.webFolder === null ? null : readWebFiles(world.webFolder)

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
    web,
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
        baseUrl: config.baseUrl,
        now,
        random: world.random,
      }),
      createDigestJob({ ...service, ...service.settings, store }),
      createSpansJob({
        store,
        now,
        fold: (account, traceId) => foldTrace(service, account, traceId),
      }),
      createUnreadJob({ now, judge: (account, runId) => readLate(service, account, runId) }),
      ...(config.otlp === null
        ? []
        : [
            createResultsJob({
              store,
              collector: createCollector(config.otlp, now),
              version: world.version,
              now,
              random: world.random,
              refused: (says) => log.warn(says, 'evaluation results were not taken'),
            }),
          ]),
    ],
    chores: [
      { name: 'save use of keys', everyMs: minuteMs, run: store.accounts.saveUse },
      { name: 'save use of sessions', everyMs: minuteMs, run: store.sessions.saveUse },
    ],
    now,
    random: world.random,
    log,
    graceMs: jobGraceMs,
  })

  let stopped: Promise<void> | null = null
  async function drain(graceMs = 0): Promise<void> {
    stopping = true
    service.decisions.close()
    service.channels.close()
    // A closed listener resets the connections that the kernel has accepted and this process has not.
    if (graceMs > 0) await new Promise((next) => setTimeout(next, graceMs))
    const cutOff = setTimeout(() => {
      app.server.closeAllConnections()
      metricsApp?.server.closeAllConnections()
    }, drainMs)
    await Promise.all([app.close(), metricsApp?.close(), scheduler.stop()])
    clearTimeout(cutOff)
    await service.waitingActs.close()
    await service.webhooks.close()
    service.mail?.close()
    service.embeddings?.close()
    await service.encoder?.close()
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
  // If a part fails to start, the others must not go on listening.
  await listen().catch(async (error) => {
    await drain()
    throw error
  })
  return {
    url,
    service,
    store,
    log,
    hasPages: web !== null,
    metricsUrl,
    runDue: scheduler.runDue,
    stop({ graceMs } = { graceMs: 0 }) {
      stopped ??= drain(graceMs)
      return stopped
    },
  }
}

/** An open database, the clock that its nodes share, and the function that releases its server lock. */
interface Opened {
  database: Database
  now: () => number
  unlock: () => void
}

/** Opens a database for a server and migrates it. On SQLite a lock keeps other servers out. */
async function openForServer(
  url: string,
  world: World,
  logClock: (aheadMs: number) => void,
  reportDamage: (says: string) => void,
): Promise<Opened> {
  const database = await openDatabase(url, reportDamage)
  const path = sqlitePath(url)
  let unlock = () => {}
  try {
    if (path !== null && path !== ':memory:') unlock = lockForServer(path)
    await migrate(database)
    const now = world.keepsOwnTime ? world.now : await createClock(database, world.now, logClock)
    return { database, now, unlock }
  } catch (error) {
    await database.close()
    unlock()
    throw error
  }
}

/** Checks a SQLite file for damage, unless it is so large that the check would delay the start. */
function checkFile(url: string, reportDamage: (says: string) => void): 'checked' | 'too large' {
  const path = sqlitePath(url)
  if (path === null || path === ':memory:') return 'checked'
  const faults = checkSmallFile(path, checkedAtStart)
  if (faults !== null && faults.length > 0) reportDamage(faults.join('; '))
  return faults === null ? 'too large' : 'checked'
}

/** Opens the encoder, which loads its weights in the background; null if it is off or has no weights. */
export function openEncoder(
  file: string | null,
  log: Pick<Logger, 'debug' | 'info' | 'warn'>,
): Encoder | null {
  if (file === 'off') return null
  const alone = 'the words alone judge, because the encoder has no weights'
  const weights = file ?? shippedWeights
  if (!existsSync(weights)) {
    if (file === null) log.info(alone)
    else log.warn({ file }, alone)
    return null
  }
  return createEncoder(weights, {
    ready: (version) => log.debug({ version }, 'the encoder reads'),
    failed: (reason) => log.warn({ reason }, 'the words alone judge, because the encoder failed'),
  })
}

/** Creates the dependencies of the operations over an open store. `baseUrl` is called when it is needed. */
export function createService(
  config: Config,
  store: Store,
  world: Pick<World, 'now' | 'checkAnswers' | 'resolve'>,
  baseUrl: () => string,
  countVerdict: Service['countVerdict'],
  log: Pick<Logger, 'info' | 'warn' | 'error'>,
  encoder: Encoder | null = null,
): Service {
  const { detector, adaptation, limit, checkPerDay, toolsPerDay, tiers, otlp } = config
  const adminDigest = config.adminToken === null ? null : digestOf(config.adminToken)
  return {
    settings: {
      detector,
      adaptation,
      limit,
      checkPerDay,
      toolsPerDay,
      results: otlp === null ? null : { all: otlp.all, text: otlp.text },
      tiers,
      webhookAllow: config.webhookAllow,
      baseUrl,
      prices: config.payment?.prices ?? new Map(),
      upgradePage: config.upgradeUrl,
      upgradeUrl: () =>
        config.payment === null ? (config.upgradeUrl ?? baseUrl()) : `${baseUrl()}/v1/upgrade`,
    },
    store,
    decisions: createDecisions(store, world.now),
    waitingActs: createWaitingActs({
      failed(error) {
        // Such as steps beyond the quota of their account.
        if (error instanceof Refusal) log.info({ reason: error.word }, 'acts were refused')
        else log.error({ err: error }, 'acts were not stored')
      },
      lost: (acts) =>
        log.error({ acts }, 'acts were lost: the database was not available until the stop'),
    }),
    channels: createChannels(store, world.now, createShowEvents(store, world.now), (error) =>
      log.error({ err: error }, 'the streams of accounts could not be read'),
    ),
    exports: createInFlight(),
    answerTimes: createAnswerTimes(),
    now: world.now,
    newId: (prefix) =>
      `${prefix}_${randomDigits(idLength)
        .map((digit) => base62.charAt(digit))
        .join('')}`,
    newKey,
    newToken: () => randomBytes(tokenBytes).toString('base64url'),
    newWebhookSecret: () => `whsec_${randomBytes(webhookSecretBytes).toString('base64')}`,
    hash: sha256,
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
    identity:
      config.identity === null
        ? null
        : createIdentity(config.identity, {
            now: world.now,
            failed: (reason) =>
              log.info({ reason }, 'the identity provider did not sign anybody in'),
          }),
    payment:
      config.payment === null
        ? null
        : createPayment(config.payment, {
            now: world.now,
            failed: (reason) => log.info({ reason }, 'the payment provider failed'),
          }),
    guide: config.guide === null ? null : createGuide(config.guide),
    embeddings:
      config.embeddings === null
        ? null
        : createEmbeddings(config.embeddings, {
            now: world.now,
            failed: (reason) => log.info({ reason }, 'an embeddings request failed'),
          }),
    encoder,
    logUnendedSubscriptions: (account, subscriptions) =>
      log.warn(
        { account, subscriptions },
        'an erased account leaves subscriptions that go on; end them at the payment provider',
      ),
    logChange: (change) => log.info(change, 'changed'),
    findCollisions: createCollisions(sha256),
    digestTests: createInFlight(),
    logRefusedWebhook: () =>
      log.info('a webhook was refused; PLUMBLINE_WEBHOOK_ALLOW exempts hosts from the rule'),
    checkAnswers: world.checkAnswers,
  }
}

function sha256(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** Creates a random key. */
export function newKey(): string {
  return spellKey(randomDigits(keyRandomLength))
}

/** Creates request ids. The name of the process makes them unique among all processes. */
function createRequestIds(process: string): () => string {
  let count = 0
  return () => `req_${process}_${(count++).toString(36)}`
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Uniform random numbers of 0–61 from the generator of the system. */
function randomDigits(count: number): number[] {
  return Array.from({ length: count }, () => randomInt(62))
}

const cipher = 'aes-256-gcm'
const saltLength = 16
const tagLength = 16
// Every sealed text has its own key, derived from its salt, so the nonce can be constant.
const nonce = Buffer.alloc(12)

/**
 * Seals a text with AES-256-GCM. The key comes from the secret and a new salt by HKDF-SHA-256. Returns salt,
 * tag and text in base64url.
 */
function seal(text: string, secret: string): string {
  const salt = randomBytes(saltLength)
  const sealing = createCipheriv(cipher, sealingKey(secret, salt), nonce)
  const sealed = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()])
  return Buffer.concat([salt, sealing.getAuthTag(), sealed]).toString('base64url')
}

function unseal(sealed: string, secret: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < saltLength + tagLength) return null
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

/** Derives a key that the stored SHA-256 of the secret does not reveal. */
function sealingKey(secret: string, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, 'plumbline replay', 32))
}
