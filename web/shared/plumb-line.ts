import { escapeHtml } from '../../src/core/html.ts'
import { fogOf, type Mark, markOf, mostPhi, xOf } from '../app/line/marks.ts'
import type { RecordedRun, RecordedStep } from '../product/recorded.ts'

/** A row of the drawing: a ground that was set or moved, words that moved nothing, or a step. */
export type Row<Step extends Drawn = Drawn> =
  | { kind: 'ground'; text: string; revision: number; isFirst: boolean }
  | { kind: 'said'; text: string; revision: number }
  | { kind: 'step'; step: Step; mark: Mark; isBack: boolean; revision: number }

/** What the drawing shows of a step. */
export interface Drawn extends Pick<RecordedStep, 'phi' | 'drifting' | 'confidence'> {
  /** A few words beside its mark. */
  note?: string
}

/** The rows of a recorded run. A step that is the ground, or that the user's words come with, has one for them. */
export function rowsOf(run: RecordedRun): Row<RecordedStep>[] {
  const rows: Row<RecordedStep>[] = []
  let revision = 0
  for (const [at, step] of run.entries()) {
    const isMoved = step.revision !== revision
    const isFirst = revision === 0
    revision = step.revision
    const ground = step.reason === 'grounded' ? step.goal : step.asked
    if (ground !== null && isMoved) rows.push({ kind: 'ground', text: ground, revision, isFirst })
    else if (step.asked !== null) rows.push({ kind: 'said', text: step.asked, revision })
    if (step.reason === 'grounded') continue
    const isBack = run[at - 1]?.drifting === true && !step.drifting && !isMoved
    rows.push({ kind: 'step', step, mark: markOf(step), isBack, revision })
  }
  return rows
}

/** How a drawing is laid out, in CSS pixels. */
export interface Layout {
  /** Where the line stands, and how wide the plot to its right is. */
  x: number
  plot: number
  width: number
  /** The heights of a row for a step and for a ground. */
  step: number
  ground: number
  /** How far the line hangs from above the first row; 0 begins it with a peg alone. */
  above: number
  end: 'bob' | 'bar'
}

const jog = 18
const bobHeight = 15

/** The height of the drawing of these rows. */
export function heightOf(rows: readonly Row[], layout: Layout): number {
  return layout.above + rows.reduce((sum, row) => sum + rowHeight(row, layout), 0) + 22
}

function rowHeight({ kind }: Row, { step, ground }: Layout): number {
  return kind === 'ground' ? ground : step
}

/** A step and where its mark hangs. */
interface Point {
  step: Drawn
  mark: Mark
  x: number
  y: number
  line: number
  revision: number
}

/** Draws a run as an SVG that says nothing which the words beside it do not. */
export function drawLine(rows: readonly Row[], layout: Layout, name = ''): string {
  const { x, plot, width, above, end } = layout
  const height = heightOf(rows, layout)
  const points: Point[] = []
  const joints: [number, number][] = []
  const line: [number, number][] = []
  let top = above
  let at = x
  let peg = ''
  for (const row of rows) {
    const y = top + rowHeight(row, layout) / 2
    top += rowHeight(row, layout)
    const next = x + (row.revision % 2 === 0 ? jog : 0)
    if (row.kind === 'ground' && row.isFirst) {
      line.push([at, above > 0 ? 0 : y])
      peg = path('peg', `M${at - 10} ${y}h20`)
    } else if (row.kind === 'ground') {
      line.push([at, y], [next, y])
      joints.push([next, y])
    }
    at = next
    if (row.kind !== 'step') continue
    // The phi of a step that cannot be read says nothing; its mark hangs where the one before does.
    const before = points.at(-1)
    const phi = row.mark === 'unreadable' ? (before?.step.phi ?? 0) : row.step.phi
    const markX = at + xOf(phi, plot)
    points.push({ step: row.step, mark: row.mark, x: markX, y, line: at, revision: row.revision })
  }
  const bottom = top + 4
  line.push([at, bottom])
  return [
    `<svg class="plumb${name === '' ? '' : ` ${name}`}" width="${width}" height="${round(height)}" viewBox="0 0 ${width} ${round(height)}" aria-hidden="true" focusable="false">`,
    fogs(points, plot),
    fills(points, layout.step),
    points.map(arm).join(''),
    threads(points),
    path('ground', polyline(line)),
    peg,
    joints.map(([jx, jy]) => circle('joint', jx, jy, 5) + circle('dot', jx, jy, 2)).join(''),
    points.map(markAt).join(''),
    end === 'bar' ? path('peg', `M${at - 5} ${bottom}h10`) : '',
    end === 'bob'
      ? `<g class="bob" transform="translate(${at} ${bottom})"><path d="M-4.6 0h9.2l-1.2 7L0 ${bobHeight}l-3.4-8z"/></g>`
      : '',
    '</svg>',
  ].join('')
}

