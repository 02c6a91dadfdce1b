// Finds the same wording with another order number, city, file or a "not": compares two texts of one frame
// slot by slot.

import { areOpposite } from '../exact/antonyms.ts'
import {
  deniedIn,
  isContent,
  type Kind,
  keysOf,
  mostTokens,
  type SlotText,
  type SlotToken,
} from './slot-text.ts'

/** How two texts of nearly the same wording differ. */
export interface SlotDifference {
  /** Whether the difference alone makes it another errand: identifiers, opposites, negations. */
  hard: boolean
  /** One factual phrase that names the pair. */
  told: string
}

/** A gap where the two texts differ. */
interface Gap {
  /** Whether it is at the start of the goal: the verb, which differs between sub-tasks of one errand. */
  leads: boolean
  ground: Stretch
  goal: Stretch
}

/** A range of tokens. */
interface Stretch {
  tokens: readonly SlotToken[]
  from: number
  to: number
  /** Number of content tokens. */
  content: number
}

/**
 * How the goal differs from a ground of nearly the same wording, or null. Tokens that `isKnown` accepts
 * are never foreign.
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

/**
 * `pause it, do not cancel it` against `cancel it`: the ground names the goal's first word only after a
 * "not".
 */
export function deniedVerb(ground: SlotText, goal: SlotText): SlotDifference | null {
  const verb = goal.tokens.find(isContent)
  if (verb?.kind !== 'word' || verb.negated || !deniedIn(ground).has(verb.key)) return null
  const others = goal.tokens.filter((token) => token !== verb && isContent(token))
  return {
    hard: others.length > 0 && others.every(({ key }) => keysOf(ground).has(key)),
    told: `the ground says not to "${verb.text}"`,
  }
}

// Most goals share no frame with the ground, and counting is faster than aligning.
function mayShareFrame(ground: SlotText, goal: SlotText): boolean {
  const keys = keysOf(ground)
  const one = goal.tokens.find(({ key }) => keys.has(key))
  if (one === undefined) return false
  if (goal.tokens.length <= 3) return true
  return goal.tokens.some(({ key }) => key !== one.key && keys.has(key))
}

/** The common tokens of two texts in order, and the gaps between them. */
interface Alignment {
  /** Number of common tokens, and of those with content. */
  matched: number
  matchedContent: number
  /** How many tokens the two begin with alike. */
  begin: number
  /** The first common content token, as spelled in each text. */
  first: { ground: SlotToken; goal: SlotToken } | null
  /** The gaps where both texts have tokens, and the number of gaps where only one has. */
  exchanged: readonly Gap[]
  oneSided: number
}

// Lengths of the longest common subsequence of the remaining tokens, one row for each token of the ground.
const longest = new Uint8Array((mostTokens + 1) * (mostTokens + 1))

/** Fills `longest` from the place on to which the two are alike. */
function measure(ground: readonly SlotToken[], goal: readonly SlotToken[], begin: number): void {
  const width = goal.length + 1
  longest.fill(0, ground.length * width, (ground.length + 1) * width)
  for (let i = ground.length - 1; i >= begin; i--) {
    const token = ground[i] as SlotToken
    let place = i * width + goal.length
    longest[place] = 0
    for (let j = goal.length - 1; j >= begin; j--) {
      place--
      const skipGround = longest[place + width] as number
      const skipGoal = longest[place + 1] as number
      // At equal tokens, taking both is always among the longest ways.
      longest[place] = isSame(goal[j] as SlotToken, token)
        ? (longest[place + width + 1] as number) + 1
        : Math.max(skipGround, skipGoal)
    }
  }
}

function isSame(one: SlotToken, other: SlotToken): boolean {
  return one.hash === other.hash && one.key === other.key
}

/** By the longest common subsequence. */
function align(ground: readonly SlotToken[], goal: readonly SlotToken[]): Alignment {
  const begin = sharedBeginning(ground, goal)
  measure(ground, goal, begin)
  const width = goal.length + 1
  const exchanged: Gap[] = []
  let oneSided = 0
  let first: Alignment['first'] = null
  let matched = 0
  let matchedContent = 0
  let i = 0
  let j = 0
  // Start of the current gap in each text.
  let groundFrom = 0
  let goalFrom = 0
  const closeGap = () => {
    const ofGround = stretch(ground, groundFrom, i)
    const ofGoal = stretch(goal, goalFrom, j)
    if (
      ofGround.content > 0 &&
      ofGoal.content > 0 &&
      opensClause(ofGround) === opensClause(ofGoal)
    ) {
      exchanged.push({ leads: matched === 0, ground: ofGround, goal: ofGoal })
    } else if (ofGround.content > 0 || ofGoal.content > 0) oneSided++
  }
  while (i < ground.length || j < goal.length) {
    const left = ground[i]
    const right = goal[j]
    if (left !== undefined && right !== undefined && isSame(left, right)) {
      if (i > groundFrom || j > goalFrom) closeGap()
      matched++
      if (isContent(right)) {
        matchedContent++
        first ??= { ground: left, goal: right }
      }
      groundFrom = ++i
      goalFrom = ++j
      continue
    }
    const skipsGround =
      right === undefined ||
      (left !== undefined &&
        (longest[(i + 1) * width + j] as number) >= (longest[i * width + j + 1] as number))
    if (skipsGround) i++
    else j++
  }
  closeGap()
  return { matched, matchedContent, begin, first, exchanged, oneSided }
}

