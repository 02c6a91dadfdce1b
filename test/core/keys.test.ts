import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import {
  base62,
  isSpelledKey,
  keyPrefix,
  keyRandomLength,
  spellKey,
} from '../../src/core/accounts/keys.ts'
import { verifies } from '../verifies.ts'

const digits = fc.array(fc.integer({ min: 0, max: 61 }), {
  minLength: keyRandomLength,
  maxLength: keyRandomLength,
})

describe('a key', () => {
  test('is pl_live_, 43 characters, an underscore and a checksum', () => {
    verifies('key.format')
    fc.assert(
      fc.property(digits, (random) => {
        const key = spellKey(random)
        const [, body, secret, checksum] =
          /^((?:pl_live_)([0-9A-Za-z]{43}))_([0-9A-Za-z]{6})$/.exec(key) ?? []
        assert.equal(secret, random.map((digit) => base62[digit]).join(''))
        const sum = [...checksum!].reduce((sum, digit) => sum * 62 + base62.indexOf(digit), 0)
        assert.equal(sum, crc32(body!))
        assert.ok(isSpelledKey(key))
      }),
    )
  })

  test('is spelled with digits, upper case and lower case in this order', () => {
    verifies('key.format')
    assert.equal(base62, '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
    const counting = Array.from({ length: keyRandomLength }, (_, place) => place)
    assert.equal(spellKey(counting), 'pl_live_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg_0rgtVP')
    assert.throws(() => spellKey([1, 2, 3]))
  })

  test('is told from a typo by its checksum', () => {
    verifies('key.checksum')
    fc.assert(
      fc.property(digits, fc.nat(57), fc.constantFrom(...base62), (random, place, character) => {
        const key = spellKey(random)
        const mistyped = key.slice(0, place) + character + key.slice(place + 1)
        assert.equal(isSpelledKey(mistyped), mistyped === key)
        const swapped = [...key]
        swapped.splice(place, 2, ...swapped.slice(place, place + 2).reverse())
        assert.equal(isSpelledKey(swapped.join('')), swapped.join('') === key)
      }),
    )
  })

  test('has nothing before or after it', () => {
    verifies('key.checksum')
    const key = spellKey(Array(keyRandomLength).fill(7))
    for (const text of [
      '',
      'key',
      key.toUpperCase(),
      ` ${key}`,
      `${key} `,
      `${key}\n`,
      key.slice(0, -1),
      `${key}0`,
      key.replace('live', 'test'),
      key.replaceAll('_', '-'),
      'pl_live_'.repeat(10_000),
      `pl_live_${'0'.repeat(1_000_000)}`,
    ]) {
      assert.ok(!isSpelledKey(text))
    }
  })

  test('shows 6 of its 43 characters', () => {
    const key = spellKey(Array.from({ length: keyRandomLength }, (_, place) => place))
    assert.equal(keyPrefix(key), 'pl_live_012345')
  })
})
