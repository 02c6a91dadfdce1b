// What the plumb line looks like: where each part stands, and the shapes of its marks. Canvas, SVG in pages and SVG in
// components draw it from here.
import type { StoredStep } from '../../src/surfaces/client/client.ts'

/** What the shape of a step says; the colour repeats it. */
export type Mark = 'on' | 'uncertain' | 'name' | 'drift' | 'unsure-drift' | 'unreadable'

type Judged = Pick<StoredStep, 'drifting' | 'reason'> &
  Partial<Pick<StoredStep, 'confidence' | 'uncertain' | 'swap'>>

/** The mark of a step. A name differs only where the swapped pair is no plain word. */
export function markOf({ drifting, reason, confidence, uncertain, swap }: Judged): Mark {
  if (reason === 'ungrammatical') return 'unreadable'
  if (drifting) return (confidence ?? 1) < 0.5 ? 'unsure-drift' : 'drift'
  if (swap !== null && swap !== undefined) return 'name'
  return uncertain === true ? 'uncertain' : 'on'
}

/** What a mark says in words, for a chip and for a screen reader. */
export const saysOfMark: Record<Mark, string> = {
  on: 'on the errand',
  uncertain: 'uncertain',
  name: 'a name differs',
  drift: 'drifting',
  'unsure-drift': 'drifting',
  unreadable: 'unreadable',
}

/** Displacements above this stand at the edge of the plot, with their number. */
export const mostPhi = 0.7

/** Where a displacement stands on a plot of this width. */
export function xOf(phi: number, width: number): number {
  return (Math.min(phi, mostPhi) / mostPhi) * width
}

/** Half the width of the fog around a step, in units of phi: wide where the verdict is a coin toss. */
export function fogOf({
  drifting,
  confidence,
}: Pick<StoredStep, 'drifting' | 'confidence'>): number {
  if (confidence === null) return 0
  const p = drifting ? confidence : 1 - confidence
  return 0.14 * (1 - Math.abs(2 * p - 1))
}

/** A place in a drawing, in pixels. */
export type Place = readonly [number, number]

/** A step that hangs from the line. */
export interface Hung {
  /** Where its mark is. */
  x: number
  y: number
  /** Where the line stands beside it. */
  line: number
  /** The height of its row. */
  height: number
  drifting: boolean
  confidence: number | null
  mark: Mark
  revision: number
}

const jog = 18

/** How far the line of a revision stands to the right: each move of the ground goes right, the next one back. */
export function jogOf(revision: number): number {
  return revision % 2 === 0 && revision > 0 ? jog : 0
}

/** Between neighbouring steps of one ground. */
export function threadsOf<Step extends Pick<Hung, 'x' | 'y' | 'revision' | 'drifting'>>(
  steps: readonly Step[],
): { from: Step; to: Step; drifts: boolean }[] {
  return steps.slice(1).flatMap((to, at) => {
    const from = steps[at]
    if (from === undefined || from.revision !== to.revision) return []
    return [{ from, to, drifts: from.drifting && to.drifting }]
  })
}

/** The outlines from the line to the thread over consecutive drifting steps, half a row beyond. */
export function fillsOf(
  steps: readonly Pick<Hung, 'x' | 'y' | 'line' | 'height' | 'revision' | 'drifting'>[],
): Place[][] {
  return stretches(
    steps,
    (one, other) => one.revision === other.revision && one.drifting === other.drifting,
  )
    .filter(([first]) => first?.drifting === true)
    .map((stretch) => {
      const [first, last] = [stretch[0], stretch.at(-1)]
      if (first === undefined || last === undefined) return []
      const above = first.y - first.height / 2
      const below = last.y + last.height / 2
      return [
        [first.line, above],
        [first.x, above],
        ...stretch.map(({ x, y }): Place => [x, y]),
        [last.x, below],
        [last.line, below],
      ]
    })
}

