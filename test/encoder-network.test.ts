import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { detect } from '../src/core/detector/detect.ts'
import { newMemory } from '../src/core/detector/memory.ts'
import { shippedWeights } from '../src/encoder/encoder.ts'
import { type KernelBuild, kernelBuilds } from '../src/encoder/kernel.ts'
import { likeness } from '../src/encoder/likeness.ts'
import { createNetwork, type Network } from '../src/encoder/network.ts'
import { createReads } from '../src/encoder/reads.ts'
import { readWeights } from '../src/encoder/weights.ts'
import { referenceScore } from './encoder-reference.ts'
import { smallEncoder, weightsFile } from './encoder-weights.ts'
import { verifies } from './verifies.ts'

const errands = [
  'fix the login bug',
  'write a poem about autumn leaves. run the tests',
  '',
  'run test 7, fix the bugs, write about the login, run the test, fix login, write a poem about leaves, 7, 7, 7',
]
const goals = [
  'run the login test',
  'a',
  'write about leaves',
  'unknown words 77',
  'fix, fix, fix the tests, fix the login, run the tests and write',
  '',
]
const cases = errands.flatMap((errand) => goals.map((goal) => [errand, goal] as const))

function scoresOf(build?: KernelBuild, seed?: number) {
  const network = createNetwork(readWeights(weightsFile(smallEncoder(seed))), build)
  return cases.map(([errand, goal]) => {
    const ofErrand = network.readErrand(errand)
    const ofGoal = network.readGoal(goal)
    const { serves, effects } = network.readBeside(ofErrand, ofGoal)
    return {
      serves,
      effects,
      alike: likeness(ofErrand.meaning, ofGoal.meaning),
    }
  })
}

test('the network computes what network.py says, up to the rounding to bytes', () => {
  for (const seed of [1, 2, 3]) {
    for (const [place, score] of scoresOf(undefined, seed).entries()) {
      const [errand, goal] = cases[place]!
      const exact = referenceScore(smallEncoder(seed), errand, goal)
      const says = `${errand} | ${goal}: ${JSON.stringify([score, exact])}`
      assert.ok(Math.abs(score.serves - exact.serves) < 0.15, says)
      assert.ok(Math.abs(score.alike - exact.alike) < 0.05, says)
      for (const [at, effect] of (score.effects ?? []).entries())
        assert.ok(Math.abs(effect - exact.effects[at]!) < 0.15, says)
    }
  }
})

test('a goal that reads earlier goals too scores what network.py says', () => {
  for (const seed of [1, 2, 3]) {
    const encoder = smallEncoder(seed)
    const network = createNetwork(readWeights(weightsFile(encoder)))
    const [errand = '', other = ''] = errands
    const [goal = '', ...earlier] = goals
    const alone = referenceScore(encoder, errand, goal).serves
    for (const before of [earlier.slice(0, 1), earlier.slice(1, 3), earlier]) {
      const ofErrand = network.readErrand(errand)
      const read = before.map((text) => network.readBeside(ofErrand, network.readGoal(text)))
      network.readErrand(other)
      const { serves } = network.readBeside(ofErrand, network.readGoal(goal), read)
      const kept = before.slice(-4)
      const exact = referenceScore(encoder, errand, goal, kept).serves
      assert.ok(Math.abs(serves - exact) < 0.15, `${before}: ${serves}, ${exact}`)
      assert.notEqual(exact, alone)
    }
  }
})

// Texts of many lengths, so that tiles of every size are computed.
const lengths = Array.from({ length: 60 }, (_, place) => goals.join(' ').slice(0, 3 * place + 1))

function bytesOf({ readErrand, readGoal }: Network, pairs: readonly (readonly [string, string])[]) {
  const hash = createHash('sha256')
  for (const [errand, goal] of pairs) {
    for (const numbers of readErrand(errand).keysAndValues) hash.update(numbers)
    for (const numbers of Object.values(readGoal(goal)))
      if (typeof numbers !== 'number') hash.update(numbers)
  }
  return hash.digest('hex').slice(0, 16)
}

for (const build of kernelBuilds) {
  test(`the build ${build} of the kernel gives the same bytes as all others, on every machine`, (t) => {
    const weights = readWeights(weightsFile(smallEncoder()))
    let network: Network
    try {
      network = createNetwork(weights, build)
    } catch (error) {
      return t.skip((error as Error).message)
    }
    assert.equal(bytesOf(network, cases), 'c2ae47871d10338d')
    const pairs = lengths.map((text) => [text, text] as const)
    assert.equal(bytesOf(network, pairs), bytesOf(createNetwork(weights, 'plain'), pairs))
    assert.deepEqual(scoresOf(build), scoresOf('plain'))
  })
}

