import {
  type AssignedRequest,
  type Assignment,
  groundOf,
  standingTexts,
  withMessage,
} from './assignment.ts'
import { progressValues } from './contract/constants.ts'
import type { Ground } from './contract/detector.ts'
import type { Memory } from './memory.ts'
import type { Hints, Reading } from './step.ts'
import { hasContent, readUserEffect } from './user/effect.ts'
import type { UserEffect } from './user/effects.ts'
import { wordsOf } from './words/words.ts'

/** What a step does to the assignment of its run. */
export interface Turn {
  /** The effect of the message of the user; null without one. */
  effect: UserEffect | null
  /** Whether the user has spoken and said more than an acknowledgement. */
  speaks: boolean
  /** The new ground and its assignment; null if nothing moves. */
  moved: { ground: Ground; assignment: Assignment } | null
  /** Whether the goal of the step is itself the new ground. */
  grounds: boolean
  /** Whether a former request still stands, so that what was learned of the run still holds. */
  keeps: boolean
}

/** What the detector of a run decides about its turns. */
interface Rules {
  /** Whether only one request stands at a time, as the published rules have it. */
  asPublished: boolean
}

type Known = Pick<Memory, 'ground' | 'revision' | 'assignment'>

/**
 * Reads what a step does to the assignment. The first spelled step of a run begins it, with the words of the
 * user where it has some; later a message of the user moves it by its effect, and a user turn replaces it if
 * it is spelled differently. No other step moves it. `now` is in milliseconds since 1970, and `reads` is what an
 * encoder has read.
 */
export function readTurn(
  memory: Known,
  reading: Reading,
  { asPublished }: Rules,
  { now = 0, reads }: Pick<Hints, 'now' | 'reads'>,
): Turn {
  const { message } = reading
  const revision = memory.revision + 1
  const begins = memory.ground === null
  const before = begins ? firstOf(reading, revision, now) : assignmentOf(memory)
  const effect =
    message === null
      ? null
      : (reading.statedEffect ?? readUserEffect(message, standingTexts(before), reads))

  if (message !== null && effect !== null && effect !== 'none') {
    const told = reading.statedEffect === null ? 'user' : 'host'
    const by = reading.isUnsure ? 'unknown' : told
    const given = { text: message, revision, by, at: now } as const
    const assignment = withMessage(before, asPublished ? 'replaces' : effect, given)
    const moved = { ground: groundFrom(assignment, reading), assignment }
    const replaces = asPublished || effect === 'replaces'
    const restates = replaces && memory.ground !== null && sameSpelling(memory.ground, moved.ground)
    const grounds = !restates && reading.spelled && reading.goal === message
    const keeps = !begins && !replaces
    return { effect, speaks: true, moved: restates ? null : moved, grounds, keeps }
  }

  const spoken = reading.userTurn && message === null
  const isTurn = spoken && (asPublished || begins || hasContent(reading.ground ?? reading.goal))
  const still = { effect, speaks: isTurn, moved: null, grounds: false, keeps: false }
  if (!reading.spelled || (!begins && !isTurn)) return still
  const ground = candidate(reading)
  if (memory.ground !== null && sameSpelling(memory.ground, ground)) return still
  const by = reading.userTurn ? 'user' : 'first'
  const given = { text: ground.goal, revision, by, at: now } as const
  const assignment = withMessage(begins ? [] : before, 'replaces', given)
  return { ...still, moved: { ground, assignment }, grounds: reading.ground === null }
}

/** The assignment of a run; that of an earlier release is its ground. */
export function assignmentOf({
  assignment,
  ground,
  revision,
}: {
  assignment?: Assignment
  ground: Pick<Ground, 'goal'> | null
  revision: number
}): Assignment {
  if (assignment !== undefined) return assignment
  return ground === null ? [] : [{ text: ground.goal, revision, by: 'first', at: 0, stands: true }]
}

/** The request that a ground given with the first step makes. */
function firstOf({ ground }: Reading, revision: number, at: number): AssignedRequest[] {
  return ground === null ? [] : [{ text: ground, revision, by: 'first', at, stands: true }]
}

function groundFrom(assignment: Assignment, { distance }: Reading): Ground {
  const goal = groundOf(assignment)
  return { goal, words: wordsOf(goal), progress: progressValues[0], distance }
}

function candidate({ goal, words, progress, distance, ground }: Reading): Ground {
  return ground === null
    ? { goal, words, progress, distance }
    : { goal: ground, words: wordsOf(ground), progress: progressValues[0], distance }
}

/** Compares grounds without words by their text. */
function sameSpelling(a: Ground, b: Ground): boolean {
  return a.words.length === 0 && b.words.length === 0
    ? a.goal === b.goal
    : a.words.join('|') === b.words.join('|')
}
