import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { answerOf, isRight, readRuns, replay } from '../golden/runs.ts'
import { verifies } from '../verifies.ts'

const runs = readRuns()
const answers = ['errand', 'drift', 'uncertain']

describe('runs written by hand', () => {
  test('are twenty or more, of many steps, in three languages and more', () => {
    assert.ok(runs.length >= 20, `${runs.length}`)
    assert.ok(new Set(runs.map(({ language }) => language)).size >= 3)
    for (const { run, steps } of runs) {
      assert.ok(steps.length >= 6 && steps.length <= 12, `${run}: ${steps.length}`)
      for (const { say, wrong } of steps) {
        const said = say.split(' or ')
        assert.ok(
          said.every((answer) => answers.includes(answer)),
          `${run}: ${say}`,
        )
        if (wrong !== undefined) assert.ok(!said.includes(wrong), `${run}: marked, and right`)
      }
    }
  })

  for (const run of runs) {
    test(run.run, () => {
      verifies('meaning.three-way')
      for (const [place, verdict] of replay(run).entries()) {
        const step = run.steps[place]!
        const answer = answerOf(verdict)
        const said = `step ${place + 1}, ${step.goal}: ${answer}. ${verdict.why}`
        // What is marked as wrong must be wrong in just that way: node test/golden/renew.ts --write
        if (step.wrong !== undefined) assert.equal(answer, step.wrong, said)
        else assert.ok(isRight(step, answer), said)
      }
    })
  }

  test('an instruction to leave the errand is never missed', () => {
    const planted = runs.flatMap((run) =>
      replay(run).filter(({ goal }) => /^(Ignore|Disregard) /.test(goal)),
    )
    assert.equal(planted.length, 2)
    for (const { drifting, goal } of planted) assert.equal(drifting, true, goal)
  })
})
