import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { StoredRun, StoredStep } from '../../../src/surfaces/client/client.ts'
import { bobPath, jogOf, markOf, mostPhi, saysOfMark, xOf } from '../../shared/line.ts'
import { swapText } from '../line/difference.ts'
import {
  drawBranch,
  drawGround,
  drawThread,
  type Frame,
  type Ink,
  type Point,
  readInk,
} from '../line/draw.ts'
import { setQuery } from '../router.ts'
import { clock, short, span, timeOfDay } from '../time.ts'
import { GoalText } from './goal-text.tsx'
import { type Item, type LanedAgent, type Layout, seenIn } from './layout.ts'
import { Overview } from './overview.tsx'

const laneWidth = 60
const laneInk = 0.2
const pegWidth = 18
const overviewFrom = 60

/** Sizes of the drawing that the width of the page decides. */
export interface Sizes {
  plot: number
  row: number
  isPhone: boolean
}

/** The line, what hangs from it, and the rows of the steps beside it. */
export function Plot({
  run,
  layout,
  selected,
  agent,
  sizes,
  live,
  fresh,
  onUnfold,
}: {
  run: StoredRun
  layout: Layout
  selected: number | null
  agent: string
  sizes: Sizes
  live: boolean
  /** The step that came last while the page was open; its bob swings once. */
  fresh: number | null
  /** Shows the steps that are folded. */
  onUnfold: () => void
}) {
  const scroller = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  // No row is drawn before the height is known, so that none is laid out twice.
  const view = useSignal({ top: 0, height: 0 })
  const theme = useThemeCount().value
  const ink = useMemo(readInk, [theme])
  const left = layout.lanes * laneWidth + pegWidth
  const width = left + sizes.plot + (sizes.isPhone ? 10 : 34)
  const frame: Frame = { x: left, width: sizes.plot, scale: 1 }

  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const look = () => {
      const next = { top: element.scrollTop, height: element.clientHeight }
      if (next.top !== view.value.top || next.height !== view.value.height) view.value = next
    }
    element.addEventListener('scroll', look, { passive: true })
    const observer = new ResizeObserver(look)
    // In a task of its own: the rows come after all around them is painted, and neither task is long.
    const timer = setTimeout(() => observer.observe(element))
    return () => {
      clearTimeout(timer)
      element.removeEventListener('scroll', look)
      observer.disconnect()
    }
  }, [])

  // Brings the selected step into view when it changes, and not when steps come.
  useEffect(() => {
    const element = scroller.current
    const place = selected === null ? undefined : layout.placeOf.get(selected)
    const item = place === undefined ? undefined : layout.items[place]
    if (element === null || item === undefined) return
    const isSeen =
      item.y >= element.scrollTop &&
      item.y + item.height <= element.scrollTop + element.clientHeight
    if (!isSeen) element.scrollTop = item.y - element.clientHeight / 2
  }, [selected, layout.items.length > 0])

  const [from, to] = seenIn(layout, view.value.top, view.value.height)

  useLayoutEffect(() => {
    const element = canvas.current
    const pen = element?.getContext('2d') ?? null
    if (element === null || pen === null) return
    const { top, height } = view.value
    if (
      element.width !== width * devicePixelRatio ||
      element.height !== height * devicePixelRatio
    ) {
      element.width = width * devicePixelRatio
      element.height = height * devicePixelRatio
      element.style.width = `${width}px`
      element.style.height = `${height}px`
    }
    pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
    pen.clearRect(0, 0, width, height)
    pen.translate(0, -top)
    drawRun(pen, ink, {
      run,
      layout,
      frame,
      agent,
      from,
      to,
      top,
      height,
      live,
      selected,
    })
  }, [layout, view.value, width, ink, selected, live])

  const hasOverview = layout.items.length > overviewFrom && !sizes.isPhone
  return (
    <div class={`trace ${sizes.isPhone ? 'phone' : ''} ${hasOverview ? 'with-overview' : ''}`}>
      <div class="trace-head" aria-hidden="true">
        {hasOverview ? <span class="trace-all">All {run.steps}</span> : null}
        <span class="trace-ticks" style={{ width: `${width}px` }}>
          {[0, 0.2, 0.4, 0.6].map((phi) => (
            <i key={phi} style={{ left: `${left + xOf(phi, sizes.plot)}px` }}>
              {phi === 0 ? '0' : `.${phi * 10}`}
            </i>
          ))}
          <i class="trace-unit" style={{ left: `${left + xOf(0.6, sizes.plot) + 18}px` }}>
            phi
          </i>
        </span>
        <span class="trace-number" />
        <span class="trace-goal">Goal</span>
        <span class="trace-tokens">Tokens</span>
        <span class="trace-time">Time</span>
      </div>
      <div class="trace-frame">
        {hasOverview ? (
          <Overview
            layout={layout}
            ink={ink}
            height={view.value.height}
            scroller={scroller.current}
            top={view.value.top}
          />
        ) : null}
        <div class="trace-scroll" ref={scroller} tabIndex={-1}>
          <div
            class="trace-rows"
            role="grid"
            aria-label="Steps"
            aria-rowcount={layout.items.length}
            style={{ height: `${layout.height}px` }}
          >
            <canvas ref={canvas} class="trace-canvas" aria-hidden="true" />
            {layout.items.slice(from, to).map((item, at) => (
              <Row
                key={keyOf(item)}
                onUnfold={onUnfold}
                item={item}
                place={from + at}
                run={run}
                plotWidth={width}
                agent={agent}
                isSelected={'step' in item && item.step !== null && item.step.step === selected}
                isFresh={'step' in item && item.step !== null && item.step.step === fresh}
                isTabStop={
                  'step' in item &&
                  item.step !== null &&
                  (item.step.step === selected || (selected === null && from + at === 1))
                }
              />
            ))}
            {live ? (
              <Bob
                y={layout.height - 36}
                x={left + jogOf(revisionAt(layout, layout.items.length, agent))}
                swings={fresh}
              />
            ) : null}
          </div>
        </div>
      </div>
    </div>
  )
}

