import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reads } from '../../src/core/detector/contract/reads.ts'
import { detect } from '../../src/core/detector/detect.ts'
import { readErrand } from '../../src/core/detector/meaning/errand.ts'
import {
  measureSequence,
  mostReadSteps,
  type ReadStep,
  sequenceFeatures,
  withReadStep,
} from '../../src/core/detector/meaning/read-steps.ts'
import { scoreSequence } from '../../src/core/detector/meaning/sequence.ts'
import { newMemory } from '../../src/core/detector/memory.ts'
import { verifies } from '../verifies.ts'

const ground = 'fix the login bug in the auth service'

function named(measured: Float64Array): Record<string, number | null> {
  return Object.fromEntries(
    sequenceFeatures.map((name, at) => {
      const value = measured[at] as number
      return [name, Number.isNaN(value) ? null : value]
    }),
  )
}

test('a first step has nothing before it', () => {
  verifies('meaning.sequence')
  const measured = named(measureSequence([], { serves: 1.5, alike: 0.25 }, null, [], undefined))
  assert.equal(measured.serves, 1.5)
  assert.equal(measured.alike, 0.25)
  const others = Object.entries(measured).filter(([name]) => name !== 'serves' && name !== 'alike')
  assert.deepEqual(new Set(others.map(([, value]) => value)), new Set([null]))
})

test('a step is measured among those before it, by hand', () => {
  verifies('meaning.sequence')
  const step = (serves: number, mean: number | null): ReadStep => ({
    goal: `goal ${serves}`,
    serves,
    alike: serves / 10,
    mean,
    most: mean,
  })
  const before = [step(1, null), step(2, 0.5), step(4, 0.25), { ...step(5, 0.75), follows: 6 }]
  const measured = measureSequence(
    before,
    { serves: -3, alike: 0 },
    -1,
    [0.5, undefined, 0.25, 0],
    2,
  )
  assert.deepEqual(named(measured), {
    serves: -3,
    alike: 0,
    words: -1,
    'mean serves before': 3,
    'mean alike before': 307 / 1024,
    'serves of the last': 5,
    'serves of the one before it': 4,
    'alike of the last': 0.5,
    'lowest serves before': 1,
    'middle serves before': 4,
    'likeness to the last': 0,
    'highest likeness to the last three': 0.25,
    'highest likeness': 0.5,
    'mean likeness': 0.25,
    'highest likeness to all but the last two': 0.5,
    'highest likeness to the first three': 0.5,
    'mean of the mean likenesses before': 0.5,
    'mean of the highest likenesses before': 0.5,
    'mean likeness of the last': 0.75,
    'mean serves of the newest two': 1,
    'mean serves of the newest three': 2,
    'mean serves before the newest two': 2389 / 1024,
    'mean serves before the newest three': 1.5,
    'mean alike of the newest two': 0.25,
    'mean alike of the newest three': 307 / 1024,
    'mean alike before the newest two': 239 / 1024,
    'mean alike before the newest three': 154 / 1024,
    'mean of the mean likenesses of the newest two': 0.5,
    'mean of the mean likenesses of the newest three': 427 / 1024,
    'mean of the mean likenesses before the newest two': 0.375,
    'mean of the mean likenesses before the newest three': 0.5,
    follows: 2,
    'follows of the last': 6,
    'mean follows before': 3.25,
    'mean follows of the newest two': 4,
    'mean follows of the newest three': 4,
    'mean follows before the newest two': 2389 / 1024,
    'mean follows before the newest three': 1.5,
  })
  const after = withReadStep(before, 'next', { serves: -3, alike: 0 }, measured)
  assert.deepEqual(after.at(-1), {
    goal: 'next',
    serves: -3,
    alike: 0,
    follows: 2,
    mean: 0.25,
    most: 0.5,
  })
})

test('the log-odds of drift fall as a goal serves its errand', () => {
  verifies('meaning.sequence')
  const scores = [-4, 0, 4].map((serves) =>
    scoreSequence(measureSequence([], { serves, alike: serves / 16 + 0.25 }, null, [], undefined)),
  )
  assert.ok(scores[0]! > scores[1]! && scores[1]! > scores[2]!, String(scores))
})

