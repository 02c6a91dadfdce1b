import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnswerTimes } from '../src/operations/gate/answer-times.ts'
import { verifies } from './verifies.ts'

test('half of the answers, and 99 of 100, came within so long, of the newest 500', () => {
  verifies('hosts.answered')
  const times = createAnswerTimes()
  for (let ms = 1; ms <= 1_000; ms++) times.took('a', 'codex', ms, 10 * ms)
  assert.deepEqual(times.of('a'), [
    { host: 'codex', answers: 500, p50_ms: 750, p99_ms: 995, last: 10_000 },
  ])
})

test('of the accounts, the ones that reported last are kept', () => {
  verifies('hosts.answered')
  const times = createAnswerTimes()
  times.took('first', 'codex', 1, 0)
  times.took('second', 'codex', 1, 0)
  for (let nth = 0; nth < 998; nth++) times.took(`account ${nth}`, 'codex', 1, 0)
  times.took('first', 'codex', 2, 0)
  times.took('last', 'codex', 1, 0)
  assert.deepEqual([times.of('second').length, times.of('first')[0]?.answers], [0, 2])
})
