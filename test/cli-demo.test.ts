import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { demoRun } from '../src/core/demo.ts'
import { detectorNames } from '../src/core/detector/detectors.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { spawnPlumbline } from './spawned.ts'
import { verifies } from './verifies.ts'

async function runDemo(t: TestContext, args: readonly string[]) {
  const { ended, written } = spawnPlumbline(t, args)
  return { code: await ended, ...written }
}

for (const detector of detectorNames) {
  test(`the demo replays its run against a running server, verdict by verdict of ${detector}`, async (t) => {
    await assertReplayed(t, detector)
  })
}

async function assertReplayed(t: TestContext, detector: string): Promise<void> {
  verifies('command.demo')
  const app = await start(t, { env: { PLUMBLINE_DETECTOR: detector } })
  const me = await newCaller(app)
  const { code, out } = await runDemo(t, ['demo', '--url', app.url, '--key', me.key])
  assert.equal(code, 0, out)
  const verdicts = out.split('\n').filter((line) => /^\S.*: .*\(phi /.test(line))
  assert.deepEqual(
    verdicts.map((line) => /^(?:\(the user speaks\) )?(.*?) \(phi/.exec(line)?.[1]),
    [
      'on the errand: grounded',
      'on the errand: advancing',
      'on the errand: advancing',
      'on the errand: advancing',
      'DRIFTING: goal-drift',
      'DRIFTING: goal-drift',
      'on the errand: advancing',
      'on the errand: grounded',
      'on the errand: advancing',
    ],
  )
  const { runs } = (await me.get('/v1/drift/runs')).body
  assert.equal(runs.length, 1)
  assert.equal(runs[0].steps, demoRun.length)
  assert.equal(runs[0].drifting_steps, 2)
  assert.equal(runs[0].revision, 2)
}

test('without a key, a server, or the right key it says what is missing', async (t) => {
  const app = await start(t)
  for (const [args, said] of [
    [['demo'], /name a --key/],
    [['demo', '--key', 'x', '--url', app.url], /bad_key/],
    [['demo', '--key', 'x', '--url', 'http://127.0.0.1:9'], /did not answer/],
  ] as const) {
    const { code, err } = await runDemo(t, args)
    assert.equal(code, 2)
    assert.match(err, said)
  }
})