/**
 * The outlines of the blur that says how sure each verdict is, on a plot of this width: three nested ribbons for the
 * steps of each ground, clipped at the line.
 */
export function fogsOf(steps: readonly Hung[], plot: number): Place[][] {
  return stretches(steps, (one, other) => one.revision === other.revision).flatMap((stretch) => {
    const [first, last] = [stretch[0], stretch.at(-1)]
    if (first === undefined || last === undefined) return []
    // A step by itself has a ribbon as high as its row.
    const rows =
      stretch.length > 1
        ? stretch
        : [
            { ...first, y: first.y - first.height / 2 },
            { ...last, y: last.y + last.height / 2 },
          ]
    return [1, 0.7, 0.4].map((share) => {
      const edge = (side: number) =>
        rows.map((step): Place => {
          const half = step.mark === 'unreadable' ? 0 : (fogOf(step) * share * plot) / mostPhi
          return [Math.max(step.line, step.x + side * half), step.y]
        })
      return [...edge(1), ...edge(-1).reverse()]
    })
  })
}

/** Cuts a list where neighbours do not belong together. */
export function stretches<Item>(
  items: readonly Item[],
  belong: (one: Item, other: Item) => boolean,
): Item[][] {
  const all: Item[][] = []
  for (const item of items) {
    const last = all.at(-1)
    const before = last?.at(-1)
    if (last !== undefined && before !== undefined && belong(before, item)) last.push(item)
    else all.push([item])
  }
  return all
}

/** A place where the ground moved. */
export interface Turn {
  y: number
  revision: number
}

/** The ground as a line from `top` to `bottom`, with a jog at each turn, and the joints of these jogs. */
export function groundOf(
  x: number,
  {
    top,
    bottom,
    firstRevision,
    turns,
  }: { top: number; bottom: number; firstRevision: number; turns: readonly Turn[] },
  scale = 1,
): { line: Place[]; joints: Place[]; start: number; end: number } {
  const start = x + jogOf(firstRevision) * scale
  const line: Place[] = [[start, top]]
  const joints: Place[] = []
  let end = start
  for (const { y, revision } of turns) {
    const next = x + jogOf(revision) * scale
    line.push([end, y], [next, y])
    joints.push([next, y])
    end = next
  }
  line.push([end, bottom])
  return { line, joints, start, end }
}

/** The radius of a mark on the main line. */
export const markRadius = 3.4
/** The radii of the ring and of the dot of a joint. */
export const joint = { ring: 5, dot: 2 } as const

/** The shape of a mark around the origin, as the path of an SVG. */
export function markPath(mark: Mark, r = markRadius): string {
  const w = 2 * r
  switch (mark) {
    case 'on':
    case 'uncertain':
      return `M${-r} 0a${r} ${r} 0 1 0 ${w} 0a${r} ${r} 0 1 0 ${-w} 0z`
    case 'name':
      return `M${-r} ${-r}h${w}v${w}h${-w}z`
    case 'unreadable':
      return `M${-r} ${-r}L${r} ${r}M${r} ${-r}L${-r} ${r}`
    default: {
      const d = round(r + 1.6)
      return `M0 ${-d}L${d} 0L0 ${d}L${-d} 0z`
    }
  }
}

/** The bob below the end of a live line, as the path of an SVG. */
export const bobPath = 'M-4.6 0h9.2l-1.2 7L0 15l-3.4-8z'

/** The number beside a mark that stands at the edge of the plot; empty for any other. */
export function beyondText(phi: number): string {
  return phi > mostPhi ? `» ${phi.toFixed(2)}` : ''
}

/** The path of an SVG through these places. */
export function pathThrough(places: readonly Place[], isClosed = false): string {
  const d = places.map(([x, y], at) => `${at === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('')
  return isClosed ? `${d}z` : d
}

/** To a tenth of a pixel. */
export function round(value: number): number {
  return Math.round(value * 10) / 10
}
