import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rounded, two } from '../../src/core/figures.ts'

const numbers = fc.oneof(
  fc.double(),
  fc.double({ min: -12, max: 12, noNaN: true }),
  // The middle between two hundredths, and its neighbours.
  fc.integer({ min: -2500, max: 2500 }).map((half) => half / 200),
)

test('figures are written and rounded as toFixed does', () => {
  fc.assert(
    fc.property(numbers, (number) => {
      assert.equal(two(number), number.toFixed(2))
      assert.equal(rounded(number), Number(number.toFixed(2)))
    }),
    { numRuns: 20_000 },
  )
})

test('figures of every hundredth and of what lies around its middle', () => {
  for (let hundredths = -1100; hundredths <= 1100; hundredths++) {
    for (const off of [0, 0.004, 0.005, 0.0050001, 0.0049999]) {
      const number = hundredths / 100 + off
      assert.equal(two(number), number.toFixed(2))
      assert.equal(rounded(number), Number(number.toFixed(2)))
    }
  }
})
