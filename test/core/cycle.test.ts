import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifies } from '../verifies.ts'
import { lastOf, type Reported, reasonsOf, replay } from './replay.ts'

const goals = ['fix login page', 'fix login form', 'fix login test', 'fix login', 'fix page']
goals.push('fix login bug', 'login page')

test('oscillating needs a cycle in the goals', () => {
  verifies('reason.oscillating')
  for (const order of ['A', 'ABCDEFG', 'ABABAC', 'AABBCC', 'ABCCBA', 'AAABBBCCCDDD']) {
    assert.equal(firesAt(order.repeat(order.length < 6 ? 12 : 1)), null, order)
  }
  const falling = [9, 8, 7, 6, 5, 4].map((distance) => ({ goal: goals[0]!, distance }))
  assert.ok(!reasonsOf(falling).includes('oscillating'))
})

test('a cycle fires at the first reading that shows it twice, from the sixth on', () => {
  verifies('detector.oscillating.periods')
  for (const [order, step] of [
    ['AB', 6],
    ['ABC', 6],
    ['ABCD', 8],
    ['ABCDE', 10],
    ['ABCDEF', 12],
    ['ABCDEFG', null],
  ] as const) {
    assert.equal(firesAt(order.repeat(5)), step, order)
    assert.equal(firesAt(`GG${order.repeat(5)}`), step && step + 2, `${order} after others`)
  }
})

test('a cycle has two different goals, which may follow themselves', () => {
  verifies('detector.oscillating.distinct')
  assert.equal(firesAt('AAABAAAB'), 8)
  assert.equal(firesAt('AABAAB'), 6)
  assert.equal(firesAt('AAAAAAAA'), null)
  // Goals without words are one goal, and a blank one is like them.
  assert.ok(!reasonsOf(Array(6).fill(['the', '🚀', '']).flat()).includes('oscillating'))
  assert.equal(reasonsOf(Array(3).fill(['fix', 'the']).flat()).indexOf('oscillating'), 5)
})

test('a cycle speaks over the reason, and the reason is what counts later', () => {
  verifies('detector.oscillating.overlay')
  const steps = inOrder('ABABAB').map((goal, place) => ({ goal, distance: 9 - place }))
  const before = lastOf(steps.slice(0, 4))
  const { reason, drifting, phi, svcscore, goal_score } = lastOf(steps)
  assert.deepEqual([reason, drifting, phi], ['oscillating', true, 0.4])
  assert.deepEqual([before.reason, before.phi, goal_score], ['advancing', 0.34, before.goal_score])
  assert.equal(svcscore, '⟨fix|form|login⟩ advancing d4')
  const stuck = { goal: goals[0]!, progress: 'stuck' }
  assert.equal(lastOf([...steps, stuck]).drifting, false, 'recorded as advancing')
  const flat: Reported[] = inOrder('ABABAB')
  assert.equal(lastOf([...flat, stuck]).drifting, true, 'recorded as stalled')
  const unspelled = inOrder('ABABAB').map((goal) => ({ goal, progress: 'lost' }))
  const { reason: over, phi: none, svcscore: unwritten } = lastOf(unspelled)
  assert.deepEqual([over, none, unwritten], ['oscillating', 0, null])
})

test('a cycle is reported once, and again only after it was gone', () => {
  verifies('detector.oscillating.once')
  const fired = (order: string) =>
    reasonsOf(inOrder(order)).flatMap((reason, place) =>
      reason === 'oscillating' ? place + 1 : [],
    )
  assert.deepEqual(fired('AB'.repeat(10)), [6])
  assert.deepEqual(fired(`${'AB'.repeat(4)}C${'AB'.repeat(4)}`), [6, 15])
  assert.deepEqual(fired('ABABABABBABBABB'), [6, 11])
})

/** The step at which a run with these goals, a letter each, is first oscillating. */
function firesAt(order: string): number | null {
  const verdicts = replay(inOrder(order))
  const place = verdicts.findIndex(({ reason }) => reason === 'oscillating')
  assert.ok(place < 0 || verdicts[place]?.drifting)
  return place < 0 ? null : place + 1
}

function inOrder(order: string): string[] {
  return [...order].map((letter) => goals[letter.charCodeAt(0) - 0x41]!)
}
