import { type Analysed, mostTokens, type Token } from './meaning-text.ts'

/** What is measured of a ground and a goal, in the order of the model's coefficients. */
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

/** Similarity from which two words are as good as one, and below which they have nothing in common. */
const similar = { from: 0.75, unlike: 0.45, soft: 0.3, same: 0.8 } as const
const shortestPart = 4
const shortestWhole = 6

// What is noted while a pair is measured: the best match of each of the ground's words, how far it is
// begun, and whether the last word compared begins like any of them.
const closestOfGround = new Float64Array(mostTokens)
const begunOfGround = new Float64Array(mostTokens)
let isBegun = false

/** Measures a pair into `out`, which has room for every feature. */
export function measurePair(ground: Analysed, goal: Analysed, out: Float64Array): void {
  const count = ground.tokens.length
  for (let at = 0; at < count; at++) {
    closestOfGround[at] = 0
    begunOfGround[at] = 0
  }
  const found = matchGoal(ground, goal)
  const named = matchGround(ground, goal)
  const neighbours = countShared(goal.pairs, ground.pairs)
  out[0] = share(found.sharedRarity, found.rarity)
  out[1] = share(found.sharedRarity, named.rarity)
  out[2] = share(found.sharedSquares, Math.sqrt(found.squares) * Math.sqrt(named.squares))
  out[3] = found.shared
  out[4] = found.sharedRarity
  out[5] = found.rarity - found.sharedRarity
  out[6] = share(found.beginningsShared, found.beginnings)
  out[7] = ground.size
  out[8] = found.rarest
  out[9] = goal.isFile ? 1 : 0
  out[10] = share(found.matched, found.weight)
  out[11] = share(named.matched, named.weight)
  out[12] = Math.sqrt(found.weight)
  out[13] = Math.sqrt(named.weight)
  out[14] = Math.sqrt(found.unlikeWeight)
  out[15] = Math.sqrt(found.similarWeight)
  out[16] = share(found.rarityInParts, found.rarity)
  out[17] = share(named.rarityInParts, named.rarity)
  out[18] = found.rarity - found.rarityInParts
  out[19] = Math.sqrt(found.wordsMissing)
  out[20] = share(named.begun, named.rarity)
  out[21] = share(neighbours, goal.pairs.length)
  out[22] = share(found.shared, count)
  out[23] = found.unlikeness > 0 ? found.unmatched / Math.sqrt(found.unlikeness) : 0
  out[24] = found.matchedLeaning
}

/** What the words of the goal find in the ground; opaque words count only where they are found. */
function matchGoal(ground: Analysed, goal: Analysed) {
  const found = {
    rarity: 0,
    squares: 0,
    weight: 0,
    rarest: 0,
    shared: 0,
    sharedRarity: 0,
    sharedSquares: 0,
    beginnings: 0,
    beginningsShared: 0,
    matched: 0,
    unlikeWeight: 0,
    similarWeight: 0,
    rarityInParts: 0,
    wordsMissing: 0,
    unlikeness: 0,
    unmatched: 0,
    matchedLeaning: 0,
  }
  for (const token of goal.tokens) {
    const { rarity, weight } = token
    const closest = closestTo(token, ground.tokens)
    const isInParts = closest === 1 || isPartOf(token, ground)
    if (token.prefix !== 0) {
      found.beginnings += 1
      if (isBegun) found.beginningsShared += 1
    }
    if (token.opaque && !isInParts) continue
    found.rarity += rarity
    found.squares += rarity * rarity
    found.weight += weight
    if (rarity > found.rarest) found.rarest = rarity
    if (closest === 1) {
      found.shared += 1
      found.sharedRarity += rarity
      found.sharedSquares += rarity * rarity
    }
    found.matched += weight * closest
    if (closest < similar.unlike) found.unlikeWeight += weight
    if (closest >= similar.from) found.similarWeight += weight
    if (isInParts) found.rarityInParts += rarity
    else found.wordsMissing += 1
    const likeness = isInParts ? 1 : likenessOf(closest)
    found.unlikeness += 1 - likeness
    found.unmatched += token.unmatched * (1 - likeness)
    found.matchedLeaning += token.matched * likeness
  }
  return found
}

