import { contentWords, stemOf } from '../src/core/detector/meaning/text.ts'
import type { TrainingPair } from './pairs.ts'
import type { WordVectors } from './pretrained.ts'

/** The words that get a row in the model, with the facts that are known before the training. */
export interface Vocabulary {
  words: string[]
  rowOf: Map<string, number>
  /** About the natural logarithm of each word's rank, 0–16. */
  rarities: Float64Array
  unknownRarity: number
  known: Uint8Array
  /** The pretrained vectors, centred and of length one; of length zero for a word without one. */
  vectors: Float64Array
  dims: number
}

/**
 * This many of the most frequent words of the language have a row, whether or not they occur in the pairs.
 */
const generalWords = 30_000
/** Words beyond general text need this many occurrences in the pairs. */
const fewestOccurrences = 3
const mostRarity = 15.9
// Rarity comes from the pairs, which fit the trade, and from general text, which is large.
const rarityFromPairs = 0.6

// Function words of other languages that are spelled like a rare English word or a name. As known words they
// would make a German or Spanish goal look readable.
const foreign: ReadonlySet<string> = new Set(
  (
    'der die das den dem des ein eine einen und oder nicht mit von zu zur zum im ist auf bei nach aus um als ' +
    'auch wie noch nur mein meine ich wir sie es le la les un une des du de et est que qui pour dans sur avec ' +
    'par au aux en mes mon ma ce se pas plus vol el los las una y o por con para del al lo su mi como mas il i ' +
    'gli della di da per che non sono het een van op te voor met os um uma na no com em ao och att det som ' +
    'jag ett pa til og av ja nie na do z w sie jest'
  ).split(' '),
)
// Some of them are English words as well.
const english: ReadonlySet<string> = new Set(
  'die no on do plus pas per lo ma pa met also'.split(' '),
)

/** Chooses the words of the model from the pairs and from general text. */
export function buildVocabulary(
  pairs: readonly TrainingPair[],
  general: WordVectors,
  dictionary: ReadonlySet<string>,
): Vocabulary {
  const { occurrences, texts, textsWith } = countWords(pairs)
  const rankOf = new Map(general.words.map((word, rank) => [word, rank]))
  const chosen = new Set<string>()
  for (const [word, count] of occurrences) {
    const isFrequent = count >= fewestOccurrences || rankOf.has(word)
    if (isFrequent && /^[a-z]+$/.test(word)) chosen.add(word)
  }
  let taken = 0
  for (const word of general.words) {
    if (taken >= generalWords) break
    if (!/^[a-z]+$/.test(word)) continue
    chosen.add(word)
    taken += 1
  }
  const words = [...chosen]
  const unknownRank = Math.log(general.words.length) - 1.7
  const rarities = Float64Array.from(words, (word) => {
    const inPairs = Math.log((texts + 1) / ((textsWith.get(stemOf(word)) ?? 0) + 1))
    const rank = rankOf.get(word)
    const inGeneral = rank === undefined ? unknownRank : Math.log(rank + 5)
    return Math.min(mostRarity, rarityFromPairs * inPairs + (1 - rarityFromPairs) * inGeneral)
  })
  const known = Uint8Array.from(words, (word) => {
    if (foreign.has(word) && !english.has(word)) return 0
    const isOfTrade = (occurrences.get(word) ?? 0) >= fewestOccurrences
    return isOfTrade || isEnglish(word, dictionary) ? 1 : 0
  })
  return {
    words,
    rowOf: new Map(words.map((word, row) => [word, row])),
    rarities,
    unknownRarity: unknownRank,
    known,
    vectors: centred(words, rankOf, general),
    dims: general.dims,
  }
}

function countWords(pairs: readonly TrainingPair[]) {
  const texts = new Set(pairs.flatMap(({ ground, goal }) => [ground, goal]))
  const occurrences = new Map<string, number>()
  const textsWith = new Map<string, number>()
  for (const text of texts) {
    const words = contentWords(text)
    for (const word of words) increment(occurrences, word)
    for (const stem of new Set(words.map(stemOf))) increment(textsWith, stem)
  }
  return { occurrences, texts: texts.size, textsWith }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** Whether the dictionary lists the word, or its base form. */
function isEnglish(word: string, dictionary: ReadonlySet<string>): boolean {
  if (dictionary.has(word)) return true
  const bases = [/s$/, /es$/, /d$/, /ed$/, /ing$/, /er$/, /ly$/].map((end) => word.replace(end, ''))
  return bases.some(
    (base) =>
      base !== word &&
      base.length >= 3 &&
      (dictionary.has(base) || dictionary.has(`${base}e`) || dictionary.has(base.slice(0, -1))),
  )
}

function centred(
  words: readonly string[],
  rankOf: ReadonlyMap<string, number>,
  { dims, values }: WordVectors,
): Float64Array {
  const vectors = new Float64Array(words.length * dims)
  const mean = new Float64Array(dims)
  const ranks = words.map((word) => rankOf.get(word))
  const found = ranks.filter((rank) => rank !== undefined)
  for (const rank of found) {
    for (let d = 0; d < dims; d++) mean[d]! += values[rank * dims + d]! / found.length
  }
  for (const [row, rank] of ranks.entries()) {
    if (rank === undefined) continue
    let squares = 0
    for (let d = 0; d < dims; d++) {
      const value = values[rank * dims + d]! - mean[d]!
      vectors[row * dims + d] = value
      squares += value * value
    }
    for (let d = 0; d < dims; d++) vectors[row * dims + d]! /= Math.sqrt(squares) + 1e-9
  }
  return vectors
}
