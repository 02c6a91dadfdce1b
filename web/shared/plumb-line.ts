import { escapeHtml } from '../../src/core/html.ts'
import type { RecordedRun, RecordedStep } from '../product/recorded.ts'
import {
  beyondText,
  bobPath,
  fillsOf,
  fogsOf,
  groundOf,
  type Hung,
  jogOf,
  joint,
  type Mark,
  markOf,
  markPath,
  pathThrough,
  round,
  type Turn,
  threadsOf,
  xOf,
} from './line.ts'

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

/** The height of the drawing of these rows. */
export function heightOf(rows: readonly Row[], layout: Layout): number {
  return layout.above + rows.reduce((sum, row) => sum + rowHeight(row, layout), 0) + 22
}

function rowHeight({ kind }: Row, { step, ground }: Layout): number {
  return kind === 'ground' ? ground : step
}

/** A step and where its mark hangs. */
interface Point extends Hung {
  step: Drawn
}

/** Draws a run as an SVG that says nothing which the words beside it do not. */
export function drawLine(rows: readonly Row[], layout: Layout, name = ''): string {
  const { x, plot, width, above, end } = layout
  const height = heightOf(rows, layout)
  const points: Point[] = []
  const turns: Turn[] = []
  let top = above
  let peg = 0
  let firstRevision = 1
  for (const row of rows) {
    const rowTop = top
    top += rowHeight(row, layout)
    const y = (rowTop + top) / 2
    if (row.kind === 'ground' && row.isFirst) {
      peg = y
      firstRevision = row.revision
    } else if (row.kind === 'ground') turns.push({ y, revision: row.revision })
    if (row.kind !== 'step') continue
    // The phi of a step that cannot be read says nothing; its mark hangs where the one before does.
    const before = points.at(-1)
    const phi = row.mark === 'unreadable' ? (before?.step.phi ?? 0) : row.step.phi
    const line = x + jogOf(row.revision)
    points.push({
      ...row.step,
      step: row.step,
      mark: row.mark,
      x: line + xOf(phi, plot),
      y,
      line,
      height: layout.step,
      revision: row.revision,
    })
  }
  const bottom = top + 4
  const ground = groundOf(x, { top: above > 0 ? 0 : peg, bottom, firstRevision, turns })
  return [
    `<svg class="plumb${name === '' ? '' : ` ${name}`}" width="${width}" height="${round(height)}" viewBox="0 0 ${width} ${round(height)}" aria-hidden="true" focusable="false">`,
    ...fogsOf(points, plot).map((outline) => path('fog', pathThrough(outline, true))),
    ...fillsOf(points).map((outline) => path('fill', pathThrough(outline, true))),
    ...points.map(arm),
    ...threadsOf(points).map(({ from, to, drifts }) =>
      path(
        drifts ? 'thread drift' : 'thread',
        pathThrough([
          [from.x, from.y],
          [to.x, to.y],
        ]),
      ),
    ),
    path('ground', pathThrough(ground.line)),
    path('peg', `M${ground.start - 10} ${peg}h20`),
    ...ground.joints.map(
      ([jx, jy]) => circle('joint', jx, jy, joint.ring) + circle('dot', jx, jy, joint.dot),
    ),
    ...points.map(markAt),
    end === 'bar' ? path('peg', `M${ground.end - 5} ${bottom}h10`) : '',
    end === 'bob'
      ? `<g class="bob" transform="translate(${ground.end} ${bottom})"><path d="${bobPath}"/></g>`
      : '',
    '</svg>',
  ].join('')
}

/** Draws one mark by itself, for a legend or a heading. */
export function drawMark(mark: Mark): string {
  return `<svg class="plumb sign" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" focusable="false">${markShape({ mark, x: 8, y: 8 })}</svg>`
}

function arm({ line, x, y, step }: Point): string {
  return path(step.drifting ? 'arm drift' : 'arm', `M${line} ${y}H${round(x)}`)
}

function markAt(point: Point): string {
  const { step, x, y } = point
  const note = step.note ?? beyondText(step.phi)
  if (note === '') return markShape(point)
  return `${markShape(point)}<text x="${round(x + 14)}" y="${y + 4.5}">${escapeHtml(note)}</text>`
}

function markShape({ mark, x, y }: Pick<Point, 'mark' | 'x' | 'y'>): string {
  return `<path class="mark ${mark}" transform="translate(${round(x)} ${round(y)})" d="${markPath(mark)}"/>`
}

function path(name: string, d: string): string {
  return `<path class="${name}" d="${d}"/>`
}

function circle(name: string, x: number, y: number, r: number): string {
  return `<circle class="${name}" cx="${round(x)}" cy="${round(y)}" r="${r}"/>`
}
