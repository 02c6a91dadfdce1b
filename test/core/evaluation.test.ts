import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { afterFirstStep, measurePairs, measureRuns } from '../../src/core/evaluation/evaluation.ts'
import { type JudgedRun, type Labelled, readLabelled } from '../../src/core/evaluation/labelled.ts'
import { predict } from '../../src/core/evaluation/predict.ts'

type Item = [label: 'same' | 'drift', drifting: boolean, score: number, uncertain?: boolean]

function run(items: readonly Item[], source: string | null = null): JudgedRun {
  return {
    source,
    steps: items.map(([label, drifting, score, uncertain = false]) => ({
      label,
      drifting,
      uncertain,
      confidence: 0.5,
      phi: score,
      score,
    })),
  }
}

function pairs(items: readonly Item[], source: string | null = null): JudgedRun[] {
  return items.map((item) => run([item], source))
}

function aucOf(items: readonly Item[]): number | null {
  return measurePairs(pairs(items), 0).auc.value
}

describe('pairs', () => {
  test('four pairs, counted by hand', () => {
    const report = measurePairs(
      pairs([
        ['drift', true, 0.9],
        ['drift', false, 0.5, true],
        ['same', true, 0.5],
        ['same', false, 0.1],
      ]),
      0,
    )
    const unmeasured = { low: null, high: null }
    assert.deepEqual(report, {
      items: 4,
      drift: 2,
      same: 2,
      precision: { value: 0.5, ...unmeasured },
      recall: { value: 0.5, ...unmeasured },
      false_alarms_per_1000: { value: 500, ...unmeasured },
      auc: { value: 0.875, ...unmeasured },
      uncertain_share: { value: 0.25, ...unmeasured },
      noticed: { value: 1, ...unmeasured },
      precision_at_10_percent: { value: 0.1, ...unmeasured },
      sources: [
        {
          source: null,
          items: 4,
          drift: 2,
          same: 2,
          auc: 0.875,
          precision: 0.5,
          recall: 0.5,
          false_alarms_per_1000: 500,
        },
      ],
    })
  })

  test('a perfect detector and a useless one', () => {
    const labels = Array.from({ length: 100 }, (_, place) => (place % 2 === 0 ? 'same' : 'drift'))
    const perfect = measurePairs(
      pairs(labels.map((label) => [label, label === 'drift', label === 'drift' ? 1 : 0])),
    )
    const certain = { value: 1, low: 1, high: 1 }
    assert.deepEqual(perfect.precision, certain)
    assert.deepEqual(perfect.recall, certain)
    assert.deepEqual(perfect.auc, certain)
    assert.deepEqual(perfect.precision_at_10_percent, certain)
    assert.deepEqual(perfect.false_alarms_per_1000, { value: 0, low: 0, high: 0 })

    const useless = measurePairs(pairs(labels.map((label) => [label, true, 0.7])))
    assert.equal(useless.precision.value, 0.5)
    assert.deepEqual(useless.auc, { value: 0.5, low: 0.5, high: 0.5 })
    assert.deepEqual(useless.false_alarms_per_1000, { value: 1000, low: 1000, high: 1000 })
    assert.ok(Math.abs((useless.precision_at_10_percent.value ?? 0) - 0.1) < 1e-12)
  })

  test('what cannot be measured is null', () => {
    const none = { value: null, low: null, high: null }
    const clean = measurePairs(pairs([['same', false, 0.2]]))
    assert.deepEqual(clean.recall, none)
    assert.deepEqual(clean.precision, none)
    assert.deepEqual(clean.auc, none)
    assert.deepEqual(clean.precision_at_10_percent, none)
    assert.equal(clean.false_alarms_per_1000.value, 0)

    const drift = measurePairs(pairs([['drift', false, 0.2]]))
    assert.deepEqual(drift.false_alarms_per_1000, none)
    assert.deepEqual(drift.auc, none)
    assert.equal(drift.recall.value, 0)
  })

  test('sources are measured apart, in order of their names', () => {
    const { sources } = measurePairs(
      [
        ...pairs([['same', true, 1]], 'zoo'),
        ...pairs(
          [
            ['drift', true, 1],
            ['same', false, 0],
          ],
          'ant',
        ),
      ],
      0,
    )
    assert.deepEqual(
      sources.map(({ source, items, auc, precision }) => [source, items, auc, precision]),
      [
        ['ant', 2, 1, 1],
        ['zoo', 1, null, 0],
      ],
    )
  })
})

