import { type Checked, compare, readBack } from './checker.ts'
import { startCluster, whyNoCluster } from './cluster.ts'
import { startEarlyAnswers } from './early-answers.ts'
import { makeKey, onSqlite, type Setting, startServer } from './server.ts'
import { onStage, type Stage } from './stage.ts'
import { median, pause } from './time.ts'
import { createVerdict, type Experiment, skipped, type Trial, type Wrong } from './trial.ts'
import { startWriters, undocumented } from './writers.ts'

const usualCycles = 20
const crowd = 32
const readyLimitMs = 2_000
const longestLifeMs = 500
const acknowledgementLimitMs = 15_000

/** Kills the server at random moments under load and restarts it each time. */
export const kill: Experiment = {
  name: 'kill',
  async play(size) {
    const cycles = size ?? usualCycles
    const trials = [
      await onStage((stage) => playKills(stage, 'SQLite', onSqlite(stage), cycles, null)),
      await onStage((stage) => playKills(stage, 'SQLite', onSqlite(stage), 2 * cycles, early)),
      await onStage((stage) => playKills(stage, 'SQLite', onSqlite(stage), 2 * cycles, keyless)),
    ]
    const reason = whyNoCluster()
    if (reason !== null) return [...trials, skipped('PostgreSQL', reason)]
    const onPostgres = (cycles: number, wrong: Wrong | null) =>
      onStage(async (stage) => {
        const { setting } = await startCluster(stage)
        return playKills(stage, 'PostgreSQL', setting, cycles, wrong)
      })
    return [
      ...trials,
      await onPostgres(cycles, null),
      await onPostgres(2 * cycles, early),
      await onPostgres(2 * cycles, keyless),
    ]
  },
}

const early: Wrong = { how: 'answers before it stores', breaks: 'nothing lost' }
const keyless: Wrong = { how: 'retries without an idempotency key', breaks: 'nothing twice' }

async function playKills(
  stage: Stage,
  on: string,
  setting: Setting,
  cycles: number,
  wrong: Wrong | null,
): Promise<Trial> {
  const key = await makeKey(stage, setting, 'enterprise')
  let server = await startServer(stage, setting)
  const readyMs: number[] = []
  const front = wrong === early ? await startEarlyAnswers(stage, () => server.url) : null
  const writers = startWriters(stage, {
    url: () => front?.url ?? server.url,
    key,
    writers: crowd,
    runs: 4,
    retry: wrong === keyless ? 'no key' : 'same key',
  })
  let kills = 0
  for (let caught = false; kills < cycles && !caught; kills++) {
    await writers.nextAcknowledgement(acknowledgementLimitMs)
    await pause(Math.random() * longestLifeMs)
    await server.end('SIGKILL')
    server = await startServer(stage, setting)
    readyMs.push(server.readyMs)
    // The faulty server need not go on once it is caught.
    await front?.settle()
    caught = wrong !== null && breaks(compare(writers, await readBack(server.url, key)), wrong)
  }
  await writers.nextAcknowledgement(acknowledgementLimitMs)
  await writers.stop()
  await front?.settle()
  const checked = compare(writers, await readBack(server.url, key))
  const { broken, expect } = createVerdict()
  const odd = undocumented(writers.failed)
  const middle = median(readyMs)
  expect(odd.length === 0, 'documented answers', `${odd.length}, such as ${odd[0]}`)
  expect(middle < readyLimitMs, 'ready in time', `ready after ${Math.round(middle)} ms`)
  return {
    on,
    wrong,
    skipped: null,
    measured: {
      ...checked.measured,
      readyMs: middle,
      seen: `${kills} × kill -9, ${crowd} writers, slowest start ${Math.round(Math.max(...readyMs))} ms`,
    },
    broken: [...checked.broken, ...broken],
  }
}

function breaks({ broken }: Checked, wrong: Wrong): boolean {
  return broken.some(({ promise }) => promise === wrong.breaks)
}
