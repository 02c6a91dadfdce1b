import { compare, readBack } from './checker.ts'
import { startCluster, whyNoCluster } from './cluster.ts'
import { startLine } from './line.ts'
import { makeKey, startServer } from './server.ts'
import { onStage, type Stage } from './stage.ts'
import { createVerdict, type Experiment, skipped, type Trial, type Wrong } from './trial.ts'
import { startWriters, undocumented, type Writers } from './writers.ts'

const usualLost = 20
const crowd = 16
const oneIn = 40
const limitMs = 60_000

/** Sometimes PostgreSQL's answer to a COMMIT is lost, so that the server cannot know whether it committed. */
export const lostCommit: Experiment = {
  name: 'lost-commit',
  async play(size) {
    const reason = whyNoCluster()
    if (reason !== null) return [skipped('PostgreSQL', reason)]
    const lost = size ?? usualLost
    return [
      await onStage((stage) => playLost(stage, lost, [], null)),
      await onStage((stage) => playLost(stage, lost, [], keyless)),
      await onStage((stage) => playLost(stage, lost, ['says-nothing-stored'], dishonest)),
    ]
  },
}

const keyless: Wrong = { how: 'retries without an idempotency key', breaks: 'nothing twice' }
const dishonest: Wrong = { how: 'says that nothing was stored', breaks: 'refusals are true' }

async function playLost(
  stage: Stage,
  wanted: number,
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
    retry: wrong === keyless ? 'no key' : 'same key',
  })
  line.loseCommits(oneIn)
  const late = performance.now() + limitMs
  while (line.lost() < wanted && performance.now() < late) await writers.nextAcknowledgement(15_000)
  line.mend()
  await writers.nextAcknowledgement(15_000)
  await writers.stop()

  const checked = compare(writers, await readBack(server.url, key))
  const { broken, expect } = createVerdict()
  const odd = undocumented(writers.failed)
  const { replayed, untrue } = storedUnheard(writers)
  expect(odd.length === 0, 'documented answers', `${odd.length}, such as ${odd[0]}`)
  expect(
    untrue === 0,
    'refusals are true',
    `${untrue} of ${replayed} steps that were stored were said not to be`,
  )
  expect(line.lost() >= wanted, 'commits were lost', `${line.lost()} of ${wanted}`)
  if (wrong !== keyless) expect(replayed > 0, 'some were stored', 'no step was stored unheard')
  return {
    on: 'PostgreSQL',
    wrong,
    skipped: null,
    measured: {
      ...checked.measured,
      readyMs: server.readyMs,
      seen: `${line.lost()} COMMITs unheard, ${crowd} writers, ${replayed} steps stored unheard`,
    },
    broken: [...checked.broken, ...broken],
  }
}

/**
 * Counts the steps that were stored although their caller got a refusal: a later try got a recorded answer. A
 * refusal is untrue if it said that nothing was stored.
 */
function storedUnheard({ sent, failed }: Writers): { replayed: number; untrue: number } {
  const allDenied = new Map<number, boolean>()
  for (const { n, outcome } of failed) {
    const denied = 'status' in outcome && outcome.text.includes('Nothing was stored')
    allDenied.set(n, denied && (allDenied.get(n) ?? true))
  }
  const replayed = [...sent.values()].filter(({ acknowledged }) => acknowledged?.replayed)
  const untrue = replayed.filter(({ n }) => allDenied.get(n))
  return { replayed: replayed.length, untrue: untrue.length }
}