function keyOf(item: Item): string {
  return 'step' in item && item.step !== null ? `step ${item.step.step}` : `${item.kind} ${item.y}`
}

/** The bob at the end of a live line, which swings once when a step comes. */
function Bob({ x, y, swings }: { x: number; y: number; swings: number | null }) {
  return (
    <svg
      key={swings}
      class={swings === null ? 'bob' : 'bob swings'}
      width="12"
      height="20"
      viewBox="0 0 12 20"
      aria-hidden="true"
      style={{ left: `${x - 6}px`, top: `${y}px` }}
    >
      <path class="line-bob" transform="translate(6 2)" d={bobPath} />
    </svg>
  )
}

interface Drawing {
  run: StoredRun
  layout: Layout
  frame: Frame
  agent: string
  from: number
  to: number
  top: number
  height: number
  live: boolean
  selected: number | null
}

function drawRun(pen: CanvasRenderingContext2D, ink: Ink, drawing: Drawing): void {
  const { layout, frame, agent, from, to, top, height, live, selected } = drawing
  const { items } = layout
  drawTicks(pen, ink, frame, top, height)
  for (const laned of layout.agents) {
    if (laned.lane < layout.lanes && laned.to >= from && laned.from <= to)
      drawLane(pen, ink, laned, drawing)
  }
  const seen = items.slice(from, to)
  const firstItem = items[0]
  const lastItem = items.at(-1)
  if (firstItem === undefined || lastItem === undefined) return
  const isFromStart = from === 0
  const hasPeg = firstItem.kind === 'ground' && isFromStart
  const lineTop = isFromStart ? firstItem.y + firstItem.height / 2 : top - 40
  const isToEnd = to >= items.length
  const isOver = isToEnd && !live
  const lineBottom = isToEnd
    ? live
      ? layout.height - 34
      : lastItem.y + lastItem.height / (lastItem.kind === 'end' ? 3 : 1) + 2
    : top + height + 40
  const turns = seen.flatMap((item) =>
    item.kind === 'turn' ? [{ y: item.y + item.height / 2, revision: item.revision }] : [],
  )
  drawGround(
    pen,
    ink,
    {
      top: lineTop,
      bottom: lineBottom,
      turns,
      firstRevision: revisionAt(layout, from, agent),
      hasPeg,
      isOver,
    },
    frame,
  )
  drawThread(pen, ink, pointsOf(seen, agent), frame)
  const chosen = selected === null ? undefined : items[layout.placeOf.get(selected) ?? -1]
  if (chosen?.kind === 'step' && (chosen.step.agent_id ?? '') === agent) {
    pen.strokeStyle = chosen.step.drifting ? ink.drift : ink.text
    pen.lineWidth = 1
    pen.globalAlpha = 0.7
    pen.beginPath()
    const x = frame.x + jogOf(chosen.step.revision ?? 1) + xOf(chosen.phi, frame.width)
    pen.arc(x, chosen.y + chosen.height / 2, 8.5, 0, 2 * Math.PI)
    pen.stroke()
    pen.globalAlpha = 1
  }
}