/** Reads goals with "login" as a part of the errand, and goals with one first word as alike. */
const reads: Reads = {
  following: () => undefined,
  effects: () => undefined,
  pair: (_errand, goal) =>
    goal.includes('login') ? { serves: 3, alike: 0.5 } : { serves: -1, alike: 0.125 },
  alike: (earlier, goal) => (earlier.split(' ')[0] === goal.split(' ')[0] ? 0.5 : 0),
}

function judge(goals: readonly string[], read: Reads = reads) {
  let memory = newMemory('meaning')
  return goals.map((goal) => {
    const step = { goal, ground, progress: 'advancing', distance: 5, distanceReported: false }
    const detected = detect(memory, { ...step, reads: read })
    memory = detected.memory
    return { ...detected, kept: readErrand(memory.own).read ?? [] }
  })
}

test('foreign work that goes on is nearer to drift than its first step', () => {
  verifies('meaning.sequence')
  const honest = ['trace the login call', 'log the login cookie', 'mock the login redirect']
  const scores = judge([...honest, 'order flowers', 'book a room', 'print the menu']).map(
    ({ score }) => score,
  )
  assert.ok(scores[3]! > scores[2]! && scores[5]! > scores[3]!, String(scores))
})

test('a run keeps its newest goals, and asks how like them a step is', () => {
  verifies('meaning.sequence')
  const asked: string[] = []
  const goals = Array.from(
    { length: 12 },
    (_, at) => `trace the login call ${at} ${'x'.repeat(300)}`,
  )
  const judged = judge(goals, {
    ...reads,
    alike(earlier, goal) {
      asked.push(earlier)
      return reads.alike(earlier, goal)
    },
  })
  const { kept } = judged.at(-1)!
  assert.equal(kept.length, mostReadSteps)
  assert.ok(kept.every(({ goal }) => goal.length <= 240))
  assert.ok(kept.at(-1)!.goal.startsWith('trace the login call 11'))
  assert.deepEqual(
    asked.slice(-mostReadSteps),
    judged.at(-2)!.kept.map(({ goal }) => goal),
  )
})

test('a step is read beside the newest four goals that serve the errand, which a later verdict knows', () => {
  verifies('meaning.sequence')
  const asked: (readonly string[])[] = []
  const goals = [
    'open the login page',
    'order flowers',
    'read login.ts',
    'trace the login call',
    'find where login redirects',
    'log what login sends',
    'fix the login',
  ]
  const judged = judge(goals, {
    ...reads,
    following(_errand, before, goal) {
      asked.push(before)
      return goal.includes('flowers') ? -5 : 4
    },
  })
  assert.deepEqual(asked.slice(3, 4), [
    ['open the login page', 'read login.ts', 'trace the login call'],
  ])
  assert.deepEqual(asked.slice(-1), [goals.slice(2, 6)])
  assert.ok(!asked.flat().includes('order flowers'))
  assert.deepEqual(
    judged.at(-1)!.kept.map(({ follows }) => follows),
    [undefined, -5, 4, 4, 4, 4, 4],
  )
})

test('without an encoder nothing is kept, and likenesses that are missing change no certainty into drift', () => {
  verifies('meaning.sequence')
  const unread: Reads = {
    pair: () => undefined,
    following: () => undefined,
    effects: () => undefined,
    alike: () => undefined,
  }
  for (const { kept } of judge(['trace the login call', 'order flowers'], unread)) {
    assert.deepEqual(kept, [])
  }
  const partly: Reads = { ...reads, alike: () => undefined }
  const judged = judge(['trace the login call', 'trace the login cookie'], partly)
  assert.ok(judged.every(({ verdict }) => !verdict.drifting && !verdict.uncertain))
  assert.deepEqual(judged[1]!.kept[1]!.mean, null)
})

test('a plan kept to the letter halves the limit of a step that was read, and no more', () => {
  verifies('meaning.sequence', 'rules.plan-harmless')
  const plan = ['reproduce it', 'read the handler', 'write a test', 'repair the handler']
  let memory = newMemory('meaning')
  const limits = [...plan, 'trace the login call'].map((goal, place) => {
    const step = { goal, ground, progress: 'advancing', distance: 5, distanceReported: false }
    const detected = detect(memory, { ...step, ...(place === 0 ? { plan } : {}), reads })
    memory = detected.memory
    return detected.verdict.evidence?.limit ?? 0
  })
  assert.ok(limits.at(-1)! < 2.5 && limits.at(-1)! >= 1.45, String(limits))
})
