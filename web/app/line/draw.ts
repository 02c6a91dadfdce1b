import {
  beyondText,
  fillsOf,
  fogsOf,
  groundOf,
  type Hung,
  jogOf,
  joint,
  type Mark,
  markPath,
  markRadius,
  type Place,
  type Turn,
  threadsOf,
  xOf,
} from '../../shared/line.ts'

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

/** Reads the colours that the theme of now has. That makes the browser lay out, so it is for no frame of a scroll. */
export function readInk(): Ink {
  const style = getComputedStyle(document.documentElement)
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

/** Draws what belongs to the steps of one agent: arms, fog, fill, threads and marks. */
export function drawThread(pen: Pen, ink: Ink, points: readonly Point[], frame: Frame): void {
  const { x, width, scale } = frame
  const steps = points.map((point): Point & Hung => {
    const line = x + jogOf(point.revision) * scale
    return { ...point, line, x: line + xOf(point.phi, width) }
  })
  pen.fillStyle = ink.fog
  for (const outline of fogsOf(steps, width)) fill(pen, outline)
  pen.fillStyle = ink.driftFill
  for (const outline of fillsOf(steps)) fill(pen, outline)
  pen.lineWidth = 1
  for (const step of steps) {
    pen.strokeStyle = step.drifting ? ink.drift : ink.arm
    pen.globalAlpha = step.drifting ? 0.6 : 1
    stroke(pen, [
      [step.line, step.y],
      [step.x, step.y],
    ])
  }
  const weight = Math.max(scale, 0.75)
  for (const { from, to, drifts } of threadsOf(steps)) {
    pen.strokeStyle = drifts ? ink.drift : ink.ink
    pen.globalAlpha = drifts ? 1 : 0.8
    pen.lineWidth = (drifts ? 2 : 1.4) * weight
    stroke(pen, [
      [from.x, from.y],
      [to.x, to.y],
    ])
  }
  pen.globalAlpha = 1
  for (const step of steps) drawMark(pen, ink, step, frame)
}

function drawMark(pen: Pen, ink: Ink, { mark, phi, x, y }: Point & Hung, { scale }: Frame): void {
  const beyond = scale === 1 ? beyondText(phi) : ''
  if (beyond !== '') {
    pen.fillStyle = ink.text
    pen.font = '11px system-ui, sans-serif'
    pen.textBaseline = 'middle'
    pen.fillText(beyond, x + 8, y)
  }
  const [inside, outside, lineWidth] = looksOf(mark, ink)
  const shape = shapeOf(mark, markRadius * Math.max(scale, 0.7))
  pen.translate(x, y)
  if (inside !== null) {
    pen.fillStyle = inside
    pen.fill(shape)
  }
  if (outside !== null) {
    pen.strokeStyle = outside
    pen.lineWidth = lineWidth
    pen.stroke(shape)
  }
  pen.translate(-x, -y)
}

/** The colour inside a mark, that of its outline, and how wide that is. */
function looksOf(mark: Mark, ink: Ink): [string | null, string | null, number] {
  switch (mark) {
    case 'on':
      return [ink.ink, null, 0]
    case 'uncertain':
      return [ink.bg, ink.ink, 1.5]
    case 'name':
      return [ink.bg, ink.warn, 2]
    case 'unreadable':
      return [null, ink.warn, 1.8]
    case 'drift':
      return [ink.drift, ink.drift, 1.5]
    case 'unsure-drift':
      return [ink.bg, ink.drift, 1.5]
  }
}

/** The shapes of the marks, each parsed once. */
const shapes = new Map<string, Path2D>()

function shapeOf(mark: Mark, r: number): Path2D {
  const name = `${mark} ${r}`
  const known = shapes.get(name)
  if (known !== undefined) return known
  const shape = new Path2D(markPath(mark, r))
  shapes.set(name, shape)
  return shape
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
  const { top, bottom, hasPeg, isOver, narrow = false } = line
  const ground = groundOf(x, line, scale)
  pen.strokeStyle = ink.ground
  pen.lineWidth = narrow ? 1.5 : 2
  stroke(pen, ground.line)
  const peg = narrow ? 4 : 10
  if (hasPeg) {
    stroke(pen, [
      [ground.start - peg, top],
      [ground.start + peg, top],
    ])
  }
  for (const [jx, jy] of ground.joints) drawJoint(pen, ink, jx, jy)
  if (isOver) {
    stroke(pen, [
      [ground.end - peg / 2, bottom],
      [ground.end + peg / 2, bottom],
    ])
  }
}

function drawJoint(pen: Pen, ink: Ink, x: number, y: number): void {
  pen.beginPath()
  pen.arc(x, y, joint.ring, 0, 2 * Math.PI)
  pen.fillStyle = ink.bg
  pen.fill()
  pen.stroke()
  pen.beginPath()
  pen.arc(x, y, joint.dot, 0, 2 * Math.PI)
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

function stroke(pen: Pen, points: readonly Place[]): void {
  pen.beginPath()
  for (const [x, y] of points) pen.lineTo(x, y)
  pen.stroke()
}

function fill(pen: Pen, points: readonly Place[]): void {
  pen.beginPath()
  for (const [x, y] of points) pen.lineTo(x, y)
  pen.closePath()
  pen.fill()
}
