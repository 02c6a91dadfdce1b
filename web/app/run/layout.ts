import type { StoredRun, StoredStep } from '../../../src/surfaces/client/client.ts'
import { type Mark, markOf } from '../../shared/line.ts'

/** A row of the run view. */
export type Item =
  | { kind: 'ground'; y: number; height: number; text: string; step: StoredStep | null }
  | { kind: 'gap'; y: number; height: number; ms: number }
  | { kind: 'folded'; y: number; height: number; from: number; to: number }
  | {
      kind: 'turn'
      y: number
      height: number
      text: string
      /** Who moved the ground, as far as that is known. */
      says: string
      revision: number
      /** Null where the ground stands again, which no step did. */
      step: StoredStep | null
    }
  | { kind: 'step'; y: number; height: number; step: StoredStep; mark: Mark; phi: number }
  | { kind: 'end'; y: number; height: number }

/** A lane for the lines of sub-agents that do not run at the same time. */
export interface LanedAgent {
  agent: string
  lane: number
  /** Places of its first and last item. */
  from: number
  to: number
}

/** The rows of a run and where each stands. */
export interface Layout {
  items: readonly Item[]
  height: number
  /** The place of a step in `items`, by its number. */
  placeOf: ReadonlyMap<number, number>
  agents: readonly LanedAgent[]
  lanes: number
}

/** What a row says of a ground that moved, by who moved it; `first` also stands for a ground that was not read. */
const movers: Record<StoredRun['grounds'][number]['by'], string> = {
  user: 'the user moved the ground',
  unknown: 'the ground moved, by whom is not known',
  machine: 'a program moved the ground',
  first: 'the ground moved',
}

const gapMs = 15 * 60_000
const minuteLength = '2026-01-31T12:00'.length
const mostLanes = 4
/** Steps on the errand that stay before the first one that leans away, and the fewest that are folded. */
const keptBefore = 3
const fewestFolded = 4
const padding = 8

/**
 * Lays out a trace in rows of this height. `agent` is the one whose line is the main line. `folds` takes the steps on
 * the errand at the beginning together, for a screen that shows few.
 */
export function layOut(
  run: StoredRun,
  trace: readonly StoredStep[],
  rowHeight: number,
  agent: string,
  folds = false,
): Layout {
  const items: Item[] = []
  const placeOf = new Map<number, number>()
  const spans = new Map<string, { from: number; to: number }>()
  let y = padding
  const add = (item: Item) => {
    items.push(item)
    y += item.height
  }
  const grounds = run.grounds.filter(({ agent_id }) => agent_id === agent)
  const first = grounds[0]
  const [firstStep] = trace
  const isOwnGround =
    firstStep !== undefined && firstStep.reason === 'grounded' && firstStep.goal === first?.goal
  const groundHeight = rowHeight + 10
  if (first !== undefined) {
    add({
      kind: 'ground',
      y,
      height: groundHeight,
      text: first.goal,
      step: isOwnGround ? firstStep : null,
    })
    if (isOwnGround) placeOf.set(firstStep.step, 0)
  }
  let before: StoredStep | null = null
  let revision = first?.revision ?? 1
  const phis = new Map<string, number>()
  const following = isOwnGround ? trace.slice(1) : trace
  const folded = folds ? foldedOf(following) : 0
  const [from, to] = [following[0], following[folded - 1]]
  if (from !== undefined && to !== undefined) {
    add({ kind: 'folded', y, height: rowHeight, from: from.step, to: to.step })
  }
  for (const step of following.slice(folded)) {
    const name = step.agent_id ?? ''
    const pause = before === null ? 0 : pauseBetween(before.ts, step.ts)
    if (pause >= gapMs) add({ kind: 'gap', y, height: rowHeight, ms: pause })
    const mark = markOf(step)
    const phi: number = mark === 'unreadable' ? (phis.get(name) ?? 0) : step.phi
    phis.set(name, phi)
    const moved = name === agent && (step.revision ?? 0) > revision ? step.revision : null
    revision = moved ?? revision
    if (name !== agent) {
      const span = spans.get(name)
      spans.set(name, { from: span?.from ?? items.length, to: items.length })
    }
    const ground = moved === null ? undefined : grounds.find((each) => each.revision === moved)
    // A ground that stands again does so before the next step, which has a verdict of its own.
    const isRestored = ground !== undefined && ground.step !== null && ground.step < step.step
    if (moved !== null) {
      const text =
        (isRestored ? null : step.user_message) ?? ground?.goal.split('\n').at(-1) ?? step.goal
      const says = isRestored ? 'the ground stands again' : movers[ground?.by ?? 'first']
      if (!isRestored) placeOf.set(step.step, items.length)
      add({
        kind: 'turn',
        y,
        height: groundHeight,
        text,
        says,
        revision: moved,
        step: isRestored ? null : step,
      })
    }
    if (moved === null || isRestored) {
      placeOf.set(step.step, items.length)
      add({ kind: 'step', y, height: rowHeight, step, mark, phi })
    }
    before = step
  }
  if (run.outcome !== null) add({ kind: 'end', y, height: groundHeight })
  const agents = packed(spans)
  const lanes = agents.reduce((most, { lane }) => Math.max(most, lane + 1), 0)
  return { items, height: y + 36, placeOf, agents, lanes: Math.min(lanes, mostLanes) }
}

/** Milliseconds between two times; 0 within a minute, because reading a time takes long. */
function pauseBetween(from: string, to: string): number {
  return from.slice(0, minuteLength) === to.slice(0, minuteLength)
    ? 0
    : Date.parse(to) - Date.parse(from)
}

/** How many steps at the beginning can be folded: those on the errand well before the first one that is not. */
function foldedOf(trace: readonly StoredStep[]): number {
  const leaning = trace.findIndex((step) => markOf(step) !== 'on')
  const folded = (leaning < 0 ? trace.length : leaning) - keptBefore
  return folded < fewestFolded ? 0 : folded
}

/** Gives each sub-agent the first lane that is free while it runs. */
function packed(spans: ReadonlyMap<string, { from: number; to: number }>): LanedAgent[] {
  const ends: number[] = []
  return [...spans].map(([agent, { from, to }]) => {
    const free = ends.findIndex((end) => end < from - 1)
    const lane = free >= 0 ? free : ends.length
    ends[lane] = to
    return { agent, lane, from, to }
  })
}

/** The places of the items that a window shows, with one beyond on each side. */
export function seenIn({ items }: Layout, top: number, height: number): [number, number] {
  const from = placeAt(items, top) - 1
  const to = placeAt(items, top + height) + 1
  return [Math.max(0, from), Math.min(items.length, to + 1)]
}

/** The place of the item at this height, by bisection. */
export function placeAt(items: readonly Item[], y: number): number {
  let [low, high] = [0, items.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((items[middle]?.y ?? 0) <= y) low = middle
    else high = middle - 1
  }
  return Math.max(0, low)
}
