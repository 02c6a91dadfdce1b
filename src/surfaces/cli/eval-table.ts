import { userEffects } from '../../core/detector/user/effects.ts'
import type {
  DetectionMeasures,
  Estimate,
  ItemCounts,
  ItemMeasures,
  SourceReport,
} from '../../core/evaluation/evaluation.ts'
import type { EffectReport, KindReport } from '../../core/evaluation/kinds.ts'
import type { Reliability } from '../../core/evaluation/reliability.ts'
import type { BudgetReport, Report, SweepRow } from '../../core/evaluation/report.ts'

/** Returns a report as tables. */
export function printReport({ detector, resamples, pairs, runs, ...report }: Report): string {
  const { sweep, reliability, budget, kinds, user_effects } = report
  const parts: string[] = []
  if (pairs !== null) {
    parts.push(`pairs judged by ${detector}: ${counted(pairs)}`)
    parts.push(table(measureCells(itemRows, [pairs]), 'left'))
    parts.push(table(sourceCells(pairs.sources, 'pairs'), 'right'))
    parts.push(table(sweepCells(sweep.pairs, false), 'right'))
    parts.push(...reliabilityTable(reliability.pairs, 'pairs'))
  }
  if (runs !== null && report.runs_after_first_step !== null) {
    const both = [runs, report.runs_after_first_step]
    parts.push(
      `runs judged by ${detector}: ${grouped(runs.runs)} (${grouped(runs.clean_runs)} clean), switches: ${grouped(runs.switches)}, steps: ${counted(runs)}`,
    )
    parts.push(
      table(
        [
          ['', 'every step', 'after the first'],
          ...measureCells(itemRows, both),
          ...measureCells(runRows, both),
        ],
        'left',
      ),
    )
    parts.push(table(sourceCells(runs.sources, 'steps'), 'right'))
    parts.push(table(sweepCells(sweep.runs, true), 'right'))
    parts.push(...reliabilityTable(reliability.runs, 'steps'))
  }
  if (kinds !== null) parts.push('drift by kind, with messages of the user', kindTable(kinds))
  if (user_effects !== null) {
    parts.push('messages of the user: meant, by what was read', effectTable(user_effects))
  }
  if (budget !== null) parts.push(...budgetTables(budget))
  if (resamples > 0) parts.push(`[…] is the 95 % interval from ${grouped(resamples)} resamples.`)
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function kindTable(kinds: readonly KindReport[]): string {
  return table(
    [
      [
        'kind',
        'steps',
        'recall',
        'noticed',
        'runs',
        'found on the 1st',
        'by the 2nd',
        'by the 3rd',
      ],
      ...kinds.map((kind) => [
        kind.kind,
        grouped(kind.steps),
        share(kind.recall),
        share(kind.noticed),
        grouped(kind.runs),
        printEstimate(kind.found_within_1, share),
        printEstimate(kind.found_within_2, share),
        printEstimate(kind.found_within_3, share),
      ]),
    ],
    'right',
  )
}

function effectTable(effects: readonly EffectReport[]): string {
  return table(
    [
      ['meant', 'messages', ...userEffects],
      ...effects.map(({ stated, messages, read }) => [
        stated,
        grouped(messages),
        ...userEffects.map((effect) => grouped(read[effect])),
      ]),
    ],
    'right',
  )
}

function budgetTables({ per_1000, pairs, runs }: BudgetReport): string[] {
  const parts: string[] = []
  if (pairs !== null) {
    parts.push(
      `pairs with at most ${per_1000} alarms per 1,000 clean, a score above ${threshold(pairs)}`,
    )
    parts.push(table(measureCells(itemRows, [pairs]), 'left'))
  }
  if (runs !== null) {
    parts.push(
      `runs with at most ${per_1000} alarms per 1,000 clean steps, a score above ${threshold(runs)}`,
    )
    parts.push(table([...measureCells(itemRows, [runs]), ...measureCells(runRows, [runs])], 'left'))
  }
  return parts
}

function threshold(swept: { threshold: number | null }): string {
  return swept.threshold === null ? 'any' : swept.threshold.toFixed(4)
}

function sweepCells(rows: readonly SweepRow[], areRuns: boolean): string[][] {
  if (rows.length === 0) return []
  const head = [
    'at most … alarms per 1,000 clean',
    'score above',
    'alarms',
    'recall',
    'precision at 10 %',
  ]
  const runHead = areRuns ? ['found by the 3rd', 'clean runs alarmed'] : []
  return [
    [...head, ...runHead],
    ...rows.map((row) => [
      String(row.budget),
      threshold(row),
      printNumber(row.false_alarms_per_1000, perThousand),
      printNumber(row.recall, share),
      printNumber(row.precision_at_10_percent, share),
      ...(areRuns
        ? [printNumber(row.found_within_3, share), printNumber(row.clean_runs_alarmed, share)]
        : []),
    ]),
  ]
}

function reliabilityTable(reliability: Reliability | null, items: string): string[] {
  if (reliability === null) return []
  const error = reliability.expected_calibration_error.toFixed(3)
  return [
    `stated probability of drift against the labels, at 10 % drift (expected calibration error ${error})`,
    table(
      [
        ['probability', items, 'said', 'measured'],
        ...reliability.rows.map(({ from, below, items: count, said, measured }) => [
          `${share(from)} to ${share(below)}`,
          grouped(count),
          share(said),
          share(measured),
        ]),
      ],
      'right',
    ),
  ]
}

type Print = (value: number) => string
type Rows<Name> = readonly (readonly [name: Name, label: string, print: Print])[]

const share: Print = (value) => value.toFixed(2)
const perThousand: Print = (value) => (value < 10 ? value.toFixed(1) : grouped(Math.round(value)))

const itemRows: Rows<keyof ItemMeasures<Estimate>> = [
  ['precision', 'precision', share],
  ['recall', 'recall', share],
  ['false_alarms_per_1000', 'false alarms per 1,000 clean', perThousand],
  ['auc', 'AUC', share],
  ['uncertain_share', 'answered uncertain', share],
  ['noticed', 'drift noticed (drifting or uncertain)', share],
  ['precision_at_10_percent', 'precision at 10 % drift', share],
]

const runRows: Rows<keyof DetectionMeasures<Estimate>> = [
  ['found_within_1', 'switches found on the 1st drifted step', share],
  ['found_within_2', 'switches found by the 2nd', share],
  ['found_within_3', 'switches found by the 3rd', share],
  ['mean_delay_steps', 'mean delay of those found, in steps', share],
  ['clean_runs_alarmed', 'clean runs with any alarm', share],
]

function measureCells<Name extends string>(
  rows: Rows<Name>,
  columns: readonly Record<Name, Estimate>[],
): string[][] {
  return rows.map(([name, label, print]) => [
    label,
    ...columns.map((measures) => printEstimate(measures[name], print)),
  ])
}

function printEstimate({ value, low, high }: Estimate, print: Print): string {
  const number = printNumber(value, print).padStart(4)
  return low === null || high === null ? number : `${number} [${print(low)}, ${print(high)}]`
}

function printNumber(value: number | null, print: Print): string {
  return value === null ? '–' : print(value)
}

function sourceCells(sources: readonly SourceReport[], items: string): string[][] {
  if (sources.every(({ source }) => source === null)) return []
  return [
    ['source', items, 'drift', 'AUC', 'precision', 'recall', 'false alarms per 1,000 clean'],
    ...sources.map(({ source, items, drift, auc, precision, recall, false_alarms_per_1000 }) => [
      source ?? '(none named)',
      grouped(items),
      grouped(drift),
      printNumber(auc, share),
      printNumber(precision, share),
      printNumber(recall, share),
      printNumber(false_alarms_per_1000, perThousand),
    ]),
  ]
}

function counted({ items, drift, same }: ItemCounts): string {
  return `${grouped(items)} (${grouped(drift)} drift, ${grouped(same)} same)`
}

/**
 * Lays out rows of cells in columns. The first column is on the left; the others take the side that makes
 * them easy to compare.
 */
function table(rows: readonly string[][], side: 'left' | 'right'): string {
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const lines = rows.map((row) =>
    row.map((cell, column) => {
      const width = widths?.[column] ?? 0
      return side === 'left' || column === 0 ? cell.padEnd(width) : cell.padStart(width)
    }),
  )
  return lines.map((cells) => `  ${cells.join('  ')}`.trimEnd()).join('\n')
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}
