import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifies } from '../verifies.ts'
import { lastOf, type Reported, reasonsOf, replay } from './replay.ts'

const ground = 'build the csv parser'
const other = 'water garden plants'
const parent = 'csv parser build plan'
const flat = [ground, ground, ground, ground]

test('the first step is grounded and not drifting', () => {
  verifies('reason.grounded')
  for (const progress of ['advancing', 'stuck', 'circling']) {
    const { reason, drifting, phi } = lastOf([{ goal: ground, progress, distance: 9 }])
    assert.deepEqual({ reason, drifting, phi }, { reason: 'grounded', drifting: false, phi: 0 })
  }
})

test('a step with no other reason is advancing', () => {
  verifies('reason.advancing')
  for (const goal of [ground, 'build csv', 'parser for csv files']) {
    const { reason, drifting } = lastOf([ground, goal])
    assert.deepEqual({ reason, drifting }, { reason: 'advancing', drifting: false })
  }
})

test('a goal too far from the ground is goal-drift, drifting at once', () => {
  verifies('reason.goal-drift', 'detector.goal-drift.at-once')
  for (const goal of [other, 'write csv report for finance', 'the', '!!!']) {
    const { reason, drifting } = lastOf([ground, goal])
    assert.deepEqual({ reason, drifting }, { reason: 'goal-drift', drifting: true }, goal)
  }
})

test('the first reason that holds is answered', () => {
  verifies('detector.order')
  const stuck = { goal: other, progress: 'stuck' }
  for (const [what, steps, reason] of [
    ['ungrammatical before grounded', [{ goal: ground, progress: 'done' }], 'ungrammatical'],
    ['ungrammatical before goal-drift', [ground, { goal: other, progress: '' }], 'ungrammatical'],
    ['ungrammatical before stalled', [...flat, ''], 'ungrammatical'],
    ['grounded before a self-report', [stuck], 'grounded'],
    ['grounded before excursion', [{ goal: ground, parentGoal: parent }], 'grounded'],
    ['self-report before goal-drift', [ground, stuck], 'self-report:stuck'],
    [
      'self-report before excursion',
      [ground, { ...stuck, parentGoal: parent }],
      'self-report:stuck',
    ],
    [
      'self-report before stalled',
      [...flat, { goal: ground, progress: 'circling' }],
      'self-report:circling',
    ],
    ['goal-drift before stalled', [...flat, other], 'goal-drift'],
    ['excursion before goal-drift', [ground, { goal: other, parentGoal: parent }], 'excursion'],
    ['excursion before stalled', [...flat, { goal: other, parentGoal: parent }], 'excursion'],
    ['stalled before advancing', [...flat, ground], 'stalled'],
  ] as const) {
    assert.equal(lastOf(steps).reason, reason, what)
  }
})

test('what cannot be spelled is ungrammatical, before everything', () => {
  verifies('reason.ungrammatical', 'detector.ungrammatical.first')
  for (const unspelled of [
    '',
    ' \t\n\u00a0',
    { goal: ground, progress: 'Advancing' },
    { goal: ground, progress: ' advancing' },
    { goal: ground, progress: '' },
    { goal: other, progress: 'constructor', distance: 10 },
    { goal: '', progress: 'stuck' },
  ]) {
    for (const before of [[], [ground]]) {
      const verdict = lastOf([...before, unspelled])
      const { reason, drifting, phi, svcscore } = verdict
      assert.deepEqual(
        { reason, drifting, phi, svcscore },
        { reason: 'ungrammatical', drifting: true, phi: 0, svcscore: null },
        JSON.stringify(unspelled),
      )
      assert.equal(verdict.ground, before[0] ?? null)
    }
  }
  for (const goal of ['no no no no', 'x', '🚀', 'the', 'goal '.repeat(500)]) {
    assert.equal(lastOf([goal]).reason, 'grounded')
  }
})

