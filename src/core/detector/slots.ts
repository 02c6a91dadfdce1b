// The same wording with another order number, city, file or a "not": what two texts of one frame
// put into its places, compared place by place.

import { areOpposite } from './antonyms.ts'
import { isContent, type Kind, type SlotText, type SlotToken } from './slot-text.ts'

/** How two texts of nearly the same wording differ. */
export interface SlotDifference {
  /** Whether the difference by itself makes another errand of it: identifiers, opposites, negations. */
  hard: boolean
  /** One factual phrase that names the pair. */
  told: string
}

/** A place where the two texts differ: what each has there. */
interface Gap {
  /** Whether nothing of the goal stands before it: the verb, which sub-tasks of an errand change. */
  leads: boolean
  ground: readonly SlotToken[]
  goal: readonly SlotToken[]
}

/**
 * How the goal differs from the ground where both have nearly the same wording, or null. What
 * `isKnown` tells to belong to the errand is never foreign.
 */
export function compareSlots(
  ground: SlotText,
  goal: SlotText,
  isKnown: (key: string) => boolean,
): SlotDifference | null {
  if (ground.content === 0 || goal.content === 0 || !mayShareFrame(ground, goal)) return null
  const aligned = align(ground.tokens, goal.tokens)
  return (
    turnedNegation(aligned, goal) ??
    swappedPlaces(ground, goal) ??
    differingSlot(aligned, frameOf(aligned, ground, goal), isKnown)
  )
}

// Most goals share no frame with the ground, and counting is quicker than aligning.
function mayShareFrame(ground: SlotText, goal: SlotText): boolean {
  let shared = 0
  for (const key of goal.keys) if (ground.keys.has(key)) shared++
  return shared >= 2 || (shared === 1 && goal.tokens.length <= 3)
}

interface Match {
  ground: SlotToken
  goal: SlotToken
}

/** The tokens two texts share in the same order, and what lies between them. */
interface Alignment {
  matched: readonly Match[]
  matchedContent: number
  gaps: readonly Gap[]
}

/** By the longest common subsequence. */
function align(ground: readonly SlotToken[], goal: readonly SlotToken[]): Alignment {
  const width = goal.length + 1
  const longest = new Uint8Array((ground.length + 1) * width)
  for (let i = ground.length - 1; i >= 0; i--) {
    for (let j = goal.length - 1; j >= 0; j--) {
      const skipGround = longest[(i + 1) * width + j] ?? 0
      const skipGoal = longest[i * width + j + 1] ?? 0
      const both = ground[i]?.key === goal[j]?.key ? (longest[(i + 1) * width + j + 1] ?? 0) + 1 : 0
      longest[i * width + j] = Math.max(skipGround, skipGoal, both)
    }
  }
  const matched: Match[] = []
  const gaps: Gap[] = []
  let matchedContent = 0
  let gap = { leads: true, ground: [] as SlotToken[], goal: [] as SlotToken[] }
  const closeGap = () => {
    if (gap.ground.length + gap.goal.length > 0) gaps.push(gap)
    gap = { leads: false, ground: [], goal: [] }
  }
  let i = 0
  let j = 0
  while (i < ground.length || j < goal.length) {
    const left = ground[i]
    const right = goal[j]
    if (left !== undefined && right !== undefined && left.key === right.key) {
      closeGap()
      matched.push({ ground: left, goal: right })
      if (isContent(right)) matchedContent++
      i++
      j++
    } else if (
      right === undefined ||
      (left !== undefined &&
        (longest[(i + 1) * width + j] ?? 0) >= (longest[i * width + j + 1] ?? 0))
    ) {
      if (left !== undefined) gap.ground.push(left)
      i++
    } else {
      gap.goal.push(right)
      j++
    }
  }
  closeGap()
  return { gaps, matched, matchedContent }
}

