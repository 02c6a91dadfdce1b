import { compare, readBack } from './checker.ts'
import { type Cluster, startCluster, whyNoCluster } from './cluster.ts'
import { makeKey, type Setting, startServer } from './server.ts'
import { onStage, type Stage } from './stage.ts'
import { createVerdict, type Experiment, skipped, type Trial, type Wrong } from './trial.ts'
import { startWriters, undocumented } from './writers.ts'

const usualSteps = 10_000
const crowd = 32
const runs = 3

/** Two nodes on one database, half of the writers on each, all on the same runs. */
export const nodes: Experiment = {
  name: 'nodes',
  async play(size) {
    const reason = whyNoCluster()
    if (reason !== null) return [skipped('PostgreSQL', reason)]
    const steps = size ?? usualSteps
    const unlocked: Wrong = { how: 'does not hold the row of a run', breaks: 'documented answers' }
    return onStage(async (stage) => {
      const cluster = await startCluster(stage)
      return [
        await playNodes(stage, cluster, cluster.setting, steps, null),
        await playNodes(
          stage,
          cluster,
          { ...cluster.setting, preloads: ['no-row-locks'] },
          Math.min(steps, 1_000),
          unlocked,
        ),
      ]
    })
  },
}

async function playNodes(
  stage: Stage,
  cluster: Cluster,
  setting: Setting,
  steps: number,
  wrong: Wrong | null,
): Promise<Trial> {
  await cluster.empty()
  const key = await makeKey(stage, setting, 'enterprise')
  const servers = await Promise.all([startServer(stage, setting), startServer(stage, setting)])
  const [one, two] = servers
  const writers = startWriters(stage, {
    url: (writer) => (writer % 2 === 0 ? one : two).url,
    key,
    writers: crowd,
    runs,
    steps,
    retry: 'same key',
    // A step that the faulty server always refuses must not be retried forever.
    patienceMs: 2_000,
  })
  const enough = wrong === null ? null : setTimeout(() => writers.stop(), wrongLimitMs)
  await writers.done
  if (enough !== null) clearTimeout(enough)

  const [stored, storedToo] = await Promise.all(servers.map(({ url }) => readBack(url, key)))
  if (stored === undefined) throw new Error('nothing was read back')
  const checked = compare(writers, stored)
  const { broken, expect } = createVerdict()
  const odd = undocumented(writers.failed)
  expect(odd.length === 0, 'documented answers', `${odd.length}, such as ${odd[0]}`)
  expect(
    JSON.stringify(stored) === JSON.stringify(storedToo),
    'the same on both nodes',
    'the nodes read different runs',
  )
  const groundless = stored.filter(({ ground }) => ground === null)
  expect(groundless.length === 0, 'a ground', `${groundless.length} runs without`)
  if (wrong === null) {
    const { acknowledged } = checked.measured
    expect(acknowledged === steps, 'all acknowledged', `${acknowledged} of ${steps}`)
  }
  await Promise.all(servers.map(({ end }) => end('SIGTERM')))
  return {
    on: 'PostgreSQL',
    wrong,
    skipped: null,
    measured: {
      ...checked.measured,
      readyMs: Math.max(...servers.map(({ readyMs }) => readyMs)),
      seen: `2 nodes, ${crowd} writers, ${runs} runs`,
    },
    broken: [...checked.broken, ...broken],
  }
}

const wrongLimitMs = 10_000