/** What the ground's words found on their side; opaque words count only where they were found. */
function matchGround({ tokens }: Analysed, goal: Analysed) {
  const named = { rarity: 0, squares: 0, weight: 0, matched: 0, begun: 0, rarityInParts: 0 }
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token
    const { rarity, weight } = token
    const closest = closestOfGround[at] as number
    const begun = begunOfGround[at] as number
    const isPart = closest === 1 || standsIn(goal, token)
    if (token.opaque && !isPart) continue
    named.rarity += rarity
    named.squares += rarity * rarity
    named.weight += weight
    named.matched += weight * closest
    named.begun += rarity * begun
    if (isPart) named.rarityInParts += rarity
  }
  return named
}

/**
 * The best match of a word among the ground's, 0–1: 1 for the same stem, else the cosine of the
 * vectors. Notes what the ground's words find on their side.
 */
function closestTo(token: Token, among: readonly Token[]): number {
  const { stem, prefix } = token
  let closest = 0
  isBegun = false
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

const almostOne = 1023 / 1024

// Similarities found before, each at the place that the ids of its two words give: most words meet
// again, and looking is ten times as quick as comparing their vectors.
const places = 1 << 15
const lowerIds = new Float64Array(places)
const higherIds = new Float64Array(places)
const similarities = new Float64Array(places)

/** The cosine of two words of different stems, which never count as one, however alike they are. */
function similarityOf(one: Token, other: Token): number {
  if (one.length === 0 || other.length === 0) return 0
  const lower = Math.min(one.id, other.id)
  const higher = Math.max(one.id, other.id)
  const place = (Math.imul(lower, 0x9e3779b1) + higher) & (places - 1)
  if (lowerIds[place] !== lower || higherIds[place] !== higher) {
    lowerIds[place] = lower
    higherIds[place] = higher
    const cosine = dotOf(one.vector, other.vector) / (one.length * other.length)
    similarities[place] = Math.min(almostOne, cosine)
  }
  return similarities[place] as number
}

/** The inner product of two vectors whose length is a multiple of four; whole, so exact in any order. */
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

/** For each word of the goal how much of it the ground has, 0–1, in the order of its tokens. */
export function likenesses(ground: Analysed, goal: Analysed): number[] {
  return goal.tokens.map((token) => {
    const closest = closestTo(token, ground.tokens)
    return closest === 1 || isPartOf(token, ground) ? 1 : likenessOf(closest)
  })
}

/** How much of a word's meaning the ground has, 0–1, by the cosine of its best match. */
function likenessOf(closest: number): number {
  const likeness = (closest - similar.soft) / (similar.same - similar.soft)
  return Math.max(0, Math.min(1, likeness))
}

/** Whether the word stands inside the ground's letters, or one of the ground's words inside it. */
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

/** Whether the letters of a text have the word's root in them; mostly one is missing. */
function standsIn({ squashed, letters }: Analysed, { root, lettersOfRoot }: Token): boolean {
  if (root.length < shortestPart || (lettersOfRoot & ~letters) !== 0) return false
  return squashed.includes(root)
}

/** The share of two words that they begin with alike, 0–1. */
function beginningOf(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length)
  let alike = 0
  while (alike < shorter && one.charCodeAt(alike) === other.charCodeAt(alike)) alike += 1
  // 1 is kept for words of the same stem.
  return Math.min(almostOne, (2 * alike) / (one.length + other.length))
}

function countShared(of: readonly number[], among: readonly number[]): number {
  let count = 0
  for (const hash of of) if (among.includes(hash)) count += 1
  return count
}

function share(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0
}
