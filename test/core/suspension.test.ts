import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Step } from '../../src/core/detector/step.ts'
import {
  maxSuspended,
  nothingSuspended,
  resume,
  suspend,
} from '../../src/core/runs/suspended-grounds.ts'

const step = (goal: string, more: Partial<Step> = {}): Step => ({
  goal,
  progress: 'advancing',
  distance: 5,
  ...more,
})
const roof = 'mend the leaking barn roof'
const walls = 'paint kitchen walls white'

test('a step on the live ground stays as it is', () => {
  for (const live of [null, roof]) {
    const given = step('mend the barn roof')
    assert.deepEqual(resume(nothingSuspended, live, given), {
      step: given,
      suspension: nothingSuspended,
      resumedGround: null,
    })
  }
})

test('a goal nearer a ground put aside takes it up, and the live one is put aside', () => {
  const given = step('paint the kitchen walls', { parentGoal: 'p' })
  assert.deepEqual(resume({ suspended: [walls], awaiting: false }, roof, given), {
    step: { ...given, userTurn: true, ground: walls },
    suspension: { suspended: [roof], awaiting: false },
    resumedGround: walls,
  })
  const near = resume({ suspended: [walls], awaiting: false }, roof, step('mend the barn roof'))
  assert.equal(near.resumedGround, null)
  const neither = resume({ suspended: [walls], awaiting: false }, roof, step('walk the dog'))
  assert.equal(neither.resumedGround, null)
})

test('after the ground was put aside the next goal is the ground, unless it is one put aside', () => {
  const put = suspend(nothingSuspended, roof)
  assert.deepEqual(put, { suspended: [roof], awaiting: true })
  const next = resume(put, roof, step('fix the barn door'))
  assert.deepEqual(next.step, step('fix the barn door', { userTurn: true }))
  assert.deepEqual(next.suspension, { suspended: [roof], awaiting: false })
  const again = resume(put, roof, step(roof))
  assert.equal(again.resumedGround, roof)
  assert.deepEqual(again.suspension, nothingSuspended)
  assert.deepEqual(suspend(nothingSuspended, null), nothingSuspended)
})

test('a turn of the user puts the live ground aside', () => {
  const turned = resume(nothingSuspended, roof, step(walls, { userTurn: true }))
  assert.deepEqual(turned.suspension, { suspended: [roof], awaiting: false })
  assert.deepEqual(turned.step, step(walls, { userTurn: true }))
  const back = resume(turned.suspension, walls, step('x', { userTurn: true, ground: roof }))
  assert.deepEqual(back.suspension.suspended, [walls])
  const restated = resume(nothingSuspended, roof, step(roof, { userTurn: true }))
  assert.deepEqual(restated.suspension, nothingSuspended)
})

test('at most eight are kept, each once, whatever comes', () => {
  const goals = fc.constantFrom(roof, walls, ...'abcdefghijkl'.split('').map((c) => `task ${c}`))
  fc.assert(
    fc.property(fc.array(fc.tuple(goals, fc.boolean(), fc.boolean())), (turns) => {
      let suspension = nothingSuspended
      let live: string | null = null
      for (const [goal, userTurn, puts] of turns) {
        if (puts) suspension = suspend(suspension, live)
        const resumed = resume(suspension, live, step(goal, userTurn ? { userTurn } : {}))
        if (live === null || resumed.step.userTurn) live = resumed.step.ground ?? goal
        suspension = resumed.suspension
        assert.ok(suspension.suspended.length <= maxSuspended)
        assert.equal(new Set(suspension.suspended).size, suspension.suspended.length)
        assert.ok(!suspension.suspended.includes(live), 'the live ground is not put aside')
        assert.equal(suspension.awaiting, false)
      }
    }),
  )
})
