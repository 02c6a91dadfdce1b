import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { EventEmitter, on } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { createEncoder } from '../src/encoder/encoder.ts'
import { likeness } from '../src/encoder/likeness.ts'
import { createNetwork } from '../src/encoder/network.ts'
import { readWeights } from '../src/encoder/weights.ts'
import { smallEncoder, weightsFile } from './encoder-weights.ts'

const file = weightsFile(smallEncoder())
const longMs = 60_000

/** An encoder from a file with this content, and the next thing that it tells the process. */
function openEncoder(t: TestContext, content: Buffer | null = file) {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-encoder-'))
  const path = join(folder, 'weights.bin')
  if (content !== null) writeFileSync(path, content)
  const said = new EventEmitter()
  const heard = on(said, 'told')
  const encoder = createEncoder(path, {
    ready: (version) => said.emit('told', { version }),
    failed: (reason) => said.emit('told', { reason }),
  })
  t.after(async () => {
    await encoder.close()
    rmSync(folder, { recursive: true })
  })
  return { encoder, path, told: async () => (await heard.next()).value?.[0] }
}

test('reads pairs in its thread as the network does, and keeps them', async (t) => {
  const { encoder, told } = openEncoder(t)
  const network = createNetwork(readWeights(file))
  const asked = encoder.listen()
  assert.equal(asked.reads.pair('fix the login bug', 'run the tests'), undefined)
  assert.equal(asked.reads.alike('fix the bug', 'run the tests'), undefined)
  assert.equal(await asked.learn(longMs), 'some')
  assert.deepEqual(await told(), { version: network.version })
  assert.equal(encoder.version(), network.version)
  const errand = network.readErrand('fix the login bug')
  const goal = network.readGoal('run the tests')
  const { serves, effects } = network.readBeside(errand, goal)
  assert.deepEqual(encoder.reads.pair('fix the login bug', 'run the tests'), {
    serves,
    effects,
    alike: likeness(errand.meaning, goal.meaning),
  })
  assert.deepEqual(encoder.reads.effects('fix the login bug', 'run the tests'), effects)
  assert.equal(encoder.reads.effects('run the tests', 'fix the login bug'), undefined)
  assert.equal(
    encoder.reads.alike('fix the bug', 'run the tests'),
    likeness(network.readGoal('fix the bug').meaning, goal.meaning),
  )
  assert.equal(encoder.reads.pair('run the tests', 'fix the login bug'), undefined)
  const before = ['fix the bug', 'write a poem']
  asked.reads.following('fix the login bug', before, 'run the tests')
  assert.equal(await asked.learn(longMs), 'some')
  const earlier = before.map((text) => network.readBeside(errand, network.readGoal(text)))
  assert.equal(
    encoder.reads.following('fix the login bug', before, 'run the tests'),
    network.readBeside(errand, goal, earlier).serves,
  )
  assert.equal(
    encoder.reads.following('fix the login bug', before.toReversed(), 'run the tests'),
    undefined,
  )
  const again = encoder.listen()
  again.reads.pair('fix the login bug', 'run the tests')
  assert.equal(await again.learn(longMs), 'nothing')
})

test('reads many texts of several callers at once', async (t) => {
  const { encoder } = openEncoder(t)
  const goals = Array.from({ length: 100 }, (_, at) => `run test ${'7 '.repeat(at % 9)} ${at}`)
  const callers = ['fix the login bug', 'write a poem', 'fix the login bug'].map((errand) => {
    const asked = encoder.listen()
    for (const goal of goals) asked.reads.pair(errand, goal)
    return asked
  })
  assert.deepEqual(await Promise.all(callers.map(({ learn }) => learn(longMs))), [
    'some',
    'some',
    'some',
  ])
  for (const goal of goals) {
    assert.notEqual(encoder.reads.pair('fix the login bug', goal), undefined)
    assert.notEqual(encoder.reads.pair('write a poem', goal), undefined)
  }
})

test('a caller waits no longer than it wants, and the next one can ask again', async (t) => {
  const { encoder } = openEncoder(t)
  const asked = encoder.listen()
  asked.reads.pair('fix the login bug', 'run the tests')
  assert.equal(await asked.learn(0), 'late')
  const other = encoder.listen()
  other.reads.pair('fix the login bug', 'write a poem')
  assert.equal(await other.learn(longMs), 'some')
  // Nobody waited for it any more.
  assert.equal(encoder.reads.pair('fix the login bug', 'run the tests'), undefined)
  assert.equal(await asked.learn(longMs), 'some')
})

for (const [what, content, reason] of [
  ['missing', null, 'the file does not exist'],
  [
    'damaged',
    file.subarray(0, -1),
    'it is damaged: its content does not have the hash that it names',
  ],
  ['another', Buffer.from('{}'), 'it is not a file of weights'],
] as const) {
  test(`a file that is ${what} is told, and nobody waits`, async (t) => {
    const { encoder, told } = openEncoder(t, content)
    const asked = encoder.listen()
    asked.reads.pair('fix the login bug', 'run the tests')
    assert.equal(await asked.learn(longMs), 'nothing')
    assert.deepEqual(await told(), { reason })
    assert.equal(encoder.version(), null)
    assert.equal(await asked.learn(longMs), 'nothing')
  })
}

test('a thread that fails is told and replaced, and nobody waits for the old one', async (t) => {
  const { encoder, told } = openEncoder(t)
  assert.ok('version' in (await told()))
  const asked = encoder.listen()
  // No text, which the types forbid.
  asked.reads.pair('fix the login bug', 7 as unknown as string)
  assert.equal(await asked.learn(longMs), 'nothing')
  assert.deepEqual(await told(), { reason: 'its thread failed' })
  assert.equal(encoder.version(), null)
  assert.ok('version' in (await told()))
  const other = encoder.listen()
  other.reads.pair('fix the login bug', 'run the tests')
  assert.equal(await other.learn(longMs), 'some')
})

test('after it is closed it answers what it knows and reads nothing more', async (t) => {
  const { encoder } = openEncoder(t)
  const asked = encoder.listen()
  asked.reads.pair('fix the login bug', 'run the tests')
  await asked.learn(longMs)
  const late = encoder.listen()
  late.reads.pair('fix the login bug', 'write a poem')
  const waiting = late.learn(longMs)
  await encoder.close()
  assert.equal(await waiting, 'nothing')
  assert.notEqual(encoder.reads.pair('fix the login bug', 'run the tests'), undefined)
  assert.equal(await late.learn(longMs), 'nothing')
})

test('a program that has nothing else to do ends', async (t) => {
  const { path } = openEncoder(t)
  const program = `
    import { createEncoder } from './src/encoder/encoder.ts'
    const encoder = createEncoder(${JSON.stringify(path)}, { ready() {}, failed() {} })
    const asked = encoder.listen()
    asked.reads.pair('fix the login bug', 'run the tests')
    console.log(await asked.learn(${longMs}))
  `
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', program], {
    timeout: longMs,
  })
  assert.equal(stdout, 'some\n')
})