test('the ground is the first goal that can be spelled', () => {
  verifies('detector.grounded.late')
  const late = replay(['', { goal: other, progress: 'lost' }, ground, 'parser for csv files'])
  assert.deepEqual(
    late.map((verdict) => [verdict.reason, verdict.ground]),
    [
      ['ungrammatical', null],
      ['ungrammatical', null],
      ['grounded', ground],
      ['advancing', ground],
    ],
  )
  for (const goal of ['the', '!!!', '🚀']) {
    const { reason, drifting, ground: frozen, uncertain } = lastOf(['', goal])
    assert.deepEqual([reason, drifting, frozen, uncertain], ['grounded', false, goal, true])
  }
})

test('a report of being stuck or circling is answered to who reported it, and to no other', () => {
  verifies('reason.self-report-stuck', 'reason.self-report-circling')
  for (const [progress, goal, reason] of [
    ['stuck', ground, 'self-report:stuck'],
    ['circling', ground, 'self-report:circling'],
    ['stuck', other, 'self-report:stuck'],
    ['circling', other, 'self-report:circling'],
    ['advancing', other, 'goal-drift'],
    ['advancing', ground, 'advancing'],
  ] as const) {
    assert.equal(lastOf([ground, { goal, progress }]).reason, reason, `${progress} ${goal}`)
  }
})

test('a first self-report warns, and a second in a row drifts', () => {
  verifies('detector.self-report.two-strike')
  const stuck = { goal: ground, progress: 'stuck' }
  const circling = { goal: ground, progress: 'circling' }
  for (const [steps, drifting] of [
    [
      [ground, stuck, stuck, stuck],
      [false, false, true, true],
    ],
    [
      [ground, stuck, circling],
      [false, false, true],
    ],
    [
      [ground, circling, stuck],
      [false, false, true],
    ],
    [
      [ground, stuck, ground, stuck],
      [false, false, false, false],
    ],
  ] as const) {
    assert.deepEqual(
      replay(steps).map((verdict) => verdict.drifting),
      drifting,
    )
  }
})

test('a self-report hides goal-drift', () => {
  verifies('detector.self-report.before-goal-drift')
  const { reason, drifting, phi } = lastOf([ground, { goal: other, progress: 'stuck' }])
  assert.deepEqual(
    { reason, drifting, phi },
    { reason: 'self-report:stuck', drifting: false, phi: 0.7 },
  )
})

test('on a ground that was stuck, being stuck is nothing new', () => {
  verifies('detector.self-report.stuck-ground')
  const stuck = { goal: ground, progress: 'stuck', distance: 2 }
  for (const [step, reason] of [
    [stuck, 'advancing'],
    [{ ...stuck, distance: 9 }, 'self-report:stuck'],
    [{ ...stuck, goal: 'build the csv writer' }, 'self-report:stuck'],
    [{ ...stuck, progress: 'circling' }, 'self-report:circling'],
    [{ ...stuck, progress: 'advancing' }, 'advancing'],
  ] as const) {
    assert.equal(lastOf([stuck, step]).reason, reason, JSON.stringify(step))
  }
})

test('what was recorded just before decides whether a self-report drifts', () => {
  verifies('detector.prev')
  const stuck = { goal: ground, progress: 'stuck' }
  for (const [what, before, drifting] of [
    ['ungrammatical goal', [ground, ''], true],
    ['ungrammatical progress', [ground, { goal: ground, progress: 'lost' }], true],
    ['goal-drift', [ground, other], true],
    ['stalled', [...flat, ground], true],
    ['stuck', [ground, stuck], true],
    ['circling', [ground, { goal: ground, progress: 'circling' }], true],
    ['grounded', [ground], false],
    ['advancing', [ground, ground], false],
    ['excursion', [ground, { goal: other, parentGoal: parent }], false],
    ['goal-drift, then advancing', [ground, other, ground], false],
  ] as const) {
    assert.equal(lastOf([...before, stuck]).drifting, drifting, what)
  }
})

