import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { keysOf, readSlots } from '../../src/core/detector/meaning/slot-text.ts'

const parts = [
  'fix',
  'Order',
  'not',
  "don't",
  'a',
  'v1',
  '12',
  '9876',
  '3rd',
  'foo_bar',
  '_x',
  "it'",
]
const betweens = [
  ' ',
  ', ',
  '. ',
  ': ',
  ' - ',
  '-',
  '->',
  '/',
  '.',
  ',',
  ':',
  '@',
  ' @',
  ' #',
  ' $',
]
const ends = ['', '%', '%. ', ' > ', "'", " '", '_', ' `a b` ', '!', '?', ' (', ')', '...', ' ..']
const texts = fc
  .array(fc.tuple(fc.constantFrom(...parts), fc.constantFrom(...betweens, ...ends)), {
    minLength: 1,
    maxLength: 12,
  })
  .map((pairs) => pairs.flat().join(''))

test('a text is cut for its slots alike whether or not its pieces are known from its words', () => {
  fc.assert(
    fc.property(texts, (text) => {
      // A quotation has a text cut by the pattern alone.
      const byPattern = readSlots(`${text} "a quotation"`)
      const { tokens } = readSlots(text)
      assert.deepEqual(byPattern.tokens.slice(0, -1), tokens)
    }),
    { numRuns: 20_000 },
  )
})

test('the keys of a text are those of all its tokens', () => {
  const text = 'Move order 1234, not invoice A-17, to "the archive"'
  const { tokens } = readSlots(text)
  assert.deepEqual([...keysOf(readSlots(text))].sort(), [...tokens.map(({ key }) => key)].sort())
})