function drawTicks(
  pen: CanvasRenderingContext2D,
  ink: Ink,
  { x, width }: Frame,
  top: number,
  height: number,
): void {
  pen.strokeStyle = ink.line
  pen.lineWidth = 1
  pen.setLineDash([1, 5])
  for (const phi of [0.2, 0.4, 0.6]) {
    const at = Math.round(x + xOf(phi, width)) + 0.5
    pen.beginPath()
    pen.moveTo(at, top)
    pen.lineTo(at, top + height)
    pen.stroke()
  }
  pen.setLineDash([])
}

/** The line of a sub-agent on its lane, from its branch to its end. */
function drawLane(
  pen: CanvasRenderingContext2D,
  ink: Ink,
  laned: LanedAgent,
  { layout, frame, from, to, run }: Drawing,
): void {
  const { items } = layout
  const x = frame.x - (laned.lane + 1) * laneWidth + 8
  const own: Frame = { x, width: frame.width * laneInk, scale: 0.4 }
  const [first, last] = [items[laned.from], items[laned.to]]
  if (first === undefined || last === undefined) return
  const top = first.y + first.height / 2
  const bottom = last.y + last.height / 2 + 6
  if (laned.from >= from - 2) drawBranch(pen, ink, [frame.x, top - 14], [x, top])
  const isOver = run.outcome !== null || laned.to < items.length - 6
  drawGround(
    pen,
    ink,
    {
      top,
      bottom,
      turns: [],
      firstRevision: 1,
      hasPeg: false,
      isOver,
      narrow: true,
    },
    own,
  )
  const places = items.slice(Math.max(laned.from, from - 30), Math.min(laned.to + 1, to + 30))
  drawThread(
    pen,
    ink,
    pointsOf(places, laned.agent).map((point) => ({ ...point, revision: 1 })),
    own,
  )
}

function pointsOf(items: readonly Item[], agent: string): Point[] {
  return items.flatMap((item) => {
    if (item.kind !== 'step' || (item.step.agent_id ?? '') !== agent) return []
    const { y, height, phi, mark, step } = item
    const { drifting, confidence, revision } = step
    return [{ y: y + height / 2, height, phi, drifting, confidence, mark, revision: revision ?? 1 }]
  })
}

/** The revision of the agent's ground before a place. */
function revisionAt({ items }: Layout, place: number, agent: string): number {
  for (let at = Math.min(place, items.length) - 1; at >= 0; at--) {
    const item = items[at]
    if (item === undefined || !('step' in item)) continue
    if (item.kind === 'turn') return item.revision
    if (item.step !== null && (item.step.agent_id ?? '') === agent) return item.step.revision ?? 1
  }
  return 1
}

function Row({
  item,
  place,
  run,
  plotWidth,
  agent,
  isSelected,
  isFresh,
  isTabStop,
  onUnfold,
}: {
  item: Item
  place: number
  run: StoredRun
  plotWidth: number
  agent: string
  isSelected: boolean
  isFresh: boolean
  isTabStop: boolean
  onUnfold: () => void
}) {
  const style = { top: `${item.y}px`, height: `${item.height}px`, paddingLeft: `${plotWidth}px` }
  if (item.kind === 'gap') {
    return (
      <div class="trace-row gap" role="row" aria-rowindex={place + 1} style={style}>
        <span role="gridcell">{span(item.ms)} later</span>
      </div>
    )
  }
  if (item.kind === 'folded') {
    return (
      <div class="trace-row gap" role="row" aria-rowindex={place + 1} style={style}>
        <span role="gridcell">
          steps {item.from}–{item.to} on the errand{' '}
          <button type="button" class="link" onClick={onUnfold}>
            show
          </button>
        </span>
      </div>
    )
  }
  if (item.kind === 'end') {
    const score = run.score === null ? '' : `, score ${run.score.toFixed(2)}`
    return (
      <div class="trace-row end" role="row" aria-rowindex={place + 1} style={style}>
        <span role="gridcell">
          Finished {clock(run.updated)} with <b>{run.outcome}</b>
          {score}.
        </span>
      </div>
    )
  }
  const { step } = item
  if (item.kind === 'ground' || item.kind === 'turn') {
    const says = item.kind === 'turn' ? item.says : 'ground'
    const number = step === null ? '' : String(step.step)
    const select = () => {
      if (step !== null) setQuery({ step: String(step.step) })
    }
    return (
      <div
        class={`trace-row ground ${isSelected ? 'selected' : ''}`}
        role="row"
        aria-rowindex={place + 1}
        aria-selected={isSelected}
        style={style}
        onClick={select}
      >
        <span class="trace-number" aria-hidden="true">
          {number}
        </span>
        <span class="trace-goal">
          <b role="gridcell" tabIndex={isTabStop ? 0 : -1} onFocus={select}>
            <span class="visually-hidden">
              {number === '' ? 'Ground' : `Step ${number}`}, {says}:{' '}
            </span>
            <bdi>{item.text}</bdi>
          </b>
          <span class="chip ground" aria-hidden="true">
            {says}
          </span>
        </span>
        {step === null ? null : <Numbers step={step} />}
      </div>
    )
  }
  return (
    <StepRow
      step={item.step}
      style={style}
      place={place}
      agent={agent}
      isSelected={isSelected}
      isFresh={isFresh}
      isTabStop={isTabStop}
    />
  )
}

