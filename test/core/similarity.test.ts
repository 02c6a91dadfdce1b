import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { detect, type Verdict } from '../../src/core/detector/detect.ts'
import { similarityLimits } from '../../src/core/detector/meaning/hints.ts'
import { type Memory, newMemory } from '../../src/core/detector/memory.ts'
import { readStep, type Step } from '../../src/core/detector/step.ts'
import { similarityIn, similarityOf, unitVector } from '../../src/core/runs/similarity.ts'
import { readRuns } from '../golden/runs.ts'
import { verifies } from '../verifies.ts'

const unit = (numbers: readonly number[]) => {
  const vector = unitVector(numbers)
  assert.ok(vector)
  return vector
}

test('nearness counts from what a goal has in common with anything', () => {
  const goal = unit([1, 1, 0, 0])
  const other = unit([1, 0, 1, 0])
  assert.equal(similarityOf(goal, goal, [other]), 1)
  assert.equal(similarityOf(other, goal, [other]), 0)
  assert.equal(similarityOf(unit([0, 0, 0, 1]), goal, [other]), -1)
  assert.equal(similarityOf(unit([1, 1, 1, 1]), goal, [other]), 0.4140625)
})

test('a goal as near to everything as to itself is neither near nor far', () => {
  const same = unit([3, 4])
  const similarity = similarityOf(same, same, [same, same])
  assert.ok(similarity > similarityLimits.far && similarity < similarityLimits.near)
})

test('what is no vector is none', () => {
  for (const numbers of [[], [0, 0], [Number.NaN], [1, Number.POSITIVE_INFINITY], [1e300, 1e300]]) {
    assert.equal(unitVector(numbers), null)
  }
  assert.equal(unitVector(['1', '2']), null)
  assert.equal(unitVector([1, null]), null)
})

test('the ground that is asked about is the one the step will be measured against', () => {
  const asked: string[][] = []
  const known = (ground: string, goal: string) => {
    asked.push([ground, goal])
    return 0.5
  }
  const about = { progress: 'advancing', distance: 5 }
  let memory = newMemory('meaning')
  const begin = { ...about, goal: ' find the leak ', ground: 'mend the roof' }
  const similarity = (step: Step, of = memory) => similarityIn(of, readStep(step), known)
  assert.equal(similarity(begin), 0.5)
  memory = detect(memory, begin).memory
  similarity({ ...about, goal: 'buy tiles', ground: 'ignored' })
  similarity({ ...about, goal: 'paint it', ground: 'paint the door', userTurn: true })
  assert.equal(similarity({ ...about, goal: '' }, newMemory('meaning')), undefined)
  assert.deepEqual(asked, [
    ['mend the roof', 'find the leak'],
    ['mend the roof', 'buy tiles'],
    ['paint the door', 'paint it'],
  ])
})

const answered = ({ drifting, uncertain, reason }: Verdict) => [drifting, uncertain, reason]

const goals = readRuns().flatMap(({ steps }) =>
  steps.flatMap(({ goal, ground }) => (ground === undefined ? [goal] : [goal, ground])),
)
const similarity = fc.option(fc.double({ min: -1, max: 1, noNaN: true }), { nil: undefined })

test('embeddings never take back an alarm, and only what was uncertain changes with them', () => {
  verifies('settings.embeddings')
  const step = fc.record({ goal: fc.constantFrom(...goals), similarity })
  // Unreported distances, so that no run stalls.
  const about = { progress: 'advancing', distance: 5, distanceReported: false }
  let changed = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...goals),
      fc.array(step, { minLength: 1, maxLength: 8 }),
      (ground, steps) => {
        let memory: Memory = newMemory('meaning')
        for (const { goal, similarity } of steps) {
          const plain = { ...about, goal, ground }
          const { verdict: alone } = detect(memory, plain)
          const informed = { ...plain, ...(similarity === undefined ? {} : { similarity }) }
          const { verdict, memory: after } = detect(memory, informed)
          if (alone.drifting) assert.ok(verdict.drifting, goal)
          if (!alone.uncertain) assert.deepEqual(answered(verdict), answered(alone))
          if (verdict.uncertain !== alone.uncertain) changed += 1
          assert.ok(!(verdict.drifting && verdict.uncertain))
          memory = after
        }
      },
    ),
    { numRuns: 300, seed: 6 },
  )
  assert.ok(changed > 20, `${changed}`)
})
