import type { Compared } from './detectors.ts'
import type { Weighed } from './evidence.ts'
import type { Seen } from './meaning.ts'
import { stemOf } from './pieces.ts'
import { rawWords } from './words.ts'

/** What the sentence tells of. */
interface Explained {
  compared: Compared
  seen: Seen
  /** What was said beside the texts, in sentences. */
  hints: readonly string[]
  weighed: Weighed
  drifts: boolean
  /** The score of a declared parent, or null when none was. */
  parentScore: number | null
  /** Whether the run had drifted before this step. */
  returned: boolean
}

const mostWords = 6
const longestWord = 24

/** The numbers that decided, in sentences. */
export function explainStep(explained: Explained): string {
  const { seen, hints, drifts, returned, parentScore } = explained
  const sentences = [told(explained), ...hints]
  if (parentScore !== null) {
    sentences.push(`The declared parent scores ${two(parentScore)} against the ground.`)
  }
  sentences.push(evidence(explained))
  if (returned && !drifts && seen.score <= 0) sentences.push('The run is back on the errand.')
  return sentences.join(' ')
}

function told({ compared, seen }: Explained): string {
  const score = `the model scores it ${two(seen.score)} for drift, 0 being even`
  switch (seen.kind) {
    case 'restated':
      return seen.told === '' ? 'The goal restates the ground.' : seen.told
    case 'override':
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
      return `${capitalised(words(compared))}; ${score}.`
  }
}

function words({ goal, ground }: Compared): string {
  const shared: string[] = []
  const missing: string[] = []
  for (const word of new Set(rawWords(goal))) {
    const stem = stemOf(word)
    if (stem !== null) (ground.words.includes(stem) ? shared : missing).push(word)
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
  const shown = words.slice(0, mostWords).map((word) => word.slice(0, longestWord).toWellFormed())
  const more = words.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function two(number: number): string {
  return number.toFixed(2)
}
