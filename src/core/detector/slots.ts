// The same wording with another order number, city, file or a "not": what two texts of one frame
// put into its places, compared place by place.

import { areOpposite } from './antonyms.ts'
import { isContent, type Kind, mostTokens, type SlotText, type SlotToken } from './slot-text.ts'

/** How two texts of nearly the same wording differ. */
export interface SlotDifference {
  /** Whether the difference by itself makes another errand of it: identifiers, opposites, negations. */
  hard: boolean
  /** One factual phrase that names the pair. */
  told: string
}

/** A place where the two texts differ: what each has there that says something. */
interface Gap {
  /** Whether nothing of the goal stands before it: the verb, which sub-tasks of an errand change. */
  leads: boolean
  ground: SlotToken[]
  goal: SlotToken[]
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
    turnedNegation(aligned, ground, goal) ??
    swappedPlaces(ground, goal) ??
    differingSlot(aligned, frameOf(aligned, ground, goal), isKnown)
  )
}

/** `pause it, do not cancel it` against `cancel it`: what the goal begins with is only ever denied. */
export function deniedVerb(ground: SlotText, goal: SlotText): SlotDifference | null {
  const verb = goal.tokens.find(isContent)
  if (verb?.kind !== 'word' || verb.negated || !ground.denied().has(verb.key)) return null
  const others = goal.tokens.filter((token) => token !== verb && isContent(token))
  return {
    hard: others.length > 0 && others.every(({ key }) => ground.keys().has(key)),
    told: `the ground says not to "${verb.text}"`,
  }
}

// Most goals share no frame with the ground, and counting is quicker than aligning.
function mayShareFrame(ground: SlotText, goal: SlotText): boolean {
  const keys = ground.keys()
  const one = goal.tokens.find(({ key }) => keys.has(key))
  if (one === undefined) return false
  if (goal.tokens.length <= 3) return true
  return goal.tokens.some(({ key }) => key !== one.key && keys.has(key))
}

/** The tokens two texts share in the same order, and what lies between them. */
interface Alignment {
  /** How many tokens they share, and how many of these say something. */
  matched: number
  matchedContent: number
  /** The first shared token that says something, as each of the two has it. */
  first: { ground: SlotToken; goal: SlotToken } | null
  gaps: readonly Gap[]
}

// The length of the longest common subsequence of what is left of both, row by row of the ground.
const longest = new Uint8Array((mostTokens + 1) * (mostTokens + 1))

/** By the longest common subsequence. */
function align(ground: readonly SlotToken[], goal: readonly SlotToken[]): Alignment {
  const begin = sharedBeginning(ground, goal)
  const width = goal.length + 1
  longest.fill(0, ground.length * width, (ground.length + 1) * width)
  for (let i = ground.length - 1; i >= begin; i--) {
    const { key } = ground[i] as SlotToken
    let place = i * width + goal.length
    longest[place] = 0
    for (let j = goal.length - 1; j >= begin; j--) {
      place--
      const skipGround = longest[place + width] as number
      const skipGoal = longest[place + 1] as number
      // Where the two are the same, no way is longer than the one that takes both.
      longest[place] =
        (goal[j] as SlotToken).key === key
          ? (longest[place + width + 1] as number) + 1
          : Math.max(skipGround, skipGoal)
    }
  }
  const gaps: Gap[] = []
  let gap: Gap | null = null
  let first: Alignment['first'] = null
  let matched = 0
  let matchedContent = 0
  let i = 0
  let j = 0
  while (i < ground.length || j < goal.length) {
    const left = ground[i]
    const right = goal[j]
    if (left !== undefined && right !== undefined && left.key === right.key) {
      gap = null
      matched++
      if (isContent(right)) {
        matchedContent++
        first ??= { ground: left, goal: right }
      }
      i++
      j++
      continue
    }
    const skipsGround =
      right === undefined ||
      (left !== undefined &&
        (longest[(i + 1) * width + j] as number) >= (longest[i * width + j + 1] as number))
    const skipped = skipsGround ? left : right
    if (skipped !== undefined && isContent(skipped)) {
      if (gap === null) {
        gap = { leads: matched === 0, ground: [], goal: [] }
        gaps.push(gap)
      }
      gap[skipsGround ? 'ground' : 'goal'].push(skipped)
    }
    if (skipsGround) i++
    else j++
  }
  return { matched, matchedContent, first, gaps }
}

/** How many tokens the two begin with alike. */
function sharedBeginning(ground: readonly SlotToken[], goal: readonly SlotToken[]): number {
  const most = Math.min(ground.length, goal.length)
  let begin = 0
  while (begin < most && ground[begin]?.key === goal[begin]?.key) begin++
  return begin
}

/** `do not delete` against `delete`: the same words, denied in one of the two only. */
function turnedNegation(
  { first, matchedContent }: Alignment,
  ground: SlotText,
  { content }: SlotText,
): SlotDifference | null {
  if (first === null || matchedContent < 0.8 * content) return null
  if (first.ground.negated === first.goal.negated) return null
  if (!first.ground.negated) {
    return {
      hard: true,
      told: `the ground says to "${first.ground.text}" and the goal not to`,
    }
  }
  return ground.denied().has(first.goal.key)
    ? { hard: true, told: `the ground says not to "${first.goal.text}"` }
    : null
}

/** `a to b` against `b to a`: the same words in the same frame, two of them exchanged. */
function swappedPlaces(ground: SlotText, goal: SlotText): SlotDifference | null {
  if (ground.tokens.length !== goal.tokens.length) return null
  const differing: { token: SlotToken; other: SlotToken }[] = []
  for (let place = 0; place < ground.tokens.length; place++) {
    const token = ground.tokens[place] as SlotToken
    const other = goal.tokens[place]
    if (other === undefined || other.key === token.key) continue
    if (differing.length === 2) return null
    differing.push({ token, other })
  }
  const [one, two] = differing
  if (one === undefined || two === undefined) return null
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
  if (matchedContent === 0 || !frame.isNear) return null
  const exchanged = gaps.filter(({ ground, goal }) => ground.length > 0 && goal.length > 0)
  const hardOne = exchanged.find(({ ground, goal }) => isHard(ground, goal, isKnown))
  const named =
    hardOne ?? exchanged.find(({ leads, goal }) => !leads && goal.some(({ key }) => !isKnown(key)))
  if (named === undefined) return null
  const nothingElse =
    gaps.length === exchanged.length &&
    exchanged.every(({ ground, goal }) => ground.length <= 3 && goal.length <= 3)
  const hard = hardOne !== undefined && nothingElse && frame.share >= 0.5
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
  const share = (2 * matched) / (ground.tokens.length + goal.tokens.length)
  const begin = sharedBeginning(ground.tokens, goal.tokens)
  const isNear =
    share >= 0.5 ||
    (share >= 0.4 && matched >= 5) ||
    (share >= 0.3 && begin >= 3 && goal.tokens.slice(0, begin).some(isContent))
  return { share, isNear }
}

function isHard(
  ground: readonly SlotToken[],
  goal: readonly SlotToken[],
  isKnown: (key: string) => boolean,
): boolean {
  const [one] = ground
  const [other] = goal
  if (one === undefined || other === undefined || ground.length + goal.length > 2) return false
  if (areOpposite(one.text.toLowerCase(), other.text.toLowerCase())) return true
  return one.kind === other.kind && slotKinds.includes(one.kind) && !isKnown(other.key)
}

function shown(tokens: readonly SlotToken[]): string {
  const text = tokens.map((token) => token.text.replaceAll('"', '')).join(' ')
  return text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text
}
