import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createNetwork } from '../src/encoder/network.ts'
import { readWeights } from '../src/encoder/weights.ts'
import { warmUp } from '../src/operations/hosts/warm-up.ts'
import { newCaller } from './caller.ts'
import { smallEncoder, weightsFile } from './encoder-weights.ts'
import { start } from './harness.ts'
import { verifies } from './verifies.ts'

const weights = weightsFile(smallEncoder())
const [ground, goal] = ['fix the login bug', 'run the tests']

function fileOf(t: TestContext, content: Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-weights-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'weights.bin')
  writeFileSync(path, content)
  return path
}

test('a step is read by the encoder before it is judged, on every route', async (t) => {
  verifies('settings.encoder')
  const env = { PLUMBLINE_ENCODER: fileOf(t, weights) }
  const app = await start(t, { env })
  const me = await newCaller(app)
  const [first] = await me.logAll([{ run_id: 'a', ground, goal }])
  const { reads, version } = app.running.service.encoder ?? assert.fail('no encoder')
  const network = createNetwork(readWeights(weights))
  assert.equal(version(), network.version)
  const serves = network.readBeside(network.readErrand(ground), network.readGoal(goal)).serves
  assert.equal(reads.pair(ground, goal)?.serves, serves)
  const { body } = await app.post('/v1/check', { ground, goal })
  assert.deepEqual(body.verdict.evidence, first.evidence)
  const modulated = await me.post('/v1/modulate', { run_id: 'b', ground, goal: 'read the log' })
  assert.equal(modulated.status, 200)
  assert.notEqual(reads.pair(ground, 'read the log'), undefined)
})

test('a session that nobody has makes the encoder ready, and stores nothing', async (t) => {
  verifies('hosts.warm')
  const app = await start(t, { env: { PLUMBLINE_ENCODER: fileOf(t, weights) } })
  const { service } = app.running
  await warmUp(service)
  const [errand, goal] = [
    'sort the books on the shelf by their colour',
    'Run the tests of the shelf',
  ]
  assert.notEqual(service.encoder?.reads.pair(errand, goal), undefined)
  const me = await newCaller(app)
  assert.equal((await me.get('/v1/drift/runs')).body.runs.length, 0)
  // Neither an encoder that is off nor one that is over is waited for.
  await warmUp({ ...service, encoder: null })
  await service.encoder?.close()
  await warmUp(service)
})

test('a hook waits for the encoder for a fifth of a second at most, and its step is judged all the same', async (t) => {
  verifies('hosts.encoder-wait')
  const app = await start(t, { env: { PLUMBLINE_ENCODER: fileOf(t, weights) } })
  const me = await newCaller(app)
  const encoder = app.running.service.encoder ?? assert.fail('no encoder')
  const waited: number[] = []
  // It reads nothing in time.
  const { listen } = encoder
  encoder.listen = () => ({
    reads: listen().reads,
    async learn(waitMs) {
      waited.push(waitMs)
      return false
    },
  })
  const event = { hook_event_name: 'UserPromptSubmit', session_id: 's', prompt: ground }
  assert.equal((await me.post('/v1/hooks/claude-code', event)).status, 200)
  await me.logAll([{ run_id: 'a', ground, goal }])
  const { body } = await me.get('/v1/drift/run?run_id=claude-code:s')
  assert.equal(body.run.steps, 1)
  const [ofHook = 0, ofStep = 0] = waited
  assert.ok(ofHook > 0 && ofHook <= 200, String(ofHook))
  assert.ok(ofStep > 200 && ofStep <= 2000, String(ofStep))
})

test('without weights the server starts, says so and judges by the words', async (t) => {
  verifies('settings.encoder')
  const missing = join(tmpdir(), 'plumbline-no-such-file')
  const app = await start(t, { env: { PLUMBLINE_ENCODER: missing } })
  assert.equal(app.running.service.encoder, null)
  assert.ok(app.log.some(({ msg, file }) => file === missing && /words alone/.test(String(msg))))
  const { status } = await app.post('/v1/check', { ground, goal })
  assert.equal(status, 200)
})

test('with damaged weights too', async (t) => {
  verifies('settings.encoder')
  const damaged = Buffer.from(weights)
  damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1
  const app = await start(t, { env: { PLUMBLINE_ENCODER: fileOf(t, damaged) } })
  const { status } = await app.post('/v1/check', { ground, goal })
  assert.equal(status, 200)
  assert.ok(app.log.some(({ reason }) => /damaged/.test(String(reason))))
})
