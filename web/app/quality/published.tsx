import type { ComponentChildren } from 'preact'
import type { Interval, JudgedSet, Quality } from './quality-read.ts'

const kinds: Record<string, string> = {
  foreign: 'Another topic',
  neighbour: 'A neighbouring errand',
  creep: 'The scope grows',
  entity: 'Another name or number',
  opposite: 'The opposite act',
  hijack: 'An instruction from outside',
  rabbit: 'A detail takes over',
  'any kind': 'Any of these',
}

/** The figures of the repository, with the command that reproduces them. */
export function Published({ of: { data, command, model, rows } }: { of: Quality['published'] }) {
  const found = [...new Set(rows.flatMap((row) => row.found.map(({ kind }) => kind)))]
  return (
    <section class="published" aria-label="On errands that no training saw">
      <h2>On errands that no training saw</h2>
      <p class="says">
        {data.charAt(0).toUpperCase() + data.slice(1)}. <code>{command}</code>
      </p>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">Measure</span>
            </th>
            {rows.map((row, at) => (
              <th key={row.runs} scope="col" class="number">
                {at === 0 ? 'as written' : 'authored'}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Line
            name="Precision where one step in ten drifts"
            rows={rows}
            show={(row) => <b>{share(row.precision_at_10_percent)}</b>}
          />
          <Line
            name="False alarms per 1,000 clean steps"
            rows={rows}
            show={(row) => (
              <Value of={row.false_alarms_per_1000} show={(value) => value.toFixed(1)} />
            )}
          />
          <Line
            name="Clean runs with any alarm"
            rows={rows}
            show={(row) => <Value of={row.alarmed} show={share} />}
          />
          <tr class="published-group">
            <th scope="rowgroup" colSpan={rows.length + 1}>
              Drift noticed within 3 steps
            </th>
          </tr>
          {found.map((kind) => (
            <Line
              key={kind}
              name={kinds[kind] ?? kind}
              rows={rows}
              show={(row) => {
                const of = row.found.find((each) => each.kind === kind)
                return of === undefined ? '–' : <Value of={of.within_3} show={share} />
              }}
            />
          ))}
        </tbody>
      </table>
      <p class="hint">
        {rows.map((row, at) => (
          <span key={row.runs}>
            {at === 0 ? 'As written: ' : 'Authored: '}
            {row.runs}, {row.clean_runs} of them clean.{' '}
          </span>
        ))}
        Model <code>{model}</code>.
      </p>
    </section>
  )
}

function Line({
  name,
  rows,
  show,
}: {
  name: string
  rows: readonly JudgedSet[]
  show: (row: JudgedSet) => ComponentChildren
}) {
  return (
    <tr>
      <th scope="row">{name}</th>
      {rows.map((row) => (
        <td key={row.runs} class="number">
          {show(row)}
        </td>
      ))}
    </tr>
  )
}

function Value({ of, show }: { of: Interval; show: (value: number) => string }) {
  return (
    <>
      <b>{show(of.value)}</b>
      <small>
        {show(of.low)}–{show(of.high)}
      </small>
    </>
  )
}

/** A share without its zero, `.67`. */
function share(value: number): string {
  return value === 1 ? '1.00' : value.toFixed(2).replace(/^0/, '')
}