test('a sub-task whose declared parent serves the ground is an excursion', () => {
  verifies('detector.excursion')
  const verdict = lastOf([
    { goal: ground, distance: 2 },
    { goal: other, parentGoal: ` ${parent} `, distance: 7 },
  ])
  const { reason, drifting, phi, parent_overlap } = verdict
  assert.deepEqual(
    { reason, drifting, phi, parent_overlap },
    { reason: 'excursion', drifting: false, phi: 0.65, parent_overlap: 0.75 },
  )
  const floor = 'w1 w2 w3 w4 w5 w6 w7 w8 w9 w10'
  assert.equal(lastOf([floor, { goal: other, parentGoal: 'w1 w2 w3' }]).reason, 'excursion')
  for (const parentGoal of [parent, other]) {
    assert.equal(lastOf([ground, { goal: 'csv parser', parentGoal }]).reason, 'advancing')
  }
})

test('a sub-task whose declared parent does not serve the ground is goal-drift', () => {
  verifies('detector.rejected-parent')
  for (const [parentGoal, parentOverlap] of [
    ['organise the kitchen shelves', 0],
    ['csv exports for finance people', 0.17],
    ['the', 0],
    [' ', undefined],
  ] as const) {
    const { reason, drifting, parent_overlap } = lastOf([ground, { goal: other, parentGoal }])
    assert.deepEqual(
      [reason, drifting, parent_overlap],
      ['goal-drift', true, parentOverlap],
      parentGoal,
    )
  }
})

test('only steps on the ground add to the distances', () => {
  verifies('detector.history')
  for (const [what, step] of [
    ['a self-report', { goal: ground, progress: 'stuck' }],
    ['goal-drift', other],
    ['an excursion', { goal: other, parentGoal: parent }],
    ['a blank goal', ''],
    ['an unknown progress', { goal: ground, progress: 'lost' }],
  ] as const) {
    assert.deepEqual(reasonsOf([...flat, step, ground]).slice(-1), ['stalled'], `after ${what}`)
    assert.equal(lastOf([...flat.slice(1), step, ground]).reason, 'advancing', `counting ${what}`)
    const fallen = { ...(typeof step === 'string' ? { goal: step } : step), distance: 0 }
    assert.equal(lastOf([...flat, fallen, ground]).reason, 'stalled', `a fall in ${what}`)
  }
})

test('a run stalls when four distances are not below the one before them', () => {
  verifies('reason.stalled', 'detector.stalled')
  for (const [distances, reason] of [
    [[5, 5, 5, 5], 'advancing'],
    [[5, 5, 5, 5, 5], 'stalled'],
    [[5, 9, 6, 7, 5], 'stalled'],
    [[0, 0, 0, 0, 0], 'stalled'],
    [[3, 4, 5, 6, 7], 'stalled'],
    [[5, 5, 5, 5, 4], 'advancing'],
    [[5, 5, 4, 5, 5], 'advancing'],
    [[9, 5, 5, 5, 5], 'advancing'],
    [[9, 5, 5, 5, 5, 5], 'stalled'],
    [[5, 5, 5, 5, 5, 4], 'advancing'],
    [[9, 1, 5, 5, 5, 5], 'stalled'],
  ] as const) {
    const steps = distances.map((distance) => ({ goal: ground, distance }))
    assert.equal(lastOf(steps).reason, reason, distances.join(' '))
  }
})

test('a first stall warns, and drifts after a recorded drift', () => {
  verifies('detector.stalled.two-strike')
  const last = (steps: readonly Reported[]) => {
    const { reason, drifting } = lastOf(steps)
    return [reason, drifting]
  }
  assert.deepEqual(last([...flat, ground]), ['stalled', false])
  assert.deepEqual(last([...flat, ground, ground]), ['stalled', true])
  assert.deepEqual(last([...flat, other, ground]), ['stalled', true])
  assert.deepEqual(last([...flat, { goal: ground, distance: 4 }, ...flat]), ['stalled', false])
})
