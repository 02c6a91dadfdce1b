import { type Analysed, mostTokens, type Token } from './text.ts'

/** The features of a ground and a goal, in the order of the coefficients of the model. */
export const featureNames = [
  'goal covered',
  'ground covered',
  'cosine of rarities',
  'shared words',
  'rarity shared',
  'rarity missing',
  'beginnings shared',
  'ground size',
  'rarest of goal',
  'goal is a file',
  'goal matched',
  'ground matched',
  'root of goal weight',
  'root of ground weight',
  'root of weight unmatched',
  'root of weight matched',
  'goal covered in parts',
  'ground covered in parts',
  'rarity missing in parts',
  'root of words missing in parts',
  'ground begun',
  'neighbours shared',
  'share of ground named',
  'log-odds unmatched',
  'log-odds matched',
] as const

/** Similarity at which two words are equal, and below which they have nothing in common. */
const similar = { from: 0.75, unlike: 0.45, soft: 0.3, same: 0.8 } as const
const shortestPart = 4
const shortestWhole = 6

// State of one measurement: the best match and the longest common prefix of each word of the ground,
// whether the last compared word shares a prefix with any of them, and the sums that the first half of the
// cosine leaves for the second.
const closestOfGround = new Float64Array(mostTokens)
const begunOfGround = new Float64Array(mostTokens)
let isBegun = false
let squaresOfGoal = 0
let squaresShared = 0

/** Measures a pair into `out`, which has room for every feature. */
export function measurePair(ground: Analysed, goal: Analysed, out: Float64Array): void {
  const count = ground.tokens.length
  for (let at = 0; at < count; at++) {
    closestOfGround[at] = 0
    begunOfGround[at] = 0
  }
  measureGoal(ground, goal, out)
  measureGround(ground, goal, out)
  out[7] = ground.size
  out[9] = goal.isFile ? 1 : 0
  out[21] = share(countShared(goal, ground), goal.pairs.length)
  out[22] = share(out[3] as number, count)
}

/** Measures the goal's words against the ground; opaque words count only if the ground has them. */
function measureGoal(ground: Analysed, goal: Analysed, out: Float64Array): void {
  let rarity = 0
  let squares = 0
  let weight = 0
  let rarest = 0
  let shared = 0
  let sharedRarity = 0
  let sharedSquares = 0
  let beginnings = 0
  let beginningsShared = 0
  let matched = 0
  let unlikeWeight = 0
  let similarWeight = 0
  let rarityInParts = 0
  let wordsMissing = 0
  let unlikeness = 0
  let unmatched = 0
  let matchedLeaning = 0
  for (const token of goal.tokens) {
    const closest = closestTo(token, ground.tokens)
    const isInParts = closest === 1 || isPartOf(token, ground)
    if (token.prefix !== 0) {
      beginnings += 1
      if (isBegun) beginningsShared += 1
    }
    if (token.opaque && !isInParts) continue
    rarity += token.rarity
    squares += token.rarity * token.rarity
    weight += token.weight
    if (token.rarity > rarest) rarest = token.rarity
    if (closest === 1) {
      shared += 1
      sharedRarity += token.rarity
      sharedSquares += token.rarity * token.rarity
    }
    matched += token.weight * closest
    if (closest < similar.unlike) unlikeWeight += token.weight
    if (closest >= similar.from) similarWeight += token.weight
    if (isInParts) rarityInParts += token.rarity
    else wordsMissing += 1
    const likeness = isInParts ? 1 : likenessOf(closest)
    unlikeness += 1 - likeness
    unmatched += token.unmatched * (1 - likeness)
    matchedLeaning += token.matched * likeness
  }
  squaresOfGoal = squares
  squaresShared = sharedSquares
  out[0] = share(sharedRarity, rarity)
  out[3] = shared
  out[4] = sharedRarity
  out[5] = rarity - sharedRarity
  out[6] = share(beginningsShared, beginnings)
  out[8] = rarest
  out[10] = share(matched, weight)
  out[12] = Math.sqrt(weight)
  out[14] = Math.sqrt(unlikeWeight)
  out[15] = Math.sqrt(similarWeight)
  out[16] = share(rarityInParts, rarity)
  out[18] = rarity - rarityInParts
  out[19] = Math.sqrt(wordsMissing)
  out[23] = unlikeness > 0 ? unmatched / Math.sqrt(unlikeness) : 0
  out[24] = matchedLeaning
}

/** Measures the ground's words against the goal; opaque words count only if the goal has them. */
function measureGround({ tokens }: Analysed, goal: Analysed, out: Float64Array): void {
  let rarity = 0
  let squares = 0
  let weight = 0
  let matched = 0
  let begun = 0
  let rarityInParts = 0
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token
    const closest = closestOfGround[at] as number
    const isPart = closest === 1 || standsIn(goal, token)
    if (token.opaque && !isPart) continue
    rarity += token.rarity
    squares += token.rarity * token.rarity
    weight += token.weight
    matched += token.weight * closest
    begun += token.rarity * (begunOfGround[at] as number)
    if (isPart) rarityInParts += token.rarity
  }
  out[1] = share(out[4] as number, rarity)
  out[2] = share(squaresShared, Math.sqrt(squaresOfGoal) * Math.sqrt(squares))
  out[11] = share(matched, weight)
  out[13] = Math.sqrt(weight)
  out[17] = share(rarityInParts, rarity)
  out[20] = share(begun, rarity)
}

