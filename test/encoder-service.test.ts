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
import { type App, start } from './harness.ts'
import { settle } from './hook.ts'
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

/** Makes an encoder read nothing in time until it is let go, and notes how long it was waited for. */
function slowed(app: App): { waited: number[]; letGo(): void } {
  const encoder = app.running.service.encoder ?? assert.fail('no encoder')
  const { listen } = encoder
  const waited: number[] = []
  encoder.listen = () => ({
    reads: listen().reads,
    async learn(waitMs) {
      waited.push(waitMs)
      return 'late'
    },
  })
  return {
    waited,
    letGo() {
      encoder.listen = listen
    },
  }
}

const session = [
  { hook_event_name: 'UserPromptSubmit', session_id: 's', prompt: ground, prompt_id: 'p' },
  ...[goal, 'read the log', 'write a poem', 'run the tests again'].map((description, at) => ({
    hook_event_name: 'PostToolUse',
    session_id: 's',
    cwd: '/home/kim/shop',
    tool_name: 'Bash',
    tool_use_id: `t${at}`,
    tool_input: { command: `node ${at}.js`, description },
    tool_response: { stdout: `${at}`, exit_code: 0 },
  })),
]

/** Reports a session and returns its steps as they are stored once nothing is left to do. */
async function stepsOf(t: TestContext, isSlow: boolean): Promise<unknown[]> {
  const app = await start(t, { env: { PLUMBLINE_ENCODER: fileOf(t, weights) } })
  const me = await newCaller(app)
  const slow = isSlow ? slowed(app) : null
  for (const event of session) {
    const { status, body } = await me.post('/v1/hooks/claude-code', event)
    assert.deepEqual([status, body], [200, {}])
  }
  const stored = async () => (await me.get('/v1/drift/run?run_id=claude-code:s')).body
  if (slow !== null) {
    // Its step is stored, and waits to be judged.
    assert.equal((await stored()).error, 'no_run')
    await settle(app)
    assert.equal((await stored()).error, 'no_run')
    slow.letGo()
    app.advance(1_000)
    await settle(app)
    // What was told again opens no step again.
    await me.post('/v1/hooks/claude-code', session[1])
  }
  return (await stored()).trace
}

test('a step whose texts the encoder reads too late for a host is judged when they are read', async (t) => {
  verifies('hosts.encoder-late')
  const inTime = await stepsOf(t, false)
  assert.equal(inTime.length, 5)
  assert.deepEqual(await stepsOf(t, true), inTime)
})

test('a step that waits for the encoder outlasts the process', async (t) => {
  verifies('hosts.encoder-late')
  const path = fileOf(t, weights)
  const env = { PLUMBLINE_ENCODER: path, DATABASE_URL: `sqlite:${path}.db` }
  const first = await start(t, { env })
  const me = await newCaller(first)
  slowed(first)
  assert.equal((await me.post('/v1/hooks/claude-code', session[0])).status, 200)
  await first.running.stop()
  const second = await start(t, { env })
  await settle(second)
  const { status } = await second.get('/v1/drift/run?run_id=claude-code:s', me.headers)
  assert.equal(status, 200)
})

test('an encoder that stays late lets the words judge after a minute, and after many events', async (t) => {
  verifies('hosts.encoder-late')
  const app = await start(t, { env: { PLUMBLINE_ENCODER: fileOf(t, weights) } })
  const me = await newCaller(app)
  slowed(app)
  const steps = async () =>
    (await me.get('/v1/drift/run?run_id=claude-code:s')).body.run?.steps ?? 0
  for (const event of session) await me.post('/v1/hooks/claude-code', event)
  assert.equal(await steps(), 0)
  app.advance(61_000)
  await settle(app)
  assert.equal(await steps(), 5)
  for (let at = 0; at < 66; at++) {
    await me.post('/v1/hooks/claude-code', {
      ...session[1],
      tool_use_id: `more-${at}`,
      tool_input: { command: `node ${at}.js`, description: `read the log ${at}` },
    })
  }
  assert.ok((await steps()) > 50)
})

test('a hook waits for the encoder for a fifth of a second at most', async (t) => {
  verifies('hosts.encoder-wait')
  const app = await start(t, { env: { PLUMBLINE_ENCODER: fileOf(t, weights) } })
  const me = await newCaller(app)
  const { waited } = slowed(app)
  assert.equal((await me.post('/v1/hooks/claude-code', session[0])).status, 200)
  const [ofHook = 0] = waited
  assert.ok(ofHook > 0 && ofHook <= 200, String(ofHook))
  waited.length = 0
  await me.logAll([{ run_id: 'a', ground, goal }])
  const ofStep = Math.max(...waited)
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