/** Draws one mark by itself, for a legend or a heading. */
export function drawMark(mark: Mark): string {
  const point = { mark, x: 8, y: 8 }
  return `<svg class="plumb sign" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" focusable="false">${markShape(point)}</svg>`
}

function arm({ line, x, y, step }: Point): string {
  return path(step.drifting ? 'arm drift' : 'arm', `M${line} ${y}H${round(x)}`)
}

/** Between neighbouring steps of one ground. */
function threads(points: readonly Point[]): string {
  return points
    .slice(1)
    .map((to, at) => {
      const from = points[at]
      if (from === undefined || from.revision !== to.revision) return ''
      const both = from.step.drifting && to.step.drifting
      return path(
        both ? 'thread drift' : 'thread',
        polyline([
          [from.x, from.y],
          [to.x, to.y],
        ]),
      )
    })
    .join('')
}

/** From the line to the thread over consecutive drifting steps, half a row beyond. */
function fills(points: readonly Point[], row: number): string {
  return stretches(
    points,
    (one, other) => one.revision === other.revision && one.step.drifting === other.step.drifting,
  )
    .filter(([first]) => first?.step.drifting === true)
    .map((stretch) => {
      const [first, last] = [stretch[0], stretch.at(-1)]
      if (first === undefined || last === undefined) return ''
      const above = first.y - row / 2
      const below = last.y + row / 2
      const outline: [number, number][] = [
        [first.line, above],
        [first.x, above],
        ...stretch.map(({ x, y }): [number, number] => [x, y]),
        [last.x, below],
        [first.line, below],
      ]
      return path('fill', `${polyline(outline)}z`)
    })
    .join('')
}

/** The blur says how sure each verdict is: three nested ribbons, clipped at the line. */
function fogs(points: readonly Point[], plot: number): string {
  return stretches(points, (one, other) => one.revision === other.revision)
    .flatMap((stretch) =>
      [1, 0.7, 0.4].map((share) => {
        const edge = (side: number) =>
          stretch.map(({ x, y, line, step, mark }): [number, number] => {
            const half = mark === 'unreadable' ? 0 : (fogOf(step) * share * plot) / mostPhi
            return [Math.max(line, x + side * half), y]
          })
        return path('fog', `${polyline([...edge(1), ...edge(-1).toReversed()])}z`)
      }),
    )
    .join('')
}

/** Cuts a list where neighbours do not belong together. */
function stretches(
  points: readonly Point[],
  belong: (one: Point, other: Point) => boolean,
): Point[][] {
  const all: Point[][] = []
  for (const point of points) {
    const last = all.at(-1)
    const before = last?.at(-1)
    if (last !== undefined && before !== undefined && belong(before, point)) last.push(point)
    else all.push([point])
  }
  return all
}

function markAt(point: Point): string {
  const { step, x, y } = point
  const beyond = step.phi > mostPhi ? `» ${step.phi.toFixed(2)}` : ''
  const note = step.note ?? beyond
  if (note === '') return markShape(point)
  return `${markShape(point)}<text x="${round(x + 14)}" y="${y + 4.5}">${escapeHtml(note)}</text>`
}

function markShape({ mark, x, y }: Pick<Point, 'mark' | 'x' | 'y'>): string {
  const r = 3.4
  switch (mark) {
    case 'on':
    case 'uncertain':
      return circle(`mark ${mark}`, x, y, mark === 'on' ? r + 0.6 : r)
    case 'name':
      return path('mark name', `M${round(x - r)} ${round(y - r)}h${2 * r}v${2 * r}h${-2 * r}z`)
    case 'unreadable':
      return path(
        'mark unreadable',
        `M${round(x - r)} ${round(y - r)}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`,
      )
    default:
      return path(`mark ${mark}`, `M${round(x)} ${round(y - 5)}l5 5l-5 5l-5-5z`)
  }
}

function path(name: string, d: string): string {
  return `<path class="${name}" d="${d}"/>`
}

function circle(name: string, x: number, y: number, r: number): string {
  return `<circle class="${name}" cx="${round(x)}" cy="${round(y)}" r="${r}"/>`
}

function polyline(points: readonly (readonly [number, number])[]): string {
  return points.map(([x, y], at) => `${at === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
