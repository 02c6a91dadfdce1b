import type { JudgedSet } from '../src/core/evaluation/judged-set.ts'

const interval = String.raw`([\d.]+) \[([\d.]+), ([\d.]+)\]`
/** The sets of runs whose figures are published, by the line that begins them. */
const sets = ['runs, as written', 'authored runs, with their plans and messages of users']

/**
 * What is published of a table that `eval.ts` printed: the model and a row for each set of runs.
 * Throws if the table lacks one of them.
 */
export function publishedIn(table: string): { model: string; rows: JudgedSet[] } {
  const [, model] = partOf(table, /^model (\w+)/m)
  return { model: model as string, rows: sets.map((set) => rowOf(table, set)) }
}

function rowOf(table: string, runs: string): JudgedSet {
  const begin = `${table}\n`.indexOf(`\n${runs}\n`)
  if (begin < 0) throw new Error(`The table has no part “${runs}”.`)
  const own = table.slice(begin + 1).split('\n\n')[0] ?? ''
  const [, clean, ...alarmed] = partOf(own, new RegExp(`clean runs (\\d+), alarmed ${interval}`))
  const [, ...alarms] = partOf(own, new RegExp(`false alarms per 1,000 clean steps ${interval}`))
  const [, precision] = partOf(own, /precision at 10 % drift ([\d.]+)/)
  const found = own.matchAll(
    new RegExp(`^(\\w[\\w ]*?) +(\\d+)  ${interval} +${interval} +${interval}$`, 'gm'),
  )
  return {
    runs,
    clean_runs: Number(clean),
    alarmed: share(alarmed),
    false_alarms_per_1000: share(alarms),
    precision_at_10_percent: Number(precision),
    found: [...found].map(([, kind, count, ...shares]) => ({
      kind: kind as string,
      runs: Number(count),
      within_1: share(shares.slice(0, 3)),
      within_2: share(shares.slice(3, 6)),
      within_3: share(shares.slice(6)),
    })),
  }
}

function partOf(table: string, line: RegExp): string[] {
  const found = line.exec(table)
  if (found === null) throw new Error(`The table has no line like ${line}.`)
  return found
}

function share([value, low, high]: string[]) {
  return { value: Number(value), low: Number(low), high: Number(high) }
}
