import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  detailOf,
  type Endpoint,
  endpointAfter,
  retryDelayMs,
} from '../../src/core/alerts/delivery.ts'
import { verifies } from '../verifies.ts'

const failed = { status: 500, gone: false, retryAfterMs: null }
const answered = { ...failed, status: 200 }
const minuteMs = 60_000

test('pauses grow, and spread by a fifth', () => {
  verifies('settings.alert-retries')
  const pauses = [5, 60, 300, 1800, 7200, 7200, 7200].map((seconds) => seconds * 1000)
  for (const [index, pauseMs] of pauses.entries()) {
    for (const [random, factor] of [
      [0, 0.8],
      [0.5, 1],
      [0.999_999_9, 1.2],
    ] as const) {
      const delayMs = retryDelayMs(failed, index + 1, 100, random)
      assert.ok(Math.abs((delayMs ?? 0) - pauseMs * factor) < 2, `${index} ${delayMs}`)
    }
  }
})

test('there are as many as allowed, and none after an answer that says no', () => {
  verifies('settings.alert-retries')
  assert.notEqual(retryDelayMs(failed, 5, 5, 0), null)
  assert.equal(retryDelayMs(failed, 6, 5, 0), null)
  assert.equal(retryDelayMs(failed, 1, 0, 0), null)
  for (const status of [0, 408, 409, 425, 429, 500, 503, 599]) {
    assert.notEqual(retryDelayMs({ ...failed, status }, 1, 5, 0), null, String(status))
  }
  for (const status of [100, 300, 302, 400, 404, 410, 418, 499]) {
    assert.equal(retryDelayMs({ ...failed, status }, 1, 5, 0), null, String(status))
  }
})

test('who asks for more time gets up to an hour', () => {
  verifies('alerts.state.failed')
  for (const [retryAfterMs, delayMs] of [
    [0, 5_000],
    [1_000, 5_000],
    [90_000, 90_000],
    [60 * minuteMs, 60 * minuteMs],
    [61 * minuteMs, 60 * minuteMs],
  ] as const) {
    assert.equal(retryDelayMs({ ...failed, retryAfterMs }, 1, 5, 0.5), delayMs)
  }
})

test('an address is paused after ten failures in a row over ten minutes', () => {
  verifies('alerts.state.failed')
  function after(times: readonly number[], answers = times.map(() => failed)): Endpoint | null {
    return times.reduce<Endpoint | null>(
      (endpoint, at, index) => endpointAfter(endpoint, answers[index]!, at),
      null,
    )
  }
  const tenIn = (lastMs: number) => Array.from({ length: 10 }, (_, n) => (n === 9 ? lastMs : n))
  assert.equal(after(tenIn(10 * minuteMs - 1))?.paused_until, null)
  assert.equal(after(tenIn(10 * minuteMs))?.paused_until, 15 * minuteMs)
  assert.equal(after([0, 10 * minuteMs])?.paused_until, null)
  const between = tenIn(10 * minuteMs).map((_, n) => (n === 5 ? answered : failed))
  assert.equal(after(tenIn(10 * minuteMs), between)?.paused_until, null)
  const paused = after(tenIn(10 * minuteMs))
  const probed = endpointAfter(paused, failed, 15 * minuteMs)
  assert.equal(probed?.paused_until, 20 * minuteMs)
  assert.equal(endpointAfter(probed, answered, 20 * minuteMs), null)
})

test('one that is gone is paused at once', () => {
  verifies('alerts.state.failed')
  const gone = endpointAfter(null, { ...failed, status: 410, gone: true }, 0)
  assert.deepEqual(
    [gone?.paused_until, gone?.pause_detail],
    [5 * minuteMs, 'endpoint paused after 410'],
  )
})

test('a detail has at most 200 characters', () => {
  verifies('alerts.state.threw', 'alerts.state.delivered')
  assert.equal(detailOf({ status: 0, error: 'x'.repeat(300) }), 'x'.repeat(200))
  assert.equal(detailOf({ status: 404, error: null }), 'webhook returned 404')
  assert.equal(detailOf({ status: 204, error: null }), null)
})