test('scores are whole multiples of 1/64', () => {
  for (const { serves, alike } of scoresOf()) {
    assert.ok(Number.isInteger(serves * 64))
    assert.ok(Number.isInteger(alike * 64) && Math.abs(alike) <= 1)
  }
})

test('a text that was read before scores the same after others', () => {
  const network = createNetwork(readWeights(weightsFile(smallEncoder())))
  const errand = network.readErrand('fix the login bug')
  const goal = network.readGoal('run the login test')
  const before = network.readBeside(errand, goal)
  network.readBeside(network.readErrand(errands[3]!), network.readGoal(goals[4]!))
  assert.deepEqual(network.readBeside(errand, goal), before)
})

test('the kernel was built from its source', () => {
  const folder = 'src/encoder'
  for (const line of readFileSync(`${folder}/kernel.sha256`, 'utf8').trim().split('\n')) {
    const [hash, file] = line.split(/\s+/)
    const content = readFileSync(`${folder}/${file}`)
    assert.equal(createHash('sha256').update(content).digest('hex'), hash, file)
  }
})

test('a file that is damaged, shortened or something else is refused with the reason', () => {
  const file = weightsFile(smallEncoder())
  const damaged = Buffer.from(file)
  damaged[file.length - 100]! ^= 1
  assert.throws(() => readWeights(damaged), /damaged/)
  assert.throws(() => readWeights(file.subarray(0, -1)), /damaged/)
  assert.throws(() => readWeights(Buffer.from('PLUMBENC')), /damaged/)
  assert.throws(() => readWeights(Buffer.from('something else')), /not a file of weights/)
  const lacking = smallEncoder()
  lacking.vocabulary[2] = 'other'
  assert.throws(() => createNetwork(readWeights(weightsFile(lacking))), /lacks \[CLS\]/)
})

test('weights that lie outside of their file, or have sizes that do not fit, are refused', () => {
  const create = (file: Buffer) => () => createNetwork(readWeights(file))
  for (const name of [
    'words',
    'wordScales',
    'roles',
    'norm',
    'layers.0.qkv',
    'cross.1.norm2',
    'hidden',
  ])
    for (const place of [-64, 2 ** 31])
      assert.throws(
        create(weightsFile(smallEncoder(), { [name]: place })),
        new RegExp(`its ${name} lies outside of its data`),
      )
  const { sizes, ...rest } = smallEncoder()
  for (const wrong of [{ goalTokens: 2 }, { inner: 8 }, { heads: 4 }])
    assert.throws(create(weightsFile({ ...rest, sizes: { ...sizes, ...wrong } })), /do not fit/)
})

test('the shipped weights tell a goal of the errand from one of another world', (t) => {
  if (!existsSync(shippedWeights)) return t.skip('the file of weights is not there')
  const network = createNetwork(readWeights(readFileSync(shippedWeights)))
  const errand = network.readErrand('fix the login bug in the auth service')
  const serves = (goal: string) => network.readBeside(errand, network.readGoal(goal)).serves
  assert.ok(serves('reproduce the failing login') > 0)
  assert.ok(serves('book a flight to Paris') < 0)
  assert.ok(serves('write a poem about autumn leaves') < 0)
})

test('with the shipped weights a goal from another world is drift at its first step', (t) => {
  verifies('meaning.another-world')
  if (!existsSync(shippedWeights)) return t.skip('the file of weights is not there')
  const reads = createReads(shippedWeights)
  const ground = 'fix the login bug in the auth service'
  const judge = (...goals: string[]) => {
    let memory = newMemory('meaning')
    return goals.map((goal) => {
      const step = { goal, ground, progress: 'advancing', distance: 5, distanceReported: false }
      const { verdict, memory: after } = detect(memory, { ...step, reads })
      memory = after
      return verdict.drifting ? 'drift' : verdict.uncertain ? 'uncertain' : 'on the errand'
    })
  }
  for (const goal of ['book a flight to Paris', 'write a poem about autumn leaves']) {
    assert.deepEqual(judge(goal), ['drift'])
  }
  const honest = ['check NTP on the auth host', 'grep for usages of parseToken', 'run the tests']
  assert.deepEqual(judge(...honest), Array(3).fill('on the errand'))
  assert.deepEqual(judge(...honest, 'look for cheap hotels near the Louvre').at(-1), 'drift')
})
