import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { causeClaims, countClaims, observations } from '../../src/core/language/claims.ts'
import { comparePhrasings, measurePhrasing } from '../../src/core/language/phrasing.ts'

test('the word lists are the published ones', () => {
  const { word_lists } = JSON.parse(
    readFileSync(new URL('../vectors/reference.json', import.meta.url), 'utf8'),
  )
  assert.deepEqual(causeClaims, word_lists.cause_claims)
  assert.deepEqual(observations, word_lists.observations)
})

test('claims are counted against observations', () => {
  for (const [text, claims, seen, grounded] of [
    ['', 0, 0, null],
    ['the roof', 0, 0, null],
    ['It must be the cache, because it should work.', 3, 0, 0],
    ['I ran it: exit code 1, tests failed.', 0, 3, 1],
    ['That’s why it returned 3.', 1, 1, 0.5],
    ["THAT'S  WHY it hung", 1, 0, 0],
    ['must have been late', 1, 0, 0],
    ['musty bees, sincerely, essays', 0, 0, null],
  ] as const) {
    assert.deepEqual(countClaims(text), { claims, observations: seen, grounded }, text)
  }
})

const prose =
  'The cat sat on the mat in the warm kitchen. The cat saw a bird outside the window. ' +
  'The bird flew over the garden wall. Beyond the wall stood an apple tree.'

test('the shape of a text follows from its words', () => {
  for (const [text, shape] of [
    ['', 'short'],
    ['mend the roof', 'short'],
    [prose, 'connected'],
    ['mend roof '.repeat(10), 'circling'],
    [
      'Rivers carry gravel downhill. Accountants prefer quiet mornings. Violins need careful tuning. Glaciers reshape valleys.',
      'loose',
    ],
  ] as const) {
    assert.equal(measurePhrasing(text).shape, shape, text)
  }
})

test('variety, repetition and readability come from their formulas', () => {
  const twice = measurePhrasing('mend the roof mend the roof')
  assert.equal(twice.words, 6)
  assert.equal(twice.variety, 0.5)
  // Pairs: mend the, the roof, roof mend, mend the, the roof: two of five came before.
  assert.equal(twice.repetition, 0.4)
  const simple = measurePhrasing('The cat sat.')
  // 206.835 − 1.015 · 3 − 84.6 · 1
  assert.equal(simple.readability, 119.2)
  const dense = measurePhrasing('Organizational intercommunication necessitates standardization.')
  assert.ok((dense.readability ?? 0) < 0)
  assert.equal(measurePhrasing(prose).sentences, 4)
  assert.equal(measurePhrasing('Version 1.5 is out').sentences, 1)
})

test('what does not apply to a language is null and says so', () => {
  for (const text of [
    '修理屋顶。然后粉刷墙壁。',
    'Почини крышу и покрась стены.',
    'Repariere das Dach der Scheune und streiche danach die Wände der großen Küche neu',
    'أصلح السقف ثم ادهن الجدران',
  ]) {
    const measured = measurePhrasing(text)
    assert.equal(measured.readability, null, text)
    assert.match(measured.notes.join(), /readability is null/)
    assert.ok(measured.words > 0 && measured.variety !== null, text)
  }
  assert.equal(measurePhrasing('修理屋顶。然后粉刷墙壁。').sentences, 2)
  assert.deepEqual(measurePhrasing('mend the roof').notes, [])
})

test('the clearer of two phrasings is named with the numbers', () => {
  const plain = 'Add rate limiting to the login endpoint.'
  const vague =
    'I think we should probably do something about the login thing because it seems to be slow, which means that it must be the database, so that it will work.'
  const compared = comparePhrasings(plain, vague)
  assert.equal(compared.clearer, 'a')
  assert.match(compared.why, /^a has fewer words a sentence \(7\.0 against 30\.0\)/)
  assert.match(compared.why, /fewer claims beyond what was seen \(0 against \d\)/)
  assert.equal(comparePhrasings(vague, plain).clearer, 'b')
  assert.deepEqual(comparePhrasings(plain, plain), {
    a: measurePhrasing(plain),
    b: measurePhrasing(plain),
    overlap: 1,
    clearer: 'even',
    why: 'No measure tells them apart.',
  })
  assert.equal(comparePhrasings('mend the roof', 'paint walls').overlap, 0)
})

test('no text throws, and shares stay in their ranges', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (a, b) => {
      const { overlap, a: left, b: right } = comparePhrasings(a, b)
      for (const share of [overlap, left.repetition, right.variety ?? 0]) {
        assert.ok(share >= 0 && share <= 1)
      }
      assert.deepEqual(comparePhrasings(b, a).overlap, overlap)
    }),
  )
})
