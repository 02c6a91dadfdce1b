import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { xOf } from '../../shared/line.ts'
import type { Ink } from '../line/draw.ts'
import { type Layout, placeAt } from './layout.ts'

const width = 84
const binHeight = 2

/** The whole run in one column: grey from least to most, the mean, and vermilion where any step drifts. */
export function Overview({
  layout,
  ink,
  height,
  scroller,
  top,
}: {
  layout: Layout
  ink: Ink
  /** Of the drawing, and of the part of the run that is seen. */
  height: number
  scroller: HTMLElement | null
  top: number
}) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const window = useRef<HTMLDivElement>(null)
  const scale = height / Math.max(1, layout.height)
  useEffect(() => {
    const element = canvas.current
    const pen = element?.getContext('2d') ?? null
    if (element === null || pen === null) return
    element.width = width * devicePixelRatio
    element.height = height * devicePixelRatio
    pen.scale(devicePixelRatio, devicePixelRatio)
    const bins = binsOf(layout, height)
    const x = (phi: number) => 18 + xOf(phi, width - 26)
    bins.forEach((bin, at) => {
      if (bin === null) return
      const y = at * binHeight
      pen.fillStyle = bin.drifts ? ink.drift : ink.arm
      if (bin.drifts) pen.fillRect(18, y, x(bin.most) - 18, binHeight)
      else pen.fillRect(x(bin.least), y, Math.max(1, x(bin.most) - x(bin.least)), binHeight)
    })
    pen.strokeStyle = ink.ink
    pen.lineWidth = 1
    pen.beginPath()
    bins.forEach((bin, at) => {
      if (bin !== null) pen.lineTo(x(bin.sum / bin.count), at * binHeight + 1)
    })
    pen.stroke()
    pen.fillStyle = ink.ground
    pen.fillRect(17, 0, 2, height)
  }, [layout, ink, height])
  // Before the paint, so that a scroll lays out and paints once.
  useLayoutEffect(() => {
    const element = window.current
    if (element === null) return
    element.style.top = `${top * scale}px`
    element.style.height = `${Math.max(8, height * scale)}px`
    element.dataset.range = rangeOf(layout, top, height)
  })
  const goTo = (event: PointerEvent) => {
    if (scroller === null || event.buttons !== 1) return
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    scroller.scrollTop = (event.clientY - box.top) / scale - height / 2
  }
  return (
    <div
      class="overview"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        goTo(event)
      }}
      onPointerMove={goTo}
      onWheel={(event) => {
        if (scroller !== null) scroller.scrollTop += event.deltaY / scale / 10
      }}
    >
      <canvas ref={canvas} class="overview-canvas" />
      <div ref={window} class="overview-window" />
    </div>
  )
}

/** The first and the last step that are seen, `226–252`. */
function rangeOf({ items }: Layout, top: number, height: number): string {
  const steps = items
    .slice(placeAt(items, top), placeAt(items, top + height) + 1)
    .flatMap((item) => ('step' in item && item.step !== null ? [item.step.step] : []))
  return steps.length === 0 ? '' : `${steps[0]}–${steps.at(-1)}`
}

interface Bin {
  least: number
  most: number
  sum: number
  count: number
  drifts: boolean
}

function binsOf({ items, height: whole }: Layout, height: number): (Bin | null)[] {
  const bins: (Bin | null)[] = Array.from({ length: Math.ceil(height / binHeight) }, () => null)
  for (const item of items) {
    if (item.kind !== 'step') continue
    const at = Math.min(
      bins.length - 1,
      Math.floor((((item.y + item.height / 2) / whole) * height) / binHeight),
    )
    const { phi, step } = item
    const bin = bins[at] ?? { least: phi, most: phi, sum: 0, count: 0, drifts: false }
    bins[at] = {
      least: Math.min(bin.least, phi),
      most: Math.max(bin.most, phi),
      sum: bin.sum + phi,
      count: bin.count + 1,
      drifts: bin.drifts || step.drifting,
    }
  }
  return bins
}
