import { createHash, randomBytes, randomInt } from 'node:crypto'
import { pino } from 'pino'
import type { Config } from './config.ts'
import { base62, keyRandomLength, spellKey } from './core/keys.ts'
import { builtInTiers } from './core/tiers.ts'
import { operations } from './operations/all.ts'
import type { Operation, Service } from './operations/operation.ts'
import { migrate } from './storage/migrations.ts'
import { openDatabase } from './storage/open-database.ts'
import { createStore } from './storage/store.ts'
import { createHttp, createMetricsHttp } from './surfaces/http.ts'
import { createMetrics } from './surfaces/metrics.ts'

/** What the process stands on besides its configuration; tests bring their own. */
export interface World {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
  /** Where log lines go. */
  log: { write(line: string): void }
  /** Whether every answer is checked against its schema. */
  checkAnswers: boolean
  /** What can be asked; tests add operations that fail. */
  operations: readonly Operation[]
}

/** A running service. */
export interface Running {
  /** Where it listens, `http://host:port`. */
  readonly url: string
  /** Where `/metrics` is, when it has a port of its own. */
  readonly metricsUrl: string | null
  /** Not ready at once, no new connections, requests in flight answered, then everything closed. */
  stop(): Promise<void>
}

const idLength = 22
const drainMs = 8000
const hourMs = 3_600_000
const dayMs = 86_400_000

/** The world of a real process. */
export const realWorld: World = {
  now: Date.now,
  log: process.stderr,
  checkAnswers: false,
  operations,
}

/** Opens the database, migrates it, and listens. Rejects when any of that fails. */
export async function startService(config: Config, world: World): Promise<Running> {
  const log = pino({ level: config.logLevel, base: null }, world.log)
  for (const name of config.unknownSettings) log.warn({ name }, 'this setting is not known')

  const database = await openDatabase(config.databaseUrl)
  await migrate(database)
  const store = createStore(database)
  const metrics = createMetrics()
  let url = ''
  const baseUrls = () => [
    config.baseUrl ?? url,
    ...(config.altBaseUrl === null ? [] : [config.altBaseUrl]),
  ]
  const service: Service = {
    settings: {
      detector: config.detector,
      checkPerDay: config.checkPerDay,
      tiers: builtInTiers,
      adminToken: config.adminToken,
      upgradeUrl: () => config.upgradeUrl ?? baseUrls()[0] ?? '',
    },
    store,
    now: world.now,
    newId: (prefix) =>
      `${prefix}_${randomDigits(idLength)
        .map((digit) => base62.charAt(digit))
        .join('')}`,
    newKey: () => spellKey(randomDigits(keyRandomLength)),
    hash: (text) => createHash('sha256').update(text).digest('base64url'),
    checkAnswers: world.checkAnswers,
  }

  let stopping = false
  const app = createHttp({
    service,
    operations: world.operations,
    addresses: config,
    metrics,
    servesMetrics: config.metricsPort === null,
    log,
    baseUrls,
    newRequestId: () => `req_${randomBytes(9).toString('base64url')}`,
    assertWritable: () => store.writable(world.now()),
    isStopping: () => stopping,
  })
  const metricsApp = config.metricsPort === null ? null : createMetricsHttp(metrics)
  let metricsUrl: string | null = null

  const expire = () => store.counters.expire(Math.floor(world.now() / dayMs))
  const expiry = setInterval(
    () => void expire().catch((error) => log.warn({ err: error }, 'expiry failed')),
    hourMs,
  )
  expiry.unref()

  let stopped: Promise<void> | null = null
  async function drain(): Promise<void> {
    stopping = true
    clearInterval(expiry)
    const cutOff = setTimeout(() => app.server.closeAllConnections(), drainMs)
    await Promise.all([app.close(), metricsApp?.close()])
    clearTimeout(cutOff)
    await store.close()
  }

  async function listen(): Promise<void> {
    const { host, port, metricsPort } = config
    url = await app.listen({ port, host })
    metricsUrl = (await metricsApp?.listen({ port: metricsPort ?? 0, host })) ?? null
  }
  // Half of a service would go on listening.
  await listen().catch(async (error) => {
    await drain()
    throw error
  })
  return {
    url,
    metricsUrl,
    stop() {
      stopped ??= drain()
      return stopped
    },
  }
}

/** Uniform numbers of 0–61 from the system's generator. */
function randomDigits(count: number): number[] {
  return Array.from({ length: count }, () => randomInt(62))
}
