import { wordsOf } from '../detector/words/words.ts'
import { dayMs } from '../time.ts'
import { type TierName, tierNames } from './tiers.ts'

/** A run to compare with those of other members. */
export interface FleetRun {
  account: string
  run_id: string
  /** The ground of the main agent; null before the first. */
  ground: string | null
  steps: number
  drifting: boolean
  tokens: number
  outcome: string | null
  /** Milliseconds since 1970. */
  updated: number
}

/** The totals of the runs of one member or of all. */
export interface Rollup {
  runs: number
  drifting_runs: number
  steps: number
  tokens: number
  /** Time of the last step, milliseconds since 1970; null without steps. */
  last_seen: number | null
}

/** Two live runs of different members with similar grounds. */
export interface Collision {
  runs: [FleetRun, FleetRun]
  /** Jaccard overlap of the grounds' words, 0–1. */
  overlap: number
}

/** Lowest overlap at which two grounds collide. */
export const collisionFloor = 0.6

/** Limits on the compared runs: the newest of each member, and of those the newest of the team. */
export const comparedOfMember = 20
export const comparedOfTeam = 200

/** Most collisions in an answer, highest overlap first. */
export const maxListedCollisions = 100

const liveMs = dayMs

/** Whether an account of the tier may make a team. */
export function mayInvite(tier: TierName): boolean {
  return tierNames.indexOf(tier) >= tierNames.indexOf('group')
}

/** Sums runs. */
export function rollUp(runs: readonly FleetRun[]): Rollup {
  return {
    runs: runs.length,
    drifting_runs: runs.filter(({ drifting }) => drifting).length,
    steps: runs.reduce((sum, { steps }) => sum + steps, 0),
    tokens: runs.reduce((sum, { tokens }) => sum + tokens, 0),
    last_seen: runs.reduce<number | null>(
      (last, { updated }) => Math.max(last ?? updated, updated),
      null,
    ),
  }
}

/**
 * Selects the runs to compare, newest first: those with a ground, without an outcome, and with a step in
 * the last 24 hours.
 */
export function liveRuns(members: readonly (readonly FleetRun[])[], now: number): FleetRun[] {
  const isLive = ({ ground, outcome, updated }: FleetRun) =>
    ground !== null && (outcome === null || outcome === 'unknown') && updated > now - liveMs
  const newest = (a: FleetRun, b: FleetRun) => b.updated - a.updated
  return members
    .flatMap((runs) => runs.filter(isLive).sort(newest).slice(0, comparedOfMember))
    .sort(newest)
    .slice(0, comparedOfTeam)
}

/** Two runs, by their indexes, whose grounds overlap by `collisionFloor` or more. */
export interface Overlap {
  first: number
  second: number
  /** Jaccard overlap of the grounds' words, 0–1. */
  overlap: number
}

/** Characters of grounds that one slice compares. */
const groundsOfSlice = 4_000

/**
 * Finds the overlaps between grounds of different members, and yields after each slice. An index of words
 * limits the work to grounds with common words.
 */
export function* overlapsAmong(runs: readonly FleetRun[]): Generator<void, Overlap[]> {
  const having = new Map<string, number[]>()
  const sizes: number[] = []
  const found: Overlap[] = []
  let compared = 0
  for (const [second, run] of runs.entries()) {
    const ground = run.ground ?? ''
    const words = wordsOf(ground)
    const shared = new Uint32Array(second)
    for (const word of words) {
      const others = having.get(word)
      if (others === undefined) having.set(word, [second])
      else {
        for (const other of others) shared[other] = (shared[other] ?? 0) + 1
        others.push(second)
      }
    }
    for (const [first, count] of shared.entries()) {
      const overlap = count / ((sizes[first] ?? 0) + words.length - count)
      const isOfAnother = runs[first]?.account !== run.account
      if (isOfAnother && overlap >= collisionFloor) found.push({ first, second, overlap })
    }
    sizes.push(words.length)
    compared += ground.length
    if (compared < groundsOfSlice) continue
    compared = 0
    yield
  }
  return found
}

/**
 * Selects the collisions of the answer, highest overlap first and then newest first. The overlaps refer to
 * runs by their indexes in `runs`, which holds those of `live` in any order.
 */
export function collisionsAmong(
  live: readonly FleetRun[],
  runs: readonly FleetRun[],
  overlaps: readonly Overlap[],
): Collision[] {
  const age = new Map(live.map((run, place) => [run, place]))
  const ageOf = (place: number) => age.get(runs[place] as FleetRun) ?? 0
  return overlaps
    .map(({ first, second, overlap }) => {
      const [one, other] = [ageOf(first), ageOf(second)]
      return { newer: Math.min(one, other), older: Math.max(one, other), overlap }
    })
    .sort((a, b) => b.overlap - a.overlap || a.newer - b.newer || a.older - b.older)
    .slice(0, maxListedCollisions)
    .map(({ newer, older, overlap }) => ({
      runs: [live[newer] as FleetRun, live[older] as FleetRun],
      overlap,
    }))
}
