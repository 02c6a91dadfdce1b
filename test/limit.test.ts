import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detect } from '../src/core/detector/detect.ts'
import { newMemory } from '../src/core/detector/memory.ts'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { verifies } from './verifies.ts'

const errand = 'Fix the failing login test in the auth service'
const other = 'Book a flight to Paris'
const step = { progress: 'advancing', distance: 5, ground: errand }

const judged = (goal: string, limit?: number, ground = errand) =>
  detect(newMemory('meaning'), { ...step, ground, goal, limit })

test('a step is drift above the limit, and its score does not depend on it', () => {
  verifies('settings.limit')
  const { score, verdict } = judged(other)
  assert.ok(score > 0.5 && score < 0.99, String(score))
  for (const [limit, drifting] of [
    [score - 0.01, true],
    [score + 0.01, false],
  ] as const) {
    const moved = judged(other, limit)
    assert.equal(moved.verdict.drifting, drifting)
    assert.equal(moved.score, score)
    assert.equal(moved.verdict.evidence?.score, verdict.evidence?.score)
    assert.equal(moved.verdict.evidence!.sum >= moved.verdict.evidence!.limit, drifting)
  }
})

test('what contradicts the errand is drift at any limit', () => {
  verifies('settings.limit.hard')
  const cases = [
    ['refund order 1234 to the customer', 'refund order 9876 to the customer'],
    ['Tidy up the branch, but do not push', 'git push origin main'],
  ] as const
  for (const [ground, goal] of cases) {
    const { verdict, score } = judged(goal, 0.98, ground)
    assert.equal(verdict.drifting, true, goal)
    assert.ok(score > 0.99, goal)
  }
})

onEachDatabase(({ createUrl }) => {
  test('a server with a limit judges by it', async (t) => {
    verifies('settings.limit')
    const { score } = judged(other)
    const startWith = async (limit: number) => {
      const env = { DATABASE_URL: await createUrl(), PLUMBLINE_LIMIT: limit.toFixed(4) }
      return start(t, { env })
    }
    for (const [limit, drifting] of [
      [score - 0.01, true],
      [score + 0.01, false],
    ] as const) {
      const app = await startWith(limit)
      const body = { ground: errand, goal: other }
      assert.equal((await app.post('/v1/check', body)).body.verdict.drifting, drifting)
      const me = await newCaller(app)
      const verdict = await me.log({ run_id: 'r', ...body })
      assert.equal(verdict.drifting, drifting)
      assert.equal(verdict.evidence.sum >= verdict.evidence.limit, drifting)
    }
  })
})
