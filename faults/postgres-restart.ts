import { compare, readBack } from './checker.ts'
import { startCluster, whyNoCluster } from './cluster.ts'
import { makeKey, startServer } from './server.ts'
import { onStage, type Stage } from './stage.ts'
import { median, pause } from './time.ts'
import { createVerdict, type Experiment, skipped, type Trial, type Wrong } from './trial.ts'
import { startWriters, undocumented } from './writers.ts'

const usualRestarts = 12
const everyMs = 5_000
const crowd = 16
const recoveryLimitMs = 2_000

/** Crashes and restarts PostgreSQL every five seconds under load, while the server runs on. */
export const postgresRestart: Experiment = {
  name: 'postgres-restart',
  async play(size) {
    const reason = whyNoCluster()
    if (reason !== null) return [skipped('PostgreSQL', reason)]
    const restarts = size ?? usualRestarts
    return [
      await onStage((stage) => playRestarts(stage, restarts, null)),
      await onStage((stage) => playRestarts(stage, Math.min(restarts, 3), lazy)),
    ]
  },
}

const lazy: Wrong = { how: 'synchronous_commit=off', breaks: 'nothing lost' }

async function playRestarts(stage: Stage, restarts: number, wrong: Wrong | null): Promise<Trial> {
  const cluster = await startCluster(
    stage,
    wrong === null ? [] : ['synchronous_commit=off', 'wal_writer_delay=10s'],
  )
  const key = await makeKey(stage, cluster.setting, 'enterprise')
  const server = await startServer(stage, cluster.setting)
  const writers = startWriters(stage, {
    url: () => server.url,
    key,
    writers: crowd,
    runs: 4,
    retry: 'same key',
  })
  const recoveryMs: number[] = []
  for (let restart = 0; restart < restarts; restart++) {
    await writers.nextAcknowledgement(15_000)
    await pause(everyMs)
    await cluster.crashAndStart()
    const upMs = performance.now()
    await writers.nextAcknowledgement(15_000)
    recoveryMs.push(performance.now() - upMs)
  }
  await writers.stop()

  const checked = compare(writers, await readBack(server.url, key))
  const { broken, expect } = createVerdict()
  const odd = undocumented(writers.failed)
  const cut = writers.failed.filter(({ outcome }) => 'failure' in outcome).length
  const slowest = Math.max(...recoveryMs)
  expect(odd.length === 0, 'documented answers', `${odd.length}, such as ${odd[0]}`)
  expect(cut === 0, 'always an answer', `${cut} requests without one`)
  expect(server.isRunning(), 'runs on', 'the process ended')
  expect(slowest < recoveryLimitMs, 'recovers in time', `took ${Math.round(slowest)} ms`)
  return {
    on: 'PostgreSQL',
    wrong,
    skipped: null,
    measured: {
      ...checked.measured,
      readyMs: server.readyMs,
      seen: `${restarts} × crash and start, ${crowd} writers, recovered in ${Math.round(median(recoveryMs))} ms (median), ${Math.round(slowest)} ms (slowest)`,
    },
    broken: [...checked.broken, ...broken],
  }
}
