import { two } from '../../figures.ts'
import type { Compared } from '../contract/detector.ts'
import { piecesOf, stemOf } from '../words/tokens.ts'
import { rawWords } from '../words/words.ts'
import type { Seen, Weighed } from './evidence.ts'

/** The facts for the explanation. */
interface Explained {
  compared: Compared
  seen: Seen
  /** The findings of table and embeddings, in sentences. */
  hints: readonly string[]
  weighed: Weighed
  drifts: boolean
  /** The score of a declared parent, or null without one. */
  parentScore: number | null
  /** Whether the run had drifted before this step. */
  returned: boolean
}

const mostWords = 6
const longestWord = 24
// Total characters of the goal and the words of the ground up to which a search is faster than a set.
const shortTexts = 400

/** The deciding numbers, in sentences. */
export function explainStep(explained: Explained): string {
  const { seen, hints, drifts, returned, parentScore } = explained
  let sentences = told(explained)
  for (const hint of hints) sentences += ` ${hint}`
  if (parentScore !== null) {
    sentences += ` The declared parent scores ${two(parentScore)} against the ground.`
  }
  sentences += ` ${evidence(explained)}`
  const isBack = returned && !drifts && seen.score <= 0
  return isBack ? `${sentences} The run is back on the errand.` : sentences
}

function told({ compared, seen }: Explained): string {
  const score = `the model scores it ${two(seen.score)} for drift, 0 being even`
  switch (seen.kind) {
    case 'restated':
      return seen.told === '' ? 'The goal restates the ground.' : seen.told
    case 'override':
    case 'forbidden':
    case 'swap':
      return seen.told
    case 'hard':
      return `The wording is the ground's, but ${seen.told}.`
    case 'slot':
      return `The wording is nearly the ground's, but ${seen.told}.`
    case 'lexical':
      return `The model knows too little of these words; ${words(compared)}, an overlap of ${two(compared.overlap)}.`
    case 'unreadable':
      return `The model knows too little of these words to tell; ${words(compared)}.`
    case 'scored':
      return `${seen.told === '' ? '' : `${seen.told} `}${capitalised(words(compared))}; ${score}.`
  }
}

function words({ goal, ground }: Compared): string {
  const shared: string[] = []
  const missing: string[] = []
  const pieces = goal.length + ground.words.length > shortTexts ? null : piecesOf(goal)
  // Searching a long ground for each word of a long goal would take quadratic time.
  if (pieces === null) {
    const known = new Set(ground.words)
    for (const word of new Set(rawWords(goal))) {
      const stem = stemOf(word)
      if (stem !== null) (known.has(stem) ? shared : missing).push(word)
    }
  } else {
    for (const { raw, stems } of pieces) {
      for (let place = 0; place < raw.length; place++) {
        const word = raw[place] as string
        const stem = stems[place] as string | null
        if (stem === null || shared.includes(word) || missing.includes(word)) continue
        ;(ground.words.includes(stem) ? shared : missing).push(word)
      }
    }
  }
  const foreign = missing.length === 0 ? '' : `, not in it: ${listed(missing)}`
  if (shared.length === 0) return `it shares no word with the ground${foreign}`
  return `it shares ${listed(shared)} with the ground${foreign}`
}

function evidence({ weighed, drifts }: Explained): string {
  const { evidence, limit } = weighed
  const reached = drifts ? 'reaches' : 'is below'
  return `The evidence so far, ${two(evidence)}, ${reached} the limit of ${two(limit)}.`
}

function listed(words: readonly string[]): string {
  let shown = ''
  for (let place = 0; place < words.length && place < mostWords; place++) {
    const word = words[place] as string
    const cut = word.length > longestWord ? word.slice(0, longestWord).toWellFormed() : word
    shown += place === 0 ? cut : `, ${cut}`
  }
  const more = words.length - mostWords
  return more > 0 ? `${shown} and ${more} more` : shown
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
