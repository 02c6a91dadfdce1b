import { isGood, resultOf, type Trial } from './trial.ts'

/** The trials of one experiment. */
export interface Played {
  readonly name: string
  readonly trials: readonly Trial[]
}

/** Writes an experiment as one line of JSON. */
export function lineOf({ name, trials }: Played): string {
  const shown = trials.map((trial) => ({
    on: trial.on,
    wrong: trial.wrong?.how ?? null,
    ...trial.measured,
    result: resultOf(trial),
  }))
  return JSON.stringify({ experiment: name, ok: trials.every(isGood), trials: shown })
}

/** Writes the trials as a Markdown table with aligned columns. */
export function tableOf(played: readonly Played[]): string {
  const rows = played.flatMap(({ name, trials }) => trials.map((trial) => cellsOf(name, trial)))
  const lines = [headings, ...rows]
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  )
  const pad = (cell: string, column: number) =>
    numeric(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  const rule = widths.map((width, column) =>
    numeric(column) ? `${dashes(width - 1)}:` : dashes(width),
  )
  return [headings.map(pad), rule, ...rows.map((cells) => cells.map(pad))]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('')
}

const headings = [
  'experiment',
  'on',
  'server',
  'acknowledged',
  'lost',
  'duplicated',
  '5xx',
  'ready ms',
  'p50 ms',
  'p99 ms',
  'slowest ms',
  'seen',
  'result',
]

function numeric(column: number): boolean {
  return column >= 3 && column <= 10
}

function cellsOf(name: string, trial: Trial): string[] {
  const { on, wrong, measured } = trial
  const { acknowledged, lost, duplicated, answers5xx, readyMs, p50Ms, p99Ms, slowestMs, seen } =
    measured
  return [
    name,
    on,
    wrong === null ? 'as it is' : `wrong: ${wrong.how}`,
    ...[acknowledged, lost, duplicated, answers5xx, readyMs].map(whole),
    ...[p50Ms, p99Ms].map((ms) => (ms === null ? '' : ms.toPrecision(3))),
    whole(slowestMs),
    seen,
    resultOf(trial),
  ].map((cell) => cell.replaceAll('|', '/').replaceAll('\n', ' '))
}

function whole(value: number | null): string {
  return value === null ? '' : Math.round(value).toLocaleString('en')
}

function dashes(count: number): string {
  return '-'.repeat(count)
}
