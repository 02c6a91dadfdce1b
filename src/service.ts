import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import type { Config } from './config.ts'
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
  const service: Service = {
    settings: config,
    store,
    now: world.now,
    checkAnswers: world.checkAnswers,
  }

  let stopping = false
  let url = ''
  const app = createHttp({
    service,
    operations: world.operations,
    addresses: config,
    metrics,
    servesMetrics: config.metricsPort === null,
    log,
    baseUrls: () => [
      config.baseUrl ?? url,
      ...(config.altBaseUrl === null ? [] : [config.altBaseUrl]),
    ],
    newRequestId: () => `req_${randomBytes(9).toString('base64url')}`,
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
