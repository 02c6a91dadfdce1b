import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Assignment,
  groundOf,
  longestRequest,
  mostStanding,
  standingTexts,
  withMessage,
} from '../../src/core/detector/assignment.ts'
import { detect } from '../../src/core/detector/detect.ts'
import { detectors } from '../../src/core/detector/detectors.ts'
import { newMemory } from '../../src/core/detector/memory.ts'
import type { UserEffect } from '../../src/core/detector/user/effects.ts'
import { verifies } from '../verifies.ts'

type Said = [effect: Exclude<UserEffect, 'none'>, text: string]

function after(...said: Said[]): Assignment {
  let assignment: Assignment = []
  for (const [place, [effect, text]] of said.entries()) {
    const message = { text, revision: place + 1, by: 'user', at: place } as const
    assignment = withMessage(assignment, effect, message)
  }
  return assignment
}

test('a further request stands beside the others', () => {
  verifies('user.adds', 'user.ground')
  assert.equal(
    groundOf(after(['adds', 'fix login'], ['adds', 'and sign-up'])),
    'fix login\nand sign-up',
  )
})

test('a correction joins the request it shares most words with, else the newest', () => {
  verifies('user.refines')
  const two: Said[] = [
    ['adds', 'fix the login page'],
    ['adds', 'write the billing report'],
  ]
  assert.deepEqual(standingTexts(after(...two, ['refines', 'the login page only for admins'])), [
    'fix the login page\nthe login page only for admins',
    'write the billing report',
  ])
  assert.deepEqual(standingTexts(after(...two, ['refines', 'in German please'])), [
    'fix the login page',
    'write the billing report\nin German please',
  ])
})

test('another request instead leaves nothing standing but itself', () => {
  verifies('user.replaces')
  const assignment = after(
    ['adds', 'fix login'],
    ['adds', 'and sign-up'],
    ['replaces', 'plan a trip'],
  )
  assert.deepEqual(
    assignment.map(({ text, stands }) => [text, stands]),
    [
      ['fix login', false],
      ['and sign-up', false],
      ['plan a trip', true],
    ],
  )
})

test('no word of the user is lost within the bounds', () => {
  verifies('memory.assignment-bound')
  const corrections = Array.from(
    { length: 12 },
    (_, at): Said => ['refines', `${at} ${'x'.repeat(990)}`],
  )
  const standing = standingTexts(after(['adds', 'fix login'], ...corrections))
  assert.ok(standing.every((text) => text.length <= longestRequest))
  for (const [, text] of corrections) assert.ok(standing.join('\n').includes(text))
  const many = Array.from({ length: 40 }, (_, at): Said => ['adds', `${at} ${'x'.repeat(2_000)}`])
  const kept = after(...many)
  assert.ok(groundOf(kept).length <= mostStanding.characters + mostStanding.requests)
  assert.equal(standingTexts(kept).at(-1), many.at(-1)?.[1])
  assert.ok(kept.some(({ stands }) => !stands))
})

test('an effect but none resets the evidence, and none keeps it', () => {
  verifies('user.resets-evidence', 'user.only-message')
  const step = { progress: 'advancing', distance: 5 }
  const errand = 'add rate limiting to the login endpoint'
  let { memory } = detect(newMemory('meaning'), {
    ...step,
    goal: 'write a token bucket',
    ground: errand,
  })
  memory = detect(memory, { ...step, goal: 'write a poem about autumn leaves' }).memory
  const say = (text: string) => detect(memory, { ...step, goal: text, userMessage: text }).memory
  assert.deepEqual(say('ok thanks, please go on'), { ...memory, steps: memory.steps + 1 })
  const reset = detectors.meaning.heard(memory.own)
  assert.notDeepEqual(reset, memory.own)
  assert.deepEqual(say('limit the sign-up endpoint too').own, reset)
  assert.deepEqual(say('use port 8081 instead').own, reset)
})

test('what contradicts one request is drift beside another request', () => {
  verifies('user.adds', 'settings.limit.hard')
  const steps = [
    { goal: 'look up order 1234', ground: 'refund order 1234 to the customer' },
    { goal: 'write the note', userMessage: 'please also write a note to the courier' },
    { goal: 'refund order 9876 to the customer' },
  ]
  let memory = newMemory('meaning')
  const verdicts = steps.map((step) => {
    const detected = detect(memory, { progress: 'advancing', distance: 5, ...step })
    memory = detected.memory
    return detected.verdict
  })
  assert.deepEqual(
    verdicts.map(({ drifting }) => drifting),
    [false, false, true],
  )
  assert.equal(verdicts[2]?.swap?.goal, 'order 9876')
})
