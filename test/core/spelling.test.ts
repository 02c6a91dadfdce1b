import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rememberedSpellings } from '../../src/core/detector/contract/constants.ts'
import { contextOf } from '../../src/core/detector/spelling.ts'
import { wordsOf } from '../../src/core/detector/words/words.ts'
import { verifies } from '../verifies.ts'
import { lastOf, type Reported, replay } from './replay.ts'

test('a step is spelled as its sorted words, its progress and its distance', () => {
  verifies('detector.spelling')
  assertSpelled([
    ['ship the sky billboard', '⟨billboard|ship|sky⟩ advancing d5'],
    [{ goal: 'the', distance: 4 }, '⟨⟩ advancing d4'],
    [{ goal: 'Fix fix FIX 10 9', progress: 'circling', distance: 0 }, '⟨10|9|fix⟩ circling d0'],
    [{ goal: '修复登录', progress: 'stuck', distance: 10 }, '⟨修复|复登|登录⟩ stuck d10'],
    ['', null],
    [{ goal: 'ship', progress: 'shipping' }, null],
  ])
})

test('a declared parent is spelled after the step', () => {
  verifies('detector.spelling.parent')
  const goal = 'validate the columns before csv import'
  assertSpelled([
    [
      { goal, parentGoal: 'add csv import to the admin panel', distance: 6 },
      '⟨before|column|csv|import|validate⟩ advancing d6 ⊂ ⟨add|admin|csv|import|panel⟩',
    ],
    [{ goal: 'ship', parentGoal: 'the' }, '⟨ship⟩ advancing d5 ⊂ ⟨⟩'],
    [{ goal: 'ship', parentGoal: ' ' }, '⟨ship⟩ advancing d5'],
  ])
})

test('context is a hash of the words, whatever their order and form', () => {
  verifies('detector.context')
  for (const [goal, context] of [
    ['build the parser', 'ctx_1sax889'],
    ['building a parser', 'ctx_1sax889'],
    ['Parser: build', 'ctx_1sax889'],
    ['build the JSON parser', 'ctx_1t61li9'],
    ['ship the sky billboard', 'ctx_2qbvsr'],
    ['write a JSON parser in Python', 'ctx_1v8sd42'],
    ['the', null],
    ['', null],
  ] as const) {
    assert.equal(contextOf(wordsOf(goal)), context, goal)
    // Of the step's own goal, not of the ground.
    assert.equal(lastOf(['another ground', goal]).context, context, goal)
  }
  assert.equal(lastOf([{ goal: 'build the parser', progress: 'lost' }]).context, 'ctx_1sax889')
})

test('repetition counts the steps with this spelling in the run', () => {
  verifies('detector.repetition')
  const parent = { goal: 'ship', parentGoal: 'build' }
  for (const [steps, times] of [
    [
      ['ship', 'ship it', 'SHIP!'],
      [undefined, 2, 3],
    ],
    [
      ['ship', { goal: 'ship', distance: 4 }, 'ship'],
      [undefined, undefined, 2],
    ],
    [
      ['ship', { goal: 'ship', progress: 'stuck' }, 'ship'],
      [undefined, undefined, 2],
    ],
    [
      ['ship', parent, parent, 'ship'],
      [undefined, undefined, 2, 2],
    ],
    [
      [parent, { goal: 'ship', parentGoal: 'the' }, 'ship'],
      [undefined, undefined, undefined],
    ],
    [
      ['', '', 'ship', '', 'ship'],
      [undefined, undefined, undefined, undefined, 2],
    ],
    [
      ['the', '!!!'],
      [undefined, 2],
    ],
    [
      ['ship', { goal: 'build', userTurn: true }, 'ship'],
      [undefined, undefined, 2],
    ],
  ] as const) {
    const counted = replay(steps).map(({ repetition }) => repetition)
    assert.deepEqual(counted, times, JSON.stringify(steps))
  }
})

test('repetition is exact for as many spellings as are remembered', () => {
  verifies('detector.repetition')
  const goals = Array.from({ length: rememberedSpellings }, (_, place) => `goal ${place}`)
  const verdicts = replay([...goals, ...goals, ...goals])
  const times = verdicts.map(({ repetition }) => repetition)
  assert.deepEqual(new Set(times.slice(0, goals.length)), new Set([undefined]))
  assert.deepEqual(new Set(times.slice(goals.length, 2 * goals.length)), new Set([2]))
  assert.deepEqual(new Set(times.slice(2 * goals.length)), new Set([3]))
  // Past the limit the least repeated goes, and among equals the one written longest ago.
  const fresh = Array.from({ length: 3 * rememberedSpellings }, (_, place) => `fresh ${place}`)
  assert.equal(lastOf(['ship', 'ship', ...fresh, 'ship']).repetition, 3)
  assert.equal(lastOf([...fresh, fresh.at(-rememberedSpellings)!]).repetition, 2)
  assert.equal(lastOf([...fresh, fresh.at(-rememberedSpellings - 1)!]).repetition, undefined)
})

function assertSpelled(rows: readonly [step: Reported, line: string | null][]): void {
  for (const [step, line] of rows) assert.equal(lastOf([step]).svcscore, line)
}
