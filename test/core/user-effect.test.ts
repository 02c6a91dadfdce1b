import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Reads } from '../../src/core/detector/contract/reads.ts'
import { hasContent, readUserEffect } from '../../src/core/detector/user/effect.ts'
import { userEffects } from '../../src/core/detector/user/effects.ts'
import { verifies } from '../verifies.ts'
import { acknowledgements, thankedAdditions } from './acknowledgements.ts'
import { userTurns } from './user-turns.ts'

const standing = ['fix the login bug in the auth service']

describe('the effect of what a user says', () => {
  for (const effect of userEffects) {
    test(`of ${userTurns[effect].length} messages that are ${effect}`, () => {
      verifies('user.none', 'user.refines', 'user.adds', 'user.replaces')
      for (const text of userTurns[effect]) {
        assert.equal(readUserEffect(text, standing), effect, text)
      }
    })
  }

  test('of the cases of the trial', () => {
    verifies('user.none', 'user.refines', 'user.adds')
    for (const [text, effect] of [
      ['yes', 'none'],
      ['ok thanks, please go on', 'none'],
      ['great, and what about the tests?', 'none'],
      ['why did you change the header?', 'none'],
      ['thanks, looks good. please commit', 'adds'],
      ['no, not like that, use Redis instead', 'refines'],
      ['limit the sign-up endpoint too', 'adds'],
      ['use port 8081 instead', 'refines'],
      ['in German please', 'refines'],
      ['also the sign-up form', 'adds'],
      ['forget that, rather look at the billing bug', 'replaces'],
      ['new task: write the weekly report', 'replaces'],
    ] as const) {
      assert.equal(readUserEffect(text, standing), effect, text)
    }
  })

  test(`is none for ${acknowledgements.length} acknowledgements in many languages`, () => {
    verifies('user.none')
    const moved = acknowledgements.filter((text) => readUserEffect(text, standing) !== 'none')
    assert.deepEqual(moved, [])
    assert.deepEqual(acknowledgements.filter(hasContent), [])
  })

  test(`is adding for ${thankedAdditions.length} requests behind an acknowledgement`, () => {
    verifies('user.adds')
    const effects = thankedAdditions.map((text) => [text, readUserEffect(text, standing)])
    assert.deepEqual(
      effects.filter(([, effect]) => effect !== 'adds'),
      [],
    )
  })

  test('is what an encoder reads where it is sure, and what the words say without one', () => {
    verifies('user.none')
    const reads = (effects: number[]): Reads => ({
      pair: () => undefined,
      following: () => undefined,
      alike: () => undefined,
      effects: (given, message) => {
        assert.deepEqual([given, message], [standing[0], text])
        return effects
      },
    })
    const text = 'the footer still says 2023'
    assert.equal(readUserEffect(text, standing, reads([-16, -16, 32, -16])), 'adds')
    assert.equal(readUserEffect(text, standing, reads([32, -16, -16, -16])), 'none')
    assert.equal(readUserEffect(text, standing, reads([-16, -16, -16, 32])), 'replaces')
    // What is only an acknowledgement is not asked about.
    assert.equal(readUserEffect('ok thanks', standing, reads([-8, -8, 16, -8])), 'none')
  })

  test('is adding where it may be replacing, or where there is a request at all', () => {
    verifies('user.doubt')
    for (const text of [
      'look at the billing bug',
      'cancel the meeting and book a room for Friday',
      'I need the figures for March',
      'please translate the letter',
    ]) {
      assert.equal(readUserEffect(text, standing), 'adds', text)
    }
  })

  test('is none for the words of a request that stands', () => {
    verifies('user.none')
    assert.equal(readUserEffect('Fix the login bug in the AUTH service!', standing), 'none')
  })

  test('is adding for any first message with content', () => {
    verifies('user.first-message')
    for (const text of ['how many users are inactive?', 'Redis', 'The build is red.']) {
      assert.equal(readUserEffect(text, []), 'adds', text)
    }
    for (const text of ['hi', 'ok thanks', '👍', ' ', 'please go on']) {
      assert.equal(readUserEffect(text, []), 'none', text)
      assert.equal(hasContent(text), false, text)
    }
  })

  test('is one of four for any text, and quickly so', () => {
    verifies('user.none')
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        assert.ok(userEffects.includes(readUserEffect(text, standing)))
      }),
    )
    for (const part of ['a', 'go on ', "'", '?', 'and fix ', '好', 'no, ']) {
      assert.ok(userEffects.includes(readUserEffect(part.repeat(4_000 / part.length), standing)))
    }
  })
})