function stretch(tokens: readonly SlotToken[], from: number, to: number): Stretch {
  let content = 0
  for (let at = from; at < to; at++) if (isContent(tokens[at] as SlotToken)) content++
  return { tokens, from, to, content }
}

/** A detail does not stand for a further clause: "on port 8080" for "and check that the page loads". */
function opensClause({ tokens, from }: Stretch): boolean {
  return joins.has(tokens[from]?.key ?? '')
}

const joins = new Set(['and', 'then'])

function firstSaidIn({ tokens, from }: Stretch): SlotToken {
  let at = from
  while (!isContent(tokens[at] as SlotToken)) at++
  return tokens[at] as SlotToken
}

/** The content tokens of a range. */
function saidIn({ tokens, from, to }: Stretch): SlotToken[] {
  return tokens.slice(from, to).filter(isContent)
}

/** How many tokens the two begin with alike. */
function sharedBeginning(ground: readonly SlotToken[], goal: readonly SlotToken[]): number {
  const most = Math.min(ground.length, goal.length)
  let begin = 0
  while (begin < most && isSame(ground[begin] as SlotToken, goal[begin] as SlotToken)) begin++
  return begin
}

/** `do not delete` against `delete`: the same words, negated in only one text. */
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
  return deniedIn(ground).has(first.goal.key)
    ? { hard: true, told: `the ground says not to "${first.goal.text}"` }
    : null
}

/** `a to b` against `b to a`: the same frame with two words exchanged. */
function swappedPlaces(ground: SlotText, goal: SlotText): SlotDifference | null {
  if (ground.tokens.length !== goal.tokens.length) return null
  let one = -1
  let two = -1
  for (let place = 0; place < ground.tokens.length; place++) {
    if (isSame(ground.tokens[place] as SlotToken, goal.tokens[place] as SlotToken)) continue
    if (two >= 0) return null
    if (one < 0) one = place
    else two = place
  }
  if (two < 0) return null
  const [former, latter] = [ground.tokens[one] as SlotToken, ground.tokens[two] as SlotToken]
  const exchanged =
    isSame(former, goal.tokens[two] as SlotToken) && isSame(latter, goal.tokens[one] as SlotToken)
  if (!exchanged || !(isContent(former) || isContent(latter))) return null
  return { hard: true, told: `"${former.text}" and "${latter.text}" have changed places` }
}

const slotKinds: readonly Kind[] = ['number', 'identifier', 'quote']

function differingSlot(
  { exchanged, oneSided, matchedContent }: Alignment,
  frame: Frame,
  isKnown: (key: string) => boolean,
): SlotDifference | null {
  if (matchedContent === 0 || !frame.isNear) return null
  const hardOne = exchanged.find(({ ground, goal }) => isHard(ground, goal, isKnown))
  const named =
    hardOne ??
    exchanged.find(({ leads, goal }) => !leads && saidIn(goal).some(({ key }) => !isKnown(key)))
  if (named === undefined) return null
  const nothingElse =
    oneSided === 0 &&
    exchanged.every(({ ground, goal }) => ground.content <= 3 && goal.content <= 3)
  const hard = hardOne !== undefined && nothingElse && frame.share >= 0.5
  const { ground, goal } = named
  const told = `"${shown(saidIn(ground))}" in the ground is "${shown(saidIn(goal))}" in the goal`
  return { hard, told }
}

interface Frame {
  /** Share of common tokens, 0–1. */
  share: number
  /** Whether the wording is nearly the same. */
  isNear: boolean
}

/** Half of the tokens make a frame; fewer suffice if there are many, or if the texts start alike. */
function frameOf({ matched, begin }: Alignment, ground: SlotText, goal: SlotText): Frame {
  const share = (2 * matched) / (ground.tokens.length + goal.tokens.length)
  const isNear =
    share >= 0.5 ||
    (share >= 0.4 && matched >= 5) ||
    (share >= 0.3 && begin >= 3 && goal.tokens.slice(0, begin).some(isContent))
  return { share, isNear }
}

function isHard(ground: Stretch, goal: Stretch, isKnown: (key: string) => boolean): boolean {
  if (ground.content + goal.content > 2) return false
  const one = firstSaidIn(ground)
  const other = firstSaidIn(goal)
  if (areOpposite(one.text.toLowerCase(), other.text.toLowerCase())) return true
  return one.kind === other.kind && slotKinds.includes(one.kind) && !isKnown(other.key)
}

function shown(tokens: readonly SlotToken[]): string {
  const text = tokens.map((token) => token.text.replaceAll('"', '')).join(' ')
  return text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text
}
