import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { editCommented, parseCommented } from '../../../src/core/hosts/commented-json.ts'
import { verifies } from '../../verifies.ts'

const value = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', '//', '__proto__'),
  fc.jsonValue({ maxDepth: 3 }),
  { maxKeys: 4 },
)
/** JSON with a comment and white space before each mark. */
const commented = fc
  .tuple(
    value,
    fc.constantFrom(undefined, '  ', '\t'),
    fc.constantFrom('/* , } ] " */', '// {[,"\n', ''),
  )
  .map(([of, indent, comment]) => ({
    of,
    text: JSON.stringify(of, null, indent).replaceAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/g, (token) =>
      token.length > 1 ? token : `${comment}${token}`,
    ),
  }))

test('JSON with comments is its value, and nothing else is', () => {
  verifies('hosts.init.comments')
  fc.assert(
    fc.property(commented, ({ of, text }) => {
      assert.equal(
        JSON.stringify(parseCommented(text)),
        JSON.stringify(JSON.parse(JSON.stringify(of))),
      )
    }),
  )
  assert.deepEqual(parseCommented('[1, /* two */ 3,]'), [1, 3])
  for (const text of [
    '',
    '{',
    '[1 2]',
    '{"a" 1}',
    '{1: 2}',
    '{} {}',
    '{,}',
    '/* {}',
    'a',
    '['.repeat(9999),
  ]) {
    assert.equal(parseCommented(text), undefined, text.slice(0, 20))
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      parseCommented(text)
    }),
  )
})

test('a text that is edited has the other value', () => {
  verifies('hosts.init.comments')
  fc.assert(
    fc.property(commented, value, ({ text }, other) => {
      const edited = parseCommented(editCommented(text, other))
      assert.deepEqual(edited, parseCommented(JSON.stringify(other)), text)
    }),
    { numRuns: 500 },
  )
})
