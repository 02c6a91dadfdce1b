import { fogOf, type Mark, mostPhi, xOf } from './marks.ts'

/** The colours of the drawing, read from the tokens of the page. */
export interface Ink {
  ground: string
  ink: string
  arm: string
  line: string
  bg: string
  drift: string
  driftFill: string
  warn: string
  fog: string
  text: string
}

/** Reads the colours that the theme of now has. */
export function readInk(element: Element): Ink {
  const style = getComputedStyle(element)
  const of = (name: string) => style.getPropertyValue(name).trim()
  return {
    ground: of('--ground'),
    ink: of('--ink'),
    arm: of('--arm'),
    line: of('--line'),
    bg: of('--bg'),
    drift: of('--drift-mark'),
    driftFill: of('--drift-fill'),
    warn: of('--warn-mark'),
    fog: of('--fog'),
    text: of('--ink-3'),
  }
}

/** A step in the drawing. */
export interface Point {
  /** Where its row is, in pixels from the top. */
  y: number
  /** The height of its row. */
  height: number
  phi: number
  drifting: boolean
  confidence: number | null
  mark: Mark
  revision: number
}

/** Where a line stands and how wide its plot is. */
export interface Frame {
  x: number
  width: number
  /** 1 for the main line, less for a lane. */
  scale: number
}

type Pen = CanvasRenderingContext2D

const jog = 18

/** How far the line of a revision stands to the right: each move of the ground goes right, the next one back. */
export function jogOf(revision: number): number {
  return revision % 2 === 0 && revision > 0 ? jog : 0
}

/** Draws what belongs to the steps of one agent: arms, fog, fill, threads and marks. */
export function drawThread(pen: Pen, ink: Ink, points: readonly Point[], frame: Frame): void {
  const xs = points.map((point) => placeOf(point, frame))
  drawFog(pen, ink, points, xs, frame)
  drawFill(pen, ink, points, xs, frame)
  pen.lineWidth = 1
  points.forEach((point, at) => {
    pen.strokeStyle = point.drifting ? ink.drift : ink.arm
    pen.globalAlpha = point.drifting ? 0.6 : 1
    stroke(pen, [
      [frame.x + jogOf(point.revision) * frame.scale, point.y],
      [xs[at] ?? 0, point.y],
    ])
  })
  pen.globalAlpha = 1
  for (let at = 1; at < points.length; at++) {
    const [from, to] = [points[at - 1], points[at]]
    if (from === undefined || to === undefined || from.revision !== to.revision) continue
    const both = from.drifting && to.drifting
    pen.strokeStyle = both ? ink.drift : ink.ink
    pen.globalAlpha = both ? 1 : 0.8
    pen.lineWidth = both ? 2 * Math.max(frame.scale, 0.75) : 1.4 * Math.max(frame.scale, 0.75)
    stroke(pen, [
      [xs[at - 1] ?? 0, from.y],
      [xs[at] ?? 0, to.y],
    ])
  }
  pen.globalAlpha = 1
  for (const [at, point] of points.entries()) drawMark(pen, ink, point, xs[at] ?? 0, frame)
}

function placeOf({ phi, revision }: Point, { x, width, scale }: Frame): number {
  return x + jogOf(revision) * scale + xOf(phi, width)
}

/** The blur says how sure the verdict is; it is clipped at the line. */
function drawFog(
  pen: Pen,
  ink: Ink,
  points: readonly Point[],
  xs: readonly number[],
  { x, width, scale }: Frame,
): void {
  pen.fillStyle = ink.fog
  for (const share of [1, 0.7, 0.4]) {
    for (let at = 0; at < points.length; at++) {
      const group: number[] = []
      const first = points[at]
      if (first === undefined) continue
      for (let to = at; points[to]?.revision === first.revision; to++) group.push(to)
      const left = x + jogOf(first.revision) * scale
      const edge = (place: number, side: number): [number, number] => {
        const point = points[place]
        const half = point === undefined ? 0 : (fogOf(point) * share * width) / mostPhi
        return [Math.max(left, (xs[place] ?? 0) + side * half), point?.y ?? 0]
      }
      if (group.length > 1) {
        const outline = [
          ...group.map((place) => edge(place, 1)),
          ...group.toReversed().map((place) => edge(place, -1)),
        ]
        fill(pen, outline)
      } else {
        const [right, y] = edge(at, 1)
        const [leftEdge] = edge(at, -1)
        pen.fillRect(leftEdge, y - first.height / 2, right - leftEdge, first.height)
      }
      at += group.length - 1
    }
  }
}

/** From the line to the thread over consecutive drifting steps, half a row beyond. */
function drawFill(
  pen: Pen,
  ink: Ink,
  points: readonly Point[],
  xs: readonly number[],
  { x, scale }: Frame,
): void {
  pen.fillStyle = ink.driftFill
  for (let at = 0; at < points.length; at++) {
    const first = points[at]
    if (first === undefined || !first.drifting) continue
    let to = at
    while (points[to + 1]?.drifting === true && points[to + 1]?.revision === first.revision) to++
    const last = points[to] ?? first
    const left = x + jogOf(first.revision) * scale
    const right: [number, number][] = []
    for (let place = at; place <= to; place++) right.push([xs[place] ?? 0, points[place]?.y ?? 0])
    fill(pen, [
      [left, first.y - first.height / 2],
      [xs[at] ?? 0, first.y - first.height / 2],
      ...right,
      [xs[to] ?? 0, last.y + last.height / 2],
      [left, last.y + last.height / 2],
    ])
    at = to
  }
}

