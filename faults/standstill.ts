import { compare, readBack } from './checker.ts'
import { startCluster, whyNoCluster } from './cluster.ts'
import { startLine } from './line.ts'
import { makeKey, startServer } from './server.ts'
import { onStage, type Stage } from './stage.ts'
import { pause } from './time.ts'
import { createVerdict, type Experiment, skipped, type Trial, type Wrong } from './trial.ts'
import { answersOf5xx, startWriters, undocumented } from './writers.ts'

const usualSeconds = 12
const crowd = 16
const recoveryLimitMs = 5_000

/** PostgreSQL freezes with all connections open, as behind a network that drops every packet. */
export const standstill: Experiment = {
  name: 'standstill',
  async play(size) {
    const reason = whyNoCluster()
    if (reason !== null) return [skipped('PostgreSQL', reason)]
    const seconds = size ?? usualSeconds
    return [
      await onStage((stage) => playStandstill(stage, seconds, [], null)),
      await onStage((stage) =>
        playStandstill(stage, seconds, ['waits-longer'], {
          how: 'waits ten times as long',
          breaks: 'answers in time',
        }),
      ),
    ]
  },
}

async function playStandstill(
  stage: Stage,
  seconds: number,
  preloads: readonly string[],
  wrong: Wrong | null,
): Promise<Trial> {
  const cluster = await startCluster(stage)
  const key = await makeKey(stage, cluster.setting, 'enterprise')
  const line = await startLine(stage, cluster.setting)
  const server = await startServer(stage, { ...line.setting, preloads })
  const writers = startWriters(stage, {
    url: () => server.url,
    key,
    writers: crowd,
    runs: 4,
    retry: 'same key',
  })
  await writers.nextAcknowledgement(15_000)
  await pause(1_000)
  line.standStill()
  await pause(seconds * 1_000)
  line.mend()
  const mendedMs = performance.now()
  await writers.nextAcknowledgement(20_000)
  const recoveredMs = performance.now() - mendedMs
  await pause(1_000)
  await writers.stop()

  const checked = compare(writers, await readBack(server.url, key))
  const { broken, expect } = createVerdict()
  const odd = undocumented(writers.failed)
  const cut = writers.failed.filter(({ outcome }) => 'failure' in outcome).length
  expect(odd.length === 0, 'documented answers', `${odd.length}, such as ${odd[0]}`)
  expect(cut === 0, 'always an answer', `${cut} requests without one`)
  if (wrong === null) {
    expect(answersOf5xx(writers.failed).length > 0, 'it stood still', 'no step was refused')
  }
  expect(recoveredMs < recoveryLimitMs, 'recovers in time', `took ${Math.round(recoveredMs)} ms`)
  return {
    on: 'PostgreSQL',
    wrong,
    skipped: null,
    measured: {
      ...checked.measured,
      readyMs: server.readyMs,
      seen: `${seconds} s, ${crowd} writers, wrote again after ${Math.round(recoveredMs)} ms`,
    },
    broken: [...checked.broken, ...broken],
  }
}
