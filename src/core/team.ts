import { overlapOf } from './detector/compare.ts'
import { wordsOf } from './detector/words.ts'
import { type TierName, tierNames } from './tiers.ts'
import { dayMs } from './time.ts'

/** A run as it is compared with those of other members. */
export interface FleetRun {
  account: string
  run_id: string
  /** The main agent's; null before the first. */
  ground: string | null
  steps: number
  drifting: boolean
  tokens: number
  outcome: string | null
  /** Milliseconds since 1970. */
  updated: number
}

/** What the runs of one member, or of all, add up to. */
export interface Rollup {
  runs: number
  drifting_runs: number
  steps: number
  tokens: number
  /** When the last step came, milliseconds since 1970; null without any. */
  last_seen: number | null
}

/** Two live runs of different members on about the same errand. */
export interface Collision {
  runs: [FleetRun, FleetRun]
  /** Jaccard overlap of the grounds' words, 0–1. */
  overlap: number
}

/** Overlap from which two grounds collide. */
export const collisionFloor = 0.6

/** Live runs that are compared: the newest of each member, and of those the newest of all. */
export const comparedOfMember = 20
export const comparedOfTeam = 200

/** Most collisions that are told, those with the highest overlap. */
export const toldCollisions = 100

const liveMs = dayMs

/** Whether an account of the tier may make a team. */
export function mayInvite(tier: TierName): boolean {
  return tierNames.indexOf(tier) >= tierNames.indexOf('group')
}

/** Adds up runs. */
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
 * The runs that are compared, newest first: those with a ground, without an outcome, and with a step
 * in the last 24 hours.
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

/** Collisions among live runs, highest overlap first. */
export function collisionsAmong(live: readonly FleetRun[]): Collision[] {
  const spelled = live.map((run) => ({ run, words: wordsOf(run.ground ?? '') }))
  const found: Collision[] = []
  for (const [index, a] of spelled.entries()) {
    for (const b of spelled.slice(index + 1)) {
      if (a.run.account === b.run.account) continue
      const [few, many] = [a.words.length, b.words.length].sort((x, y) => x - y)
      // No overlap is higher than the sizes allow, and most pairs end here.
      if ((few ?? 0) < collisionFloor * (many ?? 0)) continue
      const overlap = overlapOf(a.words, b.words)
      if (overlap >= collisionFloor) found.push({ runs: [a.run, b.run], overlap })
    }
  }
  return found.sort((a, b) => b.overlap - a.overlap).slice(0, toldCollisions)
}
