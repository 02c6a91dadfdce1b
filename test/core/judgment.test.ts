import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifies } from '../verifies.ts'
import { commands } from './commands.ts'
import { lastOf, type Reported, replay } from './replay.ts'

const ground = 'build the csv parser'
const others = ['water garden plants', 'write poems', 'book a flight']
const tried = { runs: 2, lowest: 3 }

test('a run is judged from its third step on, and only with a ground', () => {
  verifies('detector.judgment.needs')
  const unspelled = Array(15).fill('')
  assert.ok(replay(unspelled).every(({ judgment }) => judgment === undefined))
  const before: Reported = { goal: ground, earlier: tried }
  assert.equal(lastOf([before, before]).judgment, undefined)
  assert.equal(lastOf([before, before, before]).judgment?.verdict, 'abandon')
  assert.equal(lastOf(['', '', before]).judgment?.verdict, 'abandon', 'unspelled steps count')
})

test('the first judgment that fits is answered', () => {
  verifies('detector.judgment.order')
  // Each run fits this judgment and the next in the list.
  const left = [ground, ...others]
  const cycle = [2, 2, 3, 3, 4, 4].flatMap((distance, place) => ({
    goal: place % 2 ? 'build csv parser tests' : ground,
    distance,
  }))
  const again = { goal: ground, distance: 4 }
  for (const [verdict, because, steps] of [
    ['abandon', /^12 steps/, [...Array(11).fill(ground), { goal: ground, earlier: tried }]],
    ['abandon', /^2 earlier runs/, [...left, { goal: ground, earlier: tried }]],
    ['wrong-problem', /^3 steps left/, [...cycle, ...others]],
    ['wrong-problem', /in a cycle/, [...cycle, again, again]],
    [
      'repeating',
      /reported 5 times/,
      worded(0, 9)
        .slice(0, 1)
        .concat(Array(5).fill(at(9))),
    ],
    ['narrow', /^The distance has not fallen/, worded(8, 8, 8, 8, 8)],
    ['narrow', /^The run has stalled/, worded(4, 4, 4, 4, 4)],
  ] as const) {
    const { judgment } = lastOf(steps)
    assert.equal(judgment?.verdict, verdict, String(because))
    assert.match(judgment?.because ?? '', because)
  }
})

test('twelve steps, or two earlier runs, that came no closer are abandon', () => {
  verifies('detector.judgment.abandon')
  for (const [verdict, steps] of [
    ['abandon', worded(...Array(12).fill(3))],
    ['abandon', worded(3, ...Array(10).fill(2), 4)],
    ['abandon', [...worded(...Array(6).fill(3)), ...Array(5).fill(''), ground]],
    [undefined, worded(...Array(11).fill(3))],
    [undefined, worded(3, ...Array(11).fill(2))],
    ['abandon', [...worded(3, 3), { ...at(3), earlier: tried }]],
    [undefined, [...worded(3, 3), { ...at(3), earlier: { ...tried, runs: 1 } }]],
    [undefined, [...worded(3, 3), { ...at(2), earlier: tried }]],
  ] as const) {
    assert.equal(lastOf(steps).judgment?.verdict, verdict, JSON.stringify(steps))
  }
})

test('three goal-drifts without a user turn are wrong-problem while nothing closes', () => {
  verifies('detector.judgment.wrong-problem')
  const [first, second, third] = others as [string, string, string]
  const closer = { goal: ground, distance: 4 }
  for (const [verdict, steps] of [
    ['wrong-problem', [ground, first, second, third]],
    ['wrong-problem', [ground, first, ground, second, third, ground]],
    [undefined, [ground, first, second]],
    [undefined, [ground, closer, first, second, third]],
    [undefined, [ground, first, second, third, { goal: first, userTurn: true }, first]],
    [undefined, [ground, first, second, { goal: third, parentGoal: ground }]],
  ] as const) {
    assert.equal(lastOf(steps).judgment?.verdict, verdict, JSON.stringify(steps))
  }
})

test('a cycle before this step is wrong-problem while the distance is at its highest', () => {
  verifies('detector.judgment.wrong-problem-cycle')
  const cycle = [0, 0, 1, 1, 2, 2].map((distance, place) => ({
    goal: place % 2 ? 'build csv parser tests' : ground,
    distance,
  }))
  for (const [verdict, steps] of [
    [undefined, cycle],
    ['wrong-problem', [...cycle, { goal: ground, distance: 3 }]],
    ['wrong-problem', [...cycle, 'parser', { goal: 'csv parser', distance: 6 }]],
    ['wrong-problem', [...cycle, { goal: others[0]!, distance: 3 }]],
    [undefined, [...cycle, { goal: ground, distance: 1 }]],
  ] as const) {
    assert.equal(lastOf(steps).judgment?.verdict, verdict, JSON.stringify(steps.slice(6)))
  }
})