function StepRow({
  step,
  style,
  place,
  agent,
  isSelected,
  isFresh,
  isTabStop,
}: {
  step: StoredStep
  style: Record<string, string>
  place: number
  agent: string
  isSelected: boolean
  isFresh: boolean
  isTabStop: boolean
}) {
  const mark = markOf(step)
  const drifts = mark === 'drift' || mark === 'unsure-drift'
  const name = step.agent_id ?? ''
  const select = () => setQuery({ step: String(step.step) })
  const beyond = step.phi > mostPhi ? ', beyond the scale' : ''
  return (
    <div
      class={`trace-row ${isSelected ? 'selected' : ''} ${drifts ? 'drift' : ''} ${isFresh ? 'fresh' : ''}`}
      role="row"
      aria-rowindex={place + 1}
      aria-selected={isSelected}
      style={style}
      onClick={select}
    >
      <span class="trace-number" aria-hidden="true">
        {step.step}
      </span>
      <span class="trace-goal">
        {name === '' || name === agent ? null : (
          <span role="gridcell">
            <button
              type="button"
              class="agent-chip"
              tabIndex={-1}
              title={`Show the line of ${name}`}
              onClick={(event) => {
                event.stopPropagation()
                setQuery({ agent: name, step: null }, { replace: false })
              }}
            >
              <bdi>{name}</bdi>
            </button>
          </span>
        )}
        <span class="trace-words" role="gridcell" tabIndex={isTabStop ? 0 : -1} onFocus={select}>
          <span class="visually-hidden">
            {`Step ${step.step}, ${saysOfMark[mark]}, ${step.reason}, phi ${step.phi.toFixed(2)}${beyond}, `}
          </span>
          <GoalText goal={step.goal} shared={drifts ? [] : (step.words?.shared ?? [])} />
        </span>
        <ReasonText step={step} />
      </span>
      <Numbers step={step} />
    </div>
  )
}

function ReasonText({ step }: { step: StoredStep }) {
  const mark = markOf(step)
  if (mark === 'name' && step.swap !== null) {
    return (
      <span class="chip warn" aria-hidden="true">
        <bdi>{swapText(step.swap)}</bdi>
      </span>
    )
  }
  if (mark === 'drift' || mark === 'unsure-drift')
    return (
      <span class="trace-reason drift-text" aria-hidden="true">
        {step.reason}
      </span>
    )
  if (mark === 'unreadable')
    return (
      <span class="trace-reason warn-text" aria-hidden="true">
        unreadable
      </span>
    )
  if (mark === 'uncertain')
    return (
      <span class="trace-reason" aria-hidden="true">
        uncertain
      </span>
    )
  return null
}

function Numbers({ step }: { step: StoredStep }) {
  return (
    <>
      <span class="trace-tokens" aria-hidden="true">
        {step.tokens === undefined ? '' : short(step.tokens)}
      </span>
      <time class="trace-time" dateTime={step.ts} aria-hidden="true">
        {timeOfDay(step.ts)}
      </time>
    </>
  )
}

/** Counts the changes of the theme, so that a drawing takes its colours anew. */
function useThemeCount() {
  const count = useSignal(0)
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const change = () => {
      count.value += 1
    }
    dark.addEventListener('change', change)
    const observer = new MutationObserver(change)
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      dark.removeEventListener('change', change)
      observer.disconnect()
    }
  }, [])
  return count
}
