import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { detectorNames } from '../src/core/detector/contract/detector.ts'
import { demoRun } from '../src/core/runs/demo.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { spawnPlumbline } from './spawned.ts'
import { verifies } from './verifies.ts'

async function runDemo(t: TestContext, args: readonly string[], env = {}) {
  const { ended, written } = spawnPlumbline(t, args, { env })
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

test('the demo asks the server that the settings name, with the key of the environment', async (t) => {
  verifies('command.demo')
  const app = await start(t)
  const { key: PLUMBLINE_KEY } = await newCaller(app)
  const { port } = new URL(app.url)
  for (const [env, args, code] of [
    [{ PLUMBLINE_KEY, PORT: port }, [], 0],
    [{ PLUMBLINE_KEY, PORT: port, HOST: '0.0.0.0' }, [], 0],
    [{ PLUMBLINE_KEY, PORT: '9', PLUMBLINE_BASE_URL: app.url }, [], 0],
    [{ PLUMBLINE_KEY: 'x', PORT: '9' }, ['--url', app.url, '--key', PLUMBLINE_KEY], 0],
    [{ PLUMBLINE_KEY, PORT: '9' }, [], 2],
    [{ PLUMBLINE_KEY, PORT: 'x' }, [], 2],
  ] as const) {
    const ran = await runDemo(t, ['demo', ...args], env)
    assert.equal(ran.code, code, ran.err)
    if (code === 2) assert.match(ran.err, /127\.0\.0\.1:9 did not answer|PORT: send/)
  }
})

test('without a key, a server, or the right key it says what is missing', async (t) => {
  const app = await start(t)
  for (const [args, said] of [
    [['demo'], /name a --key.*PLUMBLINE_KEY/],
    [['demo', '--key', 'x', '--url', app.url], /bad_key/],
    [['demo', '--key', 'x', '--url', 'http://127.0.0.1:9'], /did not answer/],
  ] as const) {
    const { code, err } = await runDemo(t, args)
    assert.equal(code, 2)
    assert.match(err, said)
  }
})
