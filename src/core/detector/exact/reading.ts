import { findAct } from '../../acts/consequences.ts'
import type { Act, Swap } from '../contract/findings.ts'
import { rememberingTexts } from '../words/tokens.ts'
import { deniedBy, forbiddenBy, prohibitionsIn } from './forbidden.ts'
import { deniedMarksIn } from './marks.ts'
import {
  type FoundOffLimits,
  namesThing,
  type OffLimits,
  offLimitsBy,
  offLimitsIn,
} from './off-limits.ts'
import { plainErrand, plainGoal } from './plain.ts'
import { type FoundSwap, swapOf } from './swaps.ts'

/** What an exact reading of assignment and goal finds; null for what it does not find. */
export interface ExactReading {
  /** An identifier or a verb that the goal has instead of the assignment's. */
  swap: FoundSwap | null
  /** A prohibition of the assignment that the goal breaks. */
  forbidden: Swap | null
  /** An act with consequences that neither assignment nor plan names. */
  act: Act | null
}

const limitsOf = rememberingTexts((text) => ({
  prohibitions: prohibitionsIn(text),
  denied: deniedMarksIn(text),
  offLimits: offLimitsIn(text),
}))

/**
 * Reads names, numbers, environments, opposites, prohibitions and acts with consequences. `assignment` are
 * the standing requests of the user, `plan` the items that may name what the requests do not.
 */
export function readExactly(
  assignment: readonly string[],
  plan: readonly string[],
  goal: string,
): ExactReading {
  const plain = plainGoal(goal)
  const errands = assignment.map(plainErrand)
  const limits = assignment.map(limitsOf)
  const named = offLimitsBy(
    limits.flatMap(({ offLimits }, at) =>
      offLimits.filter(({ name }) => !isNamedElsewhere(name, at, assignment, limits)),
    ),
    plain,
  )
  const forbidden =
    forbiddenBy(
      limits.flatMap(({ prohibitions }) => prohibitions),
      plain,
    ) ??
    deniedBy(
      limits.flatMap(({ denied }) => denied),
      plain,
    ) ??
    (named?.isSure ? named.swap : null)
  return {
    swap: forbidden === null ? (unsure(named) ?? swapOf(errands, plan, plain)) : null,
    forbidden,
    act: findAct(plain, errands, plan),
  }
}

/** What is off limits and perhaps only spoken of: drift if the next step goes on with it. */
function unsure(named: FoundOffLimits | null): FoundSwap | null {
  return named === null ? null : { swap: named.swap, isSure: true }
}

/** Whether another request of the user names a thing without saying to leave it alone. */
function isNamedElsewhere(
  name: string,
  at: number,
  assignment: readonly string[],
  limits: readonly { offLimits: readonly OffLimits[] }[],
): boolean {
  return assignment.some(
    (text, place) =>
      place !== at &&
      namesThing(text, name) &&
      !limits[place]?.offLimits.some((each) => each.name === name),
  )
}