describe('AUC', () => {
  const items = fc.array(
    fc.tuple(
      fc.constantFrom('same' as const, 'drift' as const),
      fc.boolean(),
      fc.constantFrom(0, 0.1, 0.25, 0.5, 1),
    ),
    { maxLength: 40 },
  )

  test('is the share of drift-clean pairs in the right order, ties counted half', () => {
    fc.assert(
      fc.property(items, (drawn) => {
        const drift = drawn.filter(([label]) => label === 'drift')
        const clean = drawn.filter(([label]) => label === 'same')
        let wins = 0
        for (const [, , high] of drift) {
          for (const [, , low] of clean) wins += high > low ? 1 : high === low ? 0.5 : 0
        }
        const all = drift.length * clean.length
        assert.equal(aucOf(drawn), all === 0 ? null : wins / all)
      }),
    )
  })

  test('of negated scores is one minus the AUC', () => {
    fc.assert(
      fc.property(items, (drawn) => {
        const auc = aucOf(drawn)
        const negated = aucOf(drawn.map(([label, drifting, score]) => [label, drifting, -score]))
        if (auc === null) assert.equal(negated, null)
        else assert.ok(Math.abs((negated ?? 2) - (1 - auc)) < 1e-12)
      }),
    )
  })

  test('does not depend on the order of the items', () => {
    fc.assert(fc.property(items, (drawn) => assert.equal(aucOf(drawn.toReversed()), aucOf(drawn))))
  })
})

describe('runs', () => {
  const runs = [
    run([
      ['same', false, 0.1],
      ['same', true, 0.6],
      ['drift', false, 0.4],
      ['drift', true, 0.8],
      ['drift', false, 0.3],
    ]),
    run([
      ['drift', false, 0.5],
      ['same', false, 0.2],
      ['drift', true, 0.9],
    ]),
    run([
      ['same', true, 0.7],
      ['same', false, 0],
    ]),
    run([['same', false, 0]]),
  ]

  test('three switches and two clean runs, counted by hand', () => {
    const report = measureRuns(runs, 0)
    assert.deepEqual(
      [report.runs, report.clean_runs, report.switches, report.items, report.drift],
      [4, 2, 3, 11, 5],
    )
    assert.equal(report.precision.value, 2 / 4)
    assert.equal(report.recall.value, 2 / 5)
    assert.equal(report.false_alarms_per_1000.value, (1000 * 2) / 6)
    assert.equal(report.found_within_1.value, 1 / 3)
    assert.equal(report.found_within_2.value, 2 / 3)
    assert.equal(report.found_within_3.value, 2 / 3)
    assert.equal(report.mean_delay_steps.value, 1 / 2)
    assert.equal(report.clean_runs_alarmed.value, 1 / 2)
  })

  test('without the first steps, runs of one step are gone', () => {
    const report = measureRuns(afterFirstStep(runs), 0)
    assert.deepEqual([report.runs, report.clean_runs, report.items], [3, 1, 7])
    assert.equal(report.clean_runs_alarmed.value, 0)
  })

  test('no runs at all are measured as null', () => {
    const report = measureRuns([])
    assert.deepEqual(report.auc, { value: null, low: null, high: null })
    assert.deepEqual(report.mean_delay_steps, { value: null, low: null, high: null })
  })
})

describe('intervals', () => {
  const mixed = Array.from({ length: 60 }, (_, place): Item => {
    const score = ((place * 37) % 60) / 60
    return [place % 3 === 0 ? 'drift' : 'same', score > 0.5, score]
  })

  test('are the same every time and hold the value', () => {
    const report = measurePairs(pairs(mixed))
    assert.deepEqual(measurePairs(pairs(mixed)), report)
    for (const { value, low, high } of [report.precision, report.recall, report.auc]) {
      assert.ok(value !== null && low !== null && high !== null)
      assert.ok(low < value && value < high, `${value} [${low}, ${high}]`)
    }
  })

  test('agree with the normal approximation on many pairs', () => {
    const many = Array.from({ length: 2000 }, (_, place): Item => ['same', place % 5 === 0, 0])
    const { low, high } = measurePairs(pairs(many), 1000).false_alarms_per_1000
    const reach = 1960 * Math.sqrt((0.2 * 0.8) / 2000)
    assert.ok(Math.abs((low ?? 0) - (200 - reach)) < 3, `low ${low}`)
    assert.ok(Math.abs((high ?? 0) - (200 + reach)) < 3, `high ${high}`)
  })

  test('do not narrow when every step of a run is said ten times', () => {
    const tenfold = mixed.map((item) => run(Array(10).fill(item)))
    const once = measureRuns(pairs(mixed))
    const often = measureRuns(tenfold)
    assert.deepEqual(often.precision, once.precision)
    assert.deepEqual(often.auc, once.auc)
  })
})