/**
 * The best match of a word in the ground, 0–1: 1 for the same stem, otherwise the cosine of the vectors.
 * Also records the matches of the ground's words.
 */
function closestTo(token: Token, among: readonly Token[]): number {
  const { stem, prefix } = token
  let closest = 0
  isBegun = false
  if (token.length === 0 && prefix === 0) return sameAmong(stem, among)
  for (let at = 0; at < among.length; at++) {
    const other = among[at] as Token
    let similarity = 1
    if (other.stem === stem) {
      begunOfGround[at] = 1
      isBegun = true
    } else {
      similarity = similarityOf(token, other)
      if (prefix !== 0 && other.prefix === prefix) {
        isBegun = true
        const begun = beginningOf(token.word, other.word)
        if (begun > (begunOfGround[at] as number)) begunOfGround[at] = begun
      }
    }
    if (similarity > closest) closest = similarity
    if (similarity > (closestOfGround[at] as number)) closestOfGround[at] = similarity
  }
  return closest
}

/** The same for an unknown word that is too short for a common prefix: a match or none. */
function sameAmong(stem: number, among: readonly Token[]): number {
  let closest = 0
  for (let at = 0; at < among.length; at++) {
    if ((among[at] as Token).stem !== stem) continue
    begunOfGround[at] = 1
    closestOfGround[at] = 1
    isBegun = true
    closest = 1
  }
  return closest
}

const almostOne = 1023 / 1024

// A cache of similarities, indexed by the ids of both words: most words meet again, and a lookup is ten
// times as fast as comparing vectors.
const places = 1 << 15
// Each entry holds both ids and the inner product. Ids grow while the process lives, beyond 32 bits.
const entry = 4
const compared = new Float64Array(entry * places)

/** The cosine of two words of different stems; it never reaches 1. */
function similarityOf(one: Token, other: Token): number {
  if (one.length === 0 || other.length === 0) return 0
  const lower = Math.min(one.id, other.id)
  const higher = Math.max(one.id, other.id)
  const place = entry * ((Math.imul(lower, 0x9e3779b1) + higher) & (places - 1))
  if (compared[place] !== lower || compared[place + 1] !== higher) {
    compared[place] = lower
    compared[place + 1] = higher
    compared[place + 2] = dotOf(one.vector, other.vector)
  }
  return Math.min(almostOne, (compared[place + 2] as number) / (one.length * other.length))
}

/** The inner product of two integer vectors whose length is a multiple of four; exact in any order. */
function dotOf(one: Int8Array, other: Int8Array): number {
  let dot = 0
  for (let d = 0; d < one.length; d += 4) {
    dot +=
      (one[d] as number) * (other[d] as number) +
      (one[d + 1] as number) * (other[d + 1] as number) +
      (one[d + 2] as number) * (other[d + 2] as number) +
      (one[d + 3] as number) * (other[d + 3] as number)
  }
  return dot
}

/** For each word of the goal, the share that the ground covers, 0–1, in the order of its tokens. */
export function likenesses(ground: Analysed, goal: Analysed): number[] {
  return goal.tokens.map((token) => {
    const closest = closestTo(token, ground.tokens)
    return closest === 1 || isPartOf(token, ground) ? 1 : likenessOf(closest)
  })
}

/** The share of a word's meaning that the ground covers, 0–1, by the cosine of its best match. */
function likenessOf(closest: number): number {
  const likeness = (closest - similar.soft) / (similar.same - similar.soft)
  return Math.max(0, Math.min(1, likeness))
}

/** Whether the ground's letters contain the word, or the word contains one of the ground's words. */
function isPartOf(token: Token, ground: Analysed): boolean {
  if (standsIn(ground, token)) return true
  const { word, letters } = token
  if (word.length < shortestWhole) return false
  for (const other of ground.tokens) {
    const { length } = other.word
    const isPossible = length >= shortestPart && length < word.length
    if (isPossible && (other.letters & ~letters) === 0 && word.includes(other.word)) return true
  }
  return false
}

/**
 * Whether the letters of a text contain the root of a word; a quick check first, because mostly a letter
 * is missing.
 */
function standsIn({ squashed, letters }: Analysed, { root, lettersOfRoot }: Token): boolean {
  if (root.length < shortestPart || (lettersOfRoot & ~letters) !== 0) return false
  return squashed.includes(root)
}

/** The length of the common prefix as a share of two words, 0–1. */
function beginningOf(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length)
  let alike = 0
  while (alike < shorter && one.charCodeAt(alike) === other.charCodeAt(alike)) alike += 1
  // Below 1, which is reserved for words of the same stem.
  return Math.min(almostOne, (2 * alike) / (one.length + other.length))
}

/** Number of word pairs that goal and ground share. */
function countShared({ pairs }: Analysed, ground: Analysed): number {
  ground.pairSet ??= new Set(ground.pairs)
  let count = 0
  for (const hash of pairs) if (ground.pairSet.has(hash)) count += 1
  return count
}

function share(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0
}
