import { overlapOf } from '../detector/compare.ts'
import { goalFloor } from '../detector/contract/constants.ts'
import type { Step } from '../detector/step.ts'
import { wordsOf } from '../detector/words/words.ts'

/** Grounds a task has put aside, so that it can come back to them. */
export interface Suspension {
  /** Latest last, at most `maxSuspended`, each once. */
  suspended: string[]
  /** Whether the live ground was put aside and the next goal becomes the ground. */
  awaiting: boolean
}

/** How many grounds are kept aside; the oldest goes first. */
export const maxSuspended = 8

/** Overlap above which two grounds are taken for the same errand. */
const sameErrand = 0.6

/** A task that has put nothing aside. */
export const nothingSuspended: Suspension = { suspended: [], awaiting: false }

/** The step as it is to be logged, what is put aside after it, and the ground it came back to, or null. */
export interface Resumed {
  step: Step
  suspension: Suspension
  resumedGround: string | null
}

/**
 * Reads a step against the live ground (null before the first) and those put aside. A goal that
 * shares more words with one put aside than with the live ground, and enough to be on it (an overlap
 * above 0.30), takes that up again, and the live one is put aside in its place. Once the live ground
 * itself was put aside, only a goal that is nearly the same (above 0.60) takes one up; any other is a
 * new ground. A turn of the user puts the live ground aside too.
 */
export function resume(suspension: Suspension, live: string | null, step: Step): Resumed {
  const { suspended, awaiting } = suspension
  const words = wordsOf(step.goal)
  const overlap = (ground: string) => overlapOf(words, wordsOf(ground))
  if (step.userTurn === true) {
    const next = step.ground ?? step.goal
    const kept = awaiting ? suspended : putAside(suspended, live)
    return {
      step,
      suspension: { suspended: kept.filter((ground) => ground !== next), awaiting: false },
      resumedGround: null,
    }
  }
  const nearest = mostLike(suspended, overlap)
  const standing = awaiting || live === null ? sameErrand : Math.max(goalFloor, overlap(live))
  if (nearest !== null && overlap(nearest) > standing) {
    const kept = awaiting ? suspended : putAside(suspended, live)
    return {
      step: { ...step, userTurn: true, ground: nearest },
      suspension: { suspended: kept.filter((ground) => ground !== nearest), awaiting: false },
      resumedGround: nearest,
    }
  }
  return {
    step: awaiting && live !== null ? { ...step, userTurn: true } : step,
    suspension: { suspended, awaiting: false },
    resumedGround: null,
  }
}

/** Puts the live ground aside; the next goal becomes the ground. */
export function suspend(suspension: Suspension, live: string | null): Suspension {
  if (live === null) return suspension
  return { suspended: putAside(suspension.suspended, live), awaiting: true }
}

/** The one `overlap` is highest for, the latest of equals; null without any. */
function mostLike(grounds: readonly string[], overlap: (ground: string) => number): string | null {
  let best: string | null = null
  for (const ground of grounds) if (best === null || overlap(ground) >= overlap(best)) best = ground
  return best
}

function putAside(suspended: readonly string[], live: string | null): string[] {
  if (live === null) return [...suspended]
  return [...suspended.filter((ground) => ground !== live), live].slice(-maxSuspended)
}
