import { goalFloor } from '../detector/contract/constants.ts'
import type { Reads } from '../detector/contract/reads.ts'
import type { Step } from '../detector/step.ts'
import { readUserEffect } from '../detector/user/effect.ts'
import { overlapOf } from '../detector/words/compare.ts'
import { wordsOf } from '../detector/words/words.ts'

/** The suspended grounds of a task, which it can resume. */
export interface Suspension {
  /** Latest last, at most `maxSuspended`, without duplicates. */
  suspended: string[]
  /** Whether the live ground is suspended, so that the next goal becomes the ground. */
  awaiting: boolean
}

/** Most suspended grounds; the oldest one is dropped. */
export const maxSuspended = 8

/** Overlap above which two grounds are the same errand. */
const sameErrand = 0.6

/** A task without suspended grounds. */
export const nothingSuspended: Suspension = { suspended: [], awaiting: false }

/** The step to log, the suspended grounds after it, and the resumed ground or null. */
export interface Resumed {
  step: Step
  suspension: Suspension
  resumedGround: string | null
}

/**
 * Reads a step against the live ground (null before the first) and the suspended ones. A goal resumes a
 * suspended ground if it overlaps it more than the live one and by more than 0.30; the live ground is then
 * suspended. If the live ground is suspended already, the goal must overlap by more than 0.60; any other
 * goal becomes a new ground. A user turn suspends the live ground too, and so does a message of the user that
 * replaces it. A message with another effect resumes nothing. `reads` is what an encoder has read.
 */
export function resume(
  suspension: Suspension,
  live: string | null,
  step: Step,
  reads?: Reads,
): Resumed {
  const { suspended, awaiting } = suspension
  const words = wordsOf(step.goal)
  const overlap = (ground: string) => overlapOf(words, wordsOf(ground))
  if (step.userMessage !== undefined) {
    const effect =
      step.userEffect ?? readUserEffect(step.userMessage, live === null ? [] : [live], reads)
    if (effect !== 'none') {
      const replaces = awaiting || effect === 'replaces'
      return {
        step: replaces ? { ...step, userEffect: 'replaces' } : step,
        suspension: {
          suspended: replaces && !awaiting ? putAside(suspended, live) : suspended,
          awaiting: false,
        },
        resumedGround: null,
      }
    }
  } else if (step.userTurn === true) {
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

/** Suspends the live ground; the next goal becomes the ground. */
export function suspend(suspension: Suspension, live: string | null): Suspension {
  if (live === null) return suspension
  return { suspended: putAside(suspension.suspended, live), awaiting: true }
}

/** The value with the highest `overlap`, the latest of equals; null for an empty list. */
function mostLike(grounds: readonly string[], overlap: (ground: string) => number): string | null {
  let best: string | null = null
  for (const ground of grounds) if (best === null || overlap(ground) >= overlap(best)) best = ground
  return best
}

function putAside(suspended: readonly string[], live: string | null): string[] {
  if (live === null) return [...suspended]
  return [...suspended.filter((ground) => ground !== live), live].slice(-maxSuspended)
}
