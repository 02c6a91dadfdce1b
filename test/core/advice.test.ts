import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reason } from '../../src/core/detector/rules.ts'
import { verifies } from '../verifies.ts'
import { commands } from './commands.ts'
import { lastOf, type Reported } from './replay.ts'

const ground = 'build the csv parser'
const other = 'water garden plants'
const stuck = { goal: ground, progress: 'stuck' }
const flat = [ground, ground, ground, ground, ground]

test('ungrammatical says what a step needs', () => {
  verifies('detector.advice.ungrammatical')
  for (const step of ['', { goal: ground, progress: 'done' }]) {
    assertAdvice([ground, step], 'ungrammatical', [
      'a goal that is not blank',
      'a progress of advancing, stuck or circling',
    ])
  }
})

test('grounded says that the ground is set', () => {
  verifies('detector.advice.grounded')
  assertAdvice([ground], 'grounded', ['The ground is set'])
  assertAdvice([ground, { goal: other, userTurn: true }], 'grounded', ['The ground is set'])
})

test('a self-report says what a second one means, and then that the ground is owed', () => {
  verifies('detector.advice.self-report')
  const first = ['stuck', '0.20', 'If it holds on the next step']
  assertAdvice([ground, stuck], 'self-report:stuck', first)
  assertAdvice([ground, stuck, stuck], 'self-report:stuck', ['stuck', '0.20', 'still owed'])
  const circling = { goal: 'build csv docs', progress: 'circling', distance: 8 }
  assertAdvice([ground, circling], 'self-report:circling', ['circling', '0.54', 'the next step'])
  assertAdvice([ground, '', circling], 'self-report:circling', ['circling', '0.54', 'still owed'])
})

test('goal-drift gives the overlap and its three possible causes', () => {
  verifies('detector.advice.goal-drift')
  assertAdvice([ground, 'write csv docs for people'], 'goal-drift', [
    'overlap 0.17',
    'three possible causes',
    'the user redirected the work (which a user turn reports)',
    'this is a sub-task of it (which its parent_goal declares)',
    'the ground is still owed',
  ])
})

test('a rejected parent is answered with its own overlap and the floor', () => {
  verifies('detector.advice.rejected-parent')
  const step = { goal: other, parentGoal: 'csv exports for finance people' }
  const advice = assertAdvice([ground, step], 'goal-drift', ['overlap 0.00', '0.17', '0.30'])
  assert.doesNotMatch(advice, /three possible causes/)
})

test('an excursion gives both overlaps and what is still owed', () => {
  verifies('detector.advice.excursion')
  const step = { goal: 'plan csv work for everyone', parentGoal: 'csv parser build plan' }
  assertAdvice([ground, step], 'excursion', [
    'overlap 0.17',
    'overlap 0.75',
    'not drift',
    'the parent is still owed',
  ])
})

test('a stall lists the distances, and repeated says that the ground is owed', () => {
  verifies('detector.advice.stalled')
  assertAdvice(flat, 'stalled', ['5, 5, 5, 5, 5', 'If it holds on the next step'])
  const up = { goal: ground, distance: 7 }
  assertAdvice([...flat, up], 'stalled', ['5, 5, 5, 5, 7', 'still owed'])
})

test('advancing gives phi', () => {
  verifies('detector.advice.advancing')
  assertAdvice([ground, { goal: 'csv parser', distance: 8 }], 'advancing', ['phi 0.26'])
})

test('oscillating gives the period', () => {
  verifies('detector.advice.oscillating')
  for (const [period, order] of [
    [2, 'ababab'],
    [3, 'abcabc'],
    [4, 'aaabaaab'],
  ] as const) {
    const steps = [...order].map((letter) => ({ goal: `csv parser ${letter}${letter}` }))
    assertAdvice(steps, 'oscillating', [`every ${period} steps`])
  }
})

/** The advice on the last step, after it was found to say what it must and to command nothing. */
function assertAdvice(
  steps: readonly Reported[],
  reason: Reason,
  parts: readonly string[],
): string {
  const verdict = lastOf(steps)
  assert.equal(verdict.reason, reason)
  for (const part of parts) {
    assert.ok(verdict.advice.includes(part), `"${part}" in: ${verdict.advice}`)
  }
  assert.deepEqual(commands(verdict.advice), [])
  return verdict.advice
}
