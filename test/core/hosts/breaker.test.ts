import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterFailure, atRest, type Breaker, stateOf } from '../../../src/core/hosts/breaker.ts'
import { verifies } from '../../verifies.ts'

test('a server is left alone after three failures in a row, for longer and longer', () => {
  verifies('hosts.relay.away')
  let breaker: Breaker = atRest
  let now = 0
  const waits: number[] = []
  const states: string[] = []
  for (let nth = 0; nth < 11; nth++) {
    breaker = afterFailure(breaker, { now, random: 0.5, retryAfterMs: null })
    waits.push((breaker.restsUntil - now) / 1000)
    states.push(stateOf(breaker, now))
    now = breaker.restsUntil
  }
  assert.deepEqual(waits, [1, 1, 1, 2, 4, 8, 16, 32, 60, 60, 60])
  assert.deepEqual(states, ['closed', 'closed', ...Array(9).fill('open')])
  assert.deepEqual([stateOf(breaker, now - 1), stateOf(breaker, now)], ['open', 'probing'])
  for (const [retryAfterMs, wait] of [
    [5000, 5000],
    [10, 1000],
    [1e12, 3_600_000],
  ] as const) {
    const asked = afterFailure(atRest, { now: 0, random: 0.5, retryAfterMs })
    assert.equal(asked.restsUntil, wait)
  }
})