/** `do not delete` against `delete`: the same words, denied in one of the two only. */
function turnedNegation(
  { matched, matchedContent }: Alignment,
  { content }: SlotText,
): SlotDifference | null {
  const first = matched.find(({ goal }) => isContent(goal))
  if (first === undefined || matchedContent < 0.8 * content) return null
  if (first.ground.negated === first.goal.negated) return null
  const { ground, goal } = first
  return {
    hard: true,
    told: ground.negated
      ? `the ground says not to "${goal.text}"`
      : `the ground says to "${ground.text}" and the goal not to`,
  }
}

/** `a to b` against `b to a`: the same words in the same frame, two of them exchanged. */
function swappedPlaces(ground: SlotText, goal: SlotText): SlotDifference | null {
  if (ground.tokens.length !== goal.tokens.length) return null
  const differing = ground.tokens.flatMap((token, place) => {
    const other = goal.tokens[place]
    return other === undefined || other.key === token.key ? [] : [{ token, other }]
  })
  const [one, two] = differing
  if (differing.length !== 2 || one === undefined || two === undefined) return null
  const exchanged = one.token.key === two.other.key && two.token.key === one.other.key
  if (!exchanged || !(isContent(one.token) || isContent(two.token))) return null
  return {
    hard: true,
    told: `"${one.token.text}" and "${two.token.text}" have changed places`,
  }
}

const slotKinds: readonly Kind[] = ['number', 'identifier', 'quote']

function differingSlot(
  { gaps, matchedContent }: Alignment,
  frame: Frame,
  isKnown: (key: string) => boolean,
): SlotDifference | null {
  const filled = gaps
    .map(({ leads, ground, goal }) => ({
      leads,
      ground: ground.filter(isContent),
      goal: goal.filter(isContent),
    }))
    .filter(({ ground, goal }) => ground.length + goal.length > 0)
  const exchanged = filled.filter(({ ground, goal }) => ground.length > 0 && goal.length > 0)
  const foreign = exchanged.find(
    ({ leads, goal }) => !leads && goal.some(({ key }) => !isKnown(key)),
  )
  if (matchedContent === 0) return null
  const hardOne = exchanged.find(({ ground, goal }) => isHard(ground, goal, isKnown))
  const nothingElse =
    filled.length === exchanged.length &&
    exchanged.every(({ ground, goal }) => ground.length <= 3 && goal.length <= 3)
  const hard = hardOne !== undefined && nothingElse && frame.share >= 0.5
  const named = hardOne ?? foreign
  if (named === undefined || !(hard || frame.isNear)) return null
  const { ground, goal } = named
  return { hard, told: `"${shown(ground)}" in the ground is "${shown(goal)}" in the goal` }
}

interface Frame {
  /** Share of the tokens that the two have in common, 0–1. */
  share: number
  /** Whether it is nearly the same wording. */
  isNear: boolean
}

/** Half of the tokens are a frame; fewer are when they are many, or when the texts begin alike. */
function frameOf({ matched }: Alignment, ground: SlotText, goal: SlotText): Frame {
  const share = (2 * matched.length) / (ground.tokens.length + goal.tokens.length)
  let begin = 0
  let beginContent = 0
  while (begin < goal.tokens.length) {
    const token = goal.tokens[begin]
    if (token === undefined || token.key !== ground.tokens[begin]?.key) break
    if (isContent(token)) beginContent++
    begin++
  }
  const isNear =
    share >= 0.5 ||
    (share >= 0.4 && matched.length >= 5) ||
    (share >= 0.3 && begin >= 3 && beginContent > 0)
  return { share, isNear }
}

function isHard(
  ground: readonly SlotToken[],
  goal: readonly SlotToken[],
  isKnown: (key: string) => boolean,
): boolean {
  const [one, ...moreOfGround] = ground
  const [other, ...moreOfGoal] = goal
  if (one === undefined || other === undefined || moreOfGround.length + moreOfGoal.length > 0) {
    return false
  }
  if (areOpposite(one.text.toLowerCase(), other.text.toLowerCase())) return true
  return one.kind === other.kind && slotKinds.includes(one.kind) && !isKnown(other.key)
}

function shown(tokens: readonly SlotToken[]): string {
  const text = tokens.map((token) => token.text.replaceAll('"', '')).join(' ')
  return text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text
}
