import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparePace } from '../hosts/pace.ts'
import { verifies } from './verifies.ts'

/** Sessions that take these milliseconds, one after another and then from the first again. */
function taking(...times: readonly number[]) {
  let count = 0
  return { ms: async () => times[count++ % times.length] as number, count: () => count }
}

test('a session that is long once is run again, and one that is long each time is slow', async () => {
  verifies('hosts.pace')
  const healthy = taking(1000)
  const noisy = taking(2000, 1900, 1100)
  const waiting = taking(1300, 1250, 1400)
  const quick = taking(900)
  const others = { noisy: noisy.ms, waiting: waiting.ms, quick: quick.ms }
  const pace = await comparePace(healthy.ms, others, 1.15, { least: 2, most: 6 })
  assert.deepEqual(pace, {
    healthyMs: 1000,
    ratios: { noisy: 1.1, waiting: 1.25, quick: 0.9 },
    rounds: 6,
  })
  // Who is fast enough is not run again.
  assert.deepEqual([noisy.count(), waiting.count(), quick.count(), healthy.count()], [3, 6, 2, 6])
})

test('one lucky healthy session makes no others slow', async () => {
  verifies('hosts.pace')
  const healthy = taking(1000, 1300, 1300)
  const { ratios } = await comparePace(healthy.ms, { gone: taking(1300).ms }, 1.15, {
    least: 2,
    most: 6,
  })
  assert.deepEqual(ratios, { gone: 1 })
})

test('what is as fast at first is compared as often as at least wanted', async () => {
  verifies('hosts.pace')
  const { rounds } = await comparePace(taking(1000).ms, { gone: taking(1100).ms }, 1.15, {
    least: 2,
    most: 6,
  })
  assert.equal(rounds, 2)
})
