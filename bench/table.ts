import { median } from './median.ts'

/** One measured claim. */
export interface Row {
  /** The name of the measurement, with the unit last. */
  measured: string
  /** Null if it could not be measured; `measured` then gives the reason. */
  ours: number | null
  /** The name of the peer in the same run, or ''. */
  against: string
  /** The value of the peer; null without a peer. */
  peer: number | null
  /** Ours ÷ peer: one ratio for each round, or one for all of them; empty without a peer. */
  ratios: readonly number[]
  /** The target of the ratio, or ''. */
  target: string
}

/**
 * Makes a row from the values of both sides, one for each round: the medians, and the ratio of each round.
 */
export function compared(
  measured: string,
  ours: readonly number[],
  against: string,
  peer: readonly number[],
  target = '',
): Row {
  return {
    measured,
    ours: median(ours),
    against,
    peer: median(peer),
    ratios: ours.map((value, round) => value / peer[round]!),
    target,
  }
}

/** Makes a row without a peer. */
export function alone(measured: string, ours: number | null, target = ''): Row {
  return { measured, ours, against: '', peer: null, ratios: [], target }
}

const textColumns: ReadonlySet<number> = new Set([0, 2])

/** Writes the rows as a Markdown table with aligned columns. */
export function tableOf(rows: readonly Row[]): string {
  const cells = [
    ['measured', 'Plumbline', 'against', 'peer', 'ratio', 'target'],
    ...rows.map(({ measured, ours, against, peer, ratios, target }) => [
      measured,
      written(ours),
      against,
      written(peer),
      writtenRatio(ratios),
      target,
    ]),
  ]
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  const pad = (cell: string, column: number) =>
    textColumns.has(column) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)
  const rule = widths.map(
    (width, column) => `${'-'.repeat(width - 1)}${textColumns.has(column) ? '-' : ':'}`,
  )
  const [head, ...body] = cells.map((row) => row.map(pad))
  return [head!, rule, ...body].map((row) => `| ${row.join(' | ')} |\n`).join('')
}

/** Rounds to three significant digits; from a hundred on, to whole numbers with commas. */
function written(value: number | null): string {
  if (value === null) return ''
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}

function writtenRatio(ratios: readonly number[]): string {
  if (ratios.length === 0) return ''
  const middle = median(ratios).toFixed(2)
  if (ratios.length === 1) return middle
  return `${middle} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`
}