describe('predictions', () => {
  const step = { label: 'same', progress: 'advancing', distance: null } as const
  const ground = 'Add rate limiting to the login endpoint'

  function labelled(steps: Labelled['steps']): Labelled {
    return { kind: 'run', ground, steps, source: null }
  }

  test('the first step is measured against the given ground', () => {
    const [first, second] = predict(
      'overlap',
      labelled([
        { ...step, goal: 'Redesign the logo' },
        { ...step, goal: ground },
      ]),
    )
    assert.deepEqual([first?.drifting, first?.phi, first?.score], [true, 0.5, 1])
    assert.deepEqual([second?.drifting, second?.phi, second?.score], [false, 0, 0])
  })

  test('a ground given with a step that cannot be spelled is not lost', () => {
    const [first, second] = predict(
      'overlap',
      labelled([
        { ...step, goal: ground, progress: 'lost' },
        { ...step, goal: 'Redesign the logo' },
      ]),
    )
    assert.equal(first?.drifting, true)
    assert.deepEqual([second?.drifting, second?.score], [true, 1])
  })

  test('a run stalls on reported distances, and never on missing ones', () => {
    const drifting = (distances: (number | null)[]) =>
      predict(
        'overlap',
        labelled(distances.map((distance) => ({ ...step, goal: ground, distance }))),
      ).map(({ drifting }) => drifting)
    assert.ok(drifting(Array(8).fill(5)).includes(true))
    assert.ok(!drifting(Array(8).fill(null)).includes(true))
    assert.ok(!drifting([5, 5, 5, 5, null, 5, 5, null, 5]).includes(true))
  })
})

describe('lines', () => {
  const pair = { ground: 'Fix the login', goal: 'Open login.ts', label: 'same' }
  const step = { goal: 'Open login.ts', label: 'drift' }

  test('a pair and a run are read, whatever else they carry', () => {
    assert.deepEqual(readLabelled({ ...pair, id: 7, kind: 'file', source: 'pr:cli' }), {
      kind: 'pair',
      ground: pair.ground,
      steps: [{ goal: pair.goal, label: 'same', progress: 'advancing', distance: null }],
      source: 'pr:cli',
    })
    assert.deepEqual(
      readLabelled({
        ground: pair.ground,
        steps: [
          { ...step, progress: 'stuck', distance: '7.9' },
          { ...step, progress: null, distance: null },
        ],
      }),
      {
        kind: 'run',
        ground: pair.ground,
        steps: [
          { goal: step.goal, label: 'drift', progress: 'stuck', distance: 7 },
          { goal: step.goal, label: 'drift', progress: 'advancing', distance: null },
        ],
        source: null,
      },
    )
  })

  const faults: [line: unknown, fault: string][] = [
    [null, 'must be a JSON object'],
    [[pair], 'must be a JSON object'],
    ['text', 'must be a JSON object'],
    [{}, 'ground must be a text that is not blank'],
    [{ ...pair, ground: ' ' }, 'ground must be a text that is not blank'],
    [{ ground: 'a' }, 'needs a goal (a pair), steps or events (a run)'],
    [{ ...pair, goal: 3 }, 'goal must be a text'],
    [{ ...pair, label: 'maybe' }, 'label must be "same" or "drift"'],
    [{ ...pair, label: undefined }, 'label must be "same" or "drift"'],
    [{ ...pair, source: 3 }, 'source must be a text'],
    [{ ground: 'a', steps: 'b' }, 'steps must be a list of at least one step'],
    [{ ground: 'a', steps: [] }, 'steps must be a list of at least one step'],
    [{ ground: 'a', steps: [step, null] }, 'goal of step 2 must be a text'],
    [{ ground: 'a', steps: [step, { goal: 'b' }] }, 'label of step 2 must be "same" or "drift"'],
  ]
  for (const [line, fault] of faults) {
    test(`${JSON.stringify(line)}: ${fault}`, () => {
      assert.deepEqual(readLabelled(line), { fault })
    })
  }
})
