import type { UserEffect } from './user/effects.ts'
import { sharedWords } from './words/compare.ts'
import { wordsOf } from './words/words.ts'

/**
 * One request of an assignment, in the words in which it was given.
 *
 * @example
 * ```ts
 * import { type AssignedRequest, detect, newMemory } from 'plumbline/detector'
 *
 * const tell = ({ text, stands }: AssignedRequest) => `${stands ? 'stands' : 'withdrawn'}: ${text}`
 *
 * const step = { progress: 'advancing', distance: 5 }
 * const first = detect(newMemory('meaning'), { ...step, goal: 'fix the login page' })
 * const { memory } = detect(first.memory, {
 *   ...step,
 *   goal: 'read the billing code',
 *   userMessage: 'forget that, rather look at the billing bug',
 * })
 * for (const request of memory.assignment ?? []) console.log(tell(request))
 * // → withdrawn: fix the login page
 * // → stands: forget that, rather look at the billing bug
 * ```
 */
export interface AssignedRequest {
  /** The request, followed by its corrections, each on a line of its own. */
  text: string
  /** The revision of the ground that brought it or changed it last. */
  revision: number
  /**
   * `first` began the run, `user` read it out of the user's words, `host` had its effect stated. `unknown` came as a
   * message of which it is not known whether a person spoke it, and `machine` as one that none did.
   */
  by: 'first' | 'user' | 'host' | 'unknown' | 'machine'
  /** When it was given or changed last, milliseconds since 1970; 0 if that is not known. */
  at: number
  /** Whether the user has not withdrawn it. */
  stands: boolean
}

/** What the user has asked for, oldest first. */
export type Assignment = readonly AssignedRequest[]

/** Most requests that stand, and most characters of their texts together. */
export const mostStanding = { requests: 16, characters: 16_000 } as const

/** Most characters of a request with its corrections; a correction beyond it is a request of its own. */
export const longestRequest = 8_000

/** Most requests that no longer stand, and most characters of their texts together. */
const mostWithdrawn = { requests: 8, characters: 4_000 } as const

/** The texts that stand, oldest first. */
export function standingTexts(assignment: Assignment): string[] {
  return assignment.flatMap(({ text, stands }) => (stands ? text : []))
}

/** The ground of an assignment: the texts that stand, joined by a line break. */
export function groundOf(assignment: Assignment): string {
  return standingTexts(assignment).join('\n')
}

/**
 * The assignment after a message with an effect. A correction joins the request that stands and shares most
 * words with it, the newest of equals. Beyond the bounds the oldest request no longer stands, as the
 * assignment shows; of those that do not stand, the newest are kept.
 */
export function withMessage(
  assignment: Assignment,
  effect: Exclude<UserEffect, 'none'>,
  message: Omit<AssignedRequest, 'stands'>,
): Assignment {
  const added: AssignedRequest = { ...message, stands: true }
  if (effect === 'replaces') return bounded([...withdrawn(assignment), added])
  const corrected = effect === 'adds' ? null : belongsTo(assignment, message.text)
  const text = `${corrected?.text}\n${message.text}`
  if (corrected === null || text.length > longestRequest) return bounded([...assignment, added])
  const after = { ...added, text, by: message.by === 'unknown' ? message.by : corrected.by }
  return bounded(assignment.map((each) => (each === corrected ? after : each)))
}

/** The request that a correction belongs to, or null if none stands. */
function belongsTo(assignment: Assignment, correction: string): AssignedRequest | null {
  const words = wordsOf(correction)
  let best: AssignedRequest | null = null
  let most = -1
  for (const each of assignment) {
    const shared = each.stands ? sharedWords(words, wordsOf(each.text)).length : -1
    if (shared >= most && each.stands) best = each
    most = Math.max(most, shared)
  }
  return best
}

function withdrawn(assignment: Assignment): Assignment {
  return assignment.map((each) => ({ ...each, stands: false }))
}

function bounded(assignment: Assignment): Assignment {
  const standing = newest(assignment, mostStanding, ({ stands }) => stands)
  const after = assignment.map((each) =>
    each.stands && !standing.has(each) ? { ...each, stands: false } : each,
  )
  const others = newest(after, mostWithdrawn, ({ stands }) => !stands)
  return after.filter((each) => each.stands || others.has(each))
}

/** The newest requests of a kind that fit into the room. */
function newest(
  assignment: Assignment,
  room: { readonly requests: number; readonly characters: number },
  isWanted: (request: AssignedRequest) => boolean,
): Set<AssignedRequest> {
  const kept = new Set<AssignedRequest>()
  let characters = 0
  for (const each of assignment.toReversed()) {
    if (!isWanted(each)) continue
    characters += each.text.length
    if (kept.size === room.requests || characters > room.characters) break
    kept.add(each)
  }
  return kept
}
