import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JudgedRun } from '../../src/core/evaluation/labelled.ts'
import { measureReliability, reliabilityOf } from '../../src/core/evaluation/reliability.ts'

type Item = [label: 'same' | 'drift', drifting: boolean, confidence: number]

function run(items: readonly Item[]): JudgedRun[] {
  const steps = items.map(([label, drifting, confidence]) => ({
    label,
    drifting,
    confidence,
    uncertain: false,
    phi: 0,
    score: 0,
  }))
  return [{ source: null, steps }]
}

function errorOf(items: readonly Item[]): number {
  return measureReliability(run(items))!.expected_calibration_error
}

test('the error is the distance of what was said from what is, where one in ten is drift', () => {
  const wrong = errorOf([
    ['same', true, 0.75],
    ['drift', false, 0.75],
  ])
  // The clean item weighs .9 and was said to drift at .75; the other weighs .1 and was said at .25.
  assert.ok(Math.abs(wrong - (0.9 * 0.75 + 0.1 * 0.75)) < 1e-9)
  const right = errorOf([
    ['same', false, 0.99],
    ['drift', true, 0.99],
  ])
  assert.ok(Math.abs(right - 0.01) < 1e-9)
  const base = errorOf([
    ['same', false, 0.9],
    ['drift', false, 0.9],
  ])
  assert.ok(base < 1e-9)
})

test('rows hold every item once, and one kind alone cannot be measured', () => {
  const items: Item[] = [
    ['same', false, 1],
    ['same', false, 0.98],
    ['same', true, 0.5],
    ['drift', true, 1],
  ]
  const { rows } = measureReliability(run(items))!
  assert.equal(
    rows.reduce((sum, row) => sum + row.items, 0),
    items.length,
  )
  for (const { from, below, said } of rows) assert.ok(from <= said && said <= below)
  assert.equal(measureReliability(run(items.slice(0, 2))), null)
  assert.equal(measureReliability([]), null)
})

test('told steps fall into tenths of what was said of them', () => {
  const told = [
    { confidence: 1, left: true },
    { confidence: 0.9, left: false },
    { confidence: 0.7, left: true },
    { confidence: 0.04, left: false },
  ]
  assert.deepEqual(
    reliabilityOf(told).map(({ from, to, labels, mean, share }) => [
      from,
      to,
      labels,
      mean,
      share.value,
    ]),
    [
      [0, 0.1, 1, 0.04, 0],
      [0.7, 0.8, 1, 0.7, 1],
      [0.9, 1, 2, 0.95, 0.5],
    ],
  )
  assert.deepEqual(reliabilityOf([]), [])
})