function drawMark(pen: Pen, ink: Ink, point: Point, x: number, { scale }: Frame): void {
  const r = 3.4 * Math.max(scale, 0.7)
  const { y } = point
  if (point.phi > mostPhi && scale === 1) {
    pen.fillStyle = ink.text
    pen.font = '11px system-ui, sans-serif'
    pen.textBaseline = 'middle'
    pen.fillText(`» ${point.phi.toFixed(2)}`, x + 8, y)
  }
  pen.lineWidth = 1.5
  pen.beginPath()
  switch (point.mark) {
    case 'on':
      pen.fillStyle = ink.ink
      pen.arc(x, y, r, 0, 2 * Math.PI)
      pen.fill()
      return
    case 'uncertain':
      pen.fillStyle = ink.bg
      pen.strokeStyle = ink.ink
      pen.arc(x, y, r, 0, 2 * Math.PI)
      pen.fill()
      pen.stroke()
      return
    case 'name':
      pen.fillStyle = ink.bg
      pen.strokeStyle = ink.warn
      pen.lineWidth = 2
      pen.rect(x - r, y - r, 2 * r, 2 * r)
      pen.fill()
      pen.stroke()
      return
    case 'unreadable':
      pen.strokeStyle = ink.warn
      pen.lineWidth = 1.8
      pen.moveTo(x - r, y - r)
      pen.lineTo(x + r, y + r)
      pen.moveTo(x + r, y - r)
      pen.lineTo(x - r, y + r)
      pen.stroke()
      return
    default:
      pen.moveTo(x, y - r - 1.6)
      pen.lineTo(x + r + 1.6, y)
      pen.lineTo(x, y + r + 1.6)
      pen.lineTo(x - r - 1.6, y)
      pen.closePath()
      pen.fillStyle = point.mark === 'drift' ? ink.drift : ink.bg
      pen.strokeStyle = ink.drift
      pen.fill()
      pen.stroke()
  }
}

/** A place where the ground moved. */
export interface Turn {
  y: number
  revision: number
}

/** Draws the ground as a line: a peg at the first ground, a jog at each move, a bar at its end. */
export function drawGround(
  pen: Pen,
  ink: Ink,
  line: {
    top: number
    bottom: number
    turns: readonly Turn[]
    firstRevision: number
    hasPeg: boolean
    /** Whether the line has ended; a live one ends in the bob, which the page draws. */
    isOver: boolean
    narrow?: boolean
  },
  { x, scale }: Frame,
): void {
  const { top, bottom, turns, firstRevision, hasPeg, isOver, narrow = false } = line
  pen.strokeStyle = ink.ground
  pen.lineWidth = narrow ? 1.5 : 2
  const start = x + jogOf(firstRevision) * scale
  const points: [number, number][] = [[start, top]]
  let at = start
  for (const { y, revision } of turns) {
    const next = x + jogOf(revision) * scale
    points.push([at, y], [next, y])
    at = next
  }
  points.push([at, bottom])
  stroke(pen, points)
  const peg = narrow ? 4 : 10
  if (hasPeg) {
    stroke(pen, [
      [start - peg, top],
      [start + peg, top],
    ])
  }
  for (const { y, revision } of turns) drawJoint(pen, ink, x + jogOf(revision) * scale, y)
  if (isOver) {
    stroke(pen, [
      [at - peg / 2, bottom],
      [at + peg / 2, bottom],
    ])
  }
}

function drawJoint(pen: Pen, ink: Ink, x: number, y: number): void {
  pen.beginPath()
  pen.arc(x, y, 5, 0, 2 * Math.PI)
  pen.fillStyle = ink.bg
  pen.fill()
  pen.stroke()
  pen.beginPath()
  pen.arc(x, y, 2, 0, 2 * Math.PI)
  pen.fillStyle = ink.ground
  pen.fill()
}

/** Draws the branch from the main line to the line of a sub-agent. */
export function drawBranch(pen: Pen, ink: Ink, from: [number, number], to: [number, number]): void {
  pen.strokeStyle = ink.ground
  pen.globalAlpha = 0.6
  pen.lineWidth = 1.2
  pen.beginPath()
  pen.moveTo(from[0], from[1] - 10)
  pen.bezierCurveTo(from[0] - 4, from[1], to[0] + 10, from[1] - 4, to[0] + 6, from[1])
  pen.bezierCurveTo(to[0] + 2, from[1] + 2, to[0], from[1] + 4, to[0], to[1])
  pen.stroke()
  pen.globalAlpha = 1
}

function stroke(pen: Pen, points: readonly (readonly [number, number])[]): void {
  pen.beginPath()
  for (const [x, y] of points) pen.lineTo(x, y)
  pen.stroke()
}

function fill(pen: Pen, points: readonly (readonly [number, number])[]): void {
  pen.beginPath()
  for (const [x, y] of points) pen.lineTo(x, y)
  pen.closePath()
  pen.fill()
}