test('one spelling three times is repeating while nothing closes', () => {
  verifies('detector.judgment.repeating')
  for (const [verdict, steps] of [
    ['repeating', [at(3), at(3), at(3)]],
    ['repeating', [at(3), at(4), at(3), at(4), at(3)]],
    ['repeating', [at(3), at(3), at(3), at(4)]],
    [undefined, [at(3), at(3), 'csv parser']],
    [undefined, [at(3), at(2), at(2), at(2)]],
    [undefined, [at(0), at(0), { ...at(0), progress: 'stuck' }]],
  ] as const) {
    assert.equal(lastOf(steps).judgment?.verdict, verdict, JSON.stringify(steps))
  }
})

test('a far distance that does not fall is narrow', () => {
  verifies('detector.judgment.narrow')
  for (const [verdict, distances] of [
    ['narrow', [6, 6, 6, 6, 6]],
    ['narrow', [9, 6, 6, 6, 6, 6]],
    ['narrow', [1, 2, 3, 4, 6]],
    [undefined, [9, 6, 6, 6, 6]],
    [undefined, [9, 5, 5, 5, 5, 5]],
    [undefined, [9, 7, 7, 7, 7, 6]],
  ] as const) {
    assert.equal(lastOf(worded(...distances)).judgment?.verdict, verdict, distances.join(' '))
  }
})

test('a stall far from the end is narrow while nothing closes', () => {
  verifies('detector.judgment.narrow-stalls')
  for (const [verdict, distances] of [
    ['narrow', [4, 4, 4, 4, 4]],
    ['narrow', [4, 4, 4, 4, 4, 3, 4]],
    [undefined, [4, 4, 4, 4]],
    [undefined, [3, 3, 3, 3, 3]],
    [undefined, [5, 4, 4, 4, 4, 4]],
    [undefined, [5, 5, 5, 5, 5, 4]],
  ] as const) {
    assert.equal(lastOf(worded(...distances)).judgment?.verdict, verdict, distances.join(' '))
  }
})

test('goal-drift closes no distance, however far it says it has come', () => {
  verifies('detector.judgment.drift-not-accepted')
  const falling = others.map((goal, place) => ({ goal, distance: 7 - 2 * place }))
  assert.equal(lastOf([at(9), ...falling]).judgment?.verdict, 'wrong-problem')
})

test('because gives the numbers, and counsel what they can mean without commanding', () => {
  verifies('detector.judgment.words')
  const cycle = [ground, 'csv parser', ground, 'csv parser', ground, 'csv parser', ground]
  const unread = { goal: ground, earlier: { runs: 3, lowest: null } }
  for (const [because, steps] of [
    ['12 steps in, the distance started at 5 and stands at 7.', [...Array(11).fill(ground), at(7)]],
    [
      '2 earlier runs opened this goal; the lowest distance any reached is 3, and this one has not come closer.',
      [ground, ground, { goal: ground, earlier: tried }],
    ],
    [
      '3 earlier runs opened this goal, and this one has not come closer.',
      [unread, unread, unread],
    ],
    [
      '3 steps left the ground, no user turn moved it, and the distance has not come down.',
      [ground, ...others],
    ],
    ['The goals have repeated in a cycle and the distance stands at 5, its highest.', cycle],
    [
      'The same goal, progress and distance have been reported 3 times.',
      [ground, 'csv parser', ground, ground],
    ],
    ['The distance has not fallen for 4 steps and is still 8.', worded(8, 8, 8, 8, 8)],
    ['The run has stalled once and the distance is still 4.', worded(4, 4, 4, 4, 4)],
    ['The run has stalled 2 times and the distance is still 4.', worded(4, 4, 4, 4, 4, 4)],
  ] as const) {
    const { judgment } = lastOf(steps)
    assert.equal(judgment?.because, because)
    assert.match(judgment?.counsel ?? '', /^[A-Z].*\.$/)
    assert.deepEqual(commands(judgment?.counsel ?? ''), [])
  }
})

function at(distance: number) {
  return { goal: ground, distance }
}

/** Steps on the ground with these distances, each in words of its own, so that none repeats another. */
function worded(...distances: number[]) {
  return distances.map((distance, place) => ({ goal: `${ground} ${place}`, distance }))
}
