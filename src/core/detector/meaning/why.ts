import type { Compared } from '../contract/detector.ts'
import type { SharedWords } from '../contract/findings.ts'
import { type Seen, uncertainAbove, type Weighed } from './evidence.ts'

/** The facts for the explanation. */
interface Explained {
  compared: Compared
  words: SharedWords
  seen: Seen
  /** The findings of table and embeddings, in sentences. */
  hints: readonly string[]
  weighed: Weighed
  /** Whether earlier steps may have added to the evidence. */
  hasBefore: boolean
  drifts: boolean
  /** Whether the step is said to be on the errand, whatever its words alone tell. */
  isClear: boolean
  /** Whether only the drift before makes this step drift. */
  continues: boolean
  /** What the declared parent does for the step, or null without one. */
  parent: ParentFound | null
  /** Whether the run had drifted before this step, and the step ends that. */
  returned: boolean
  /** Whether the run had drifted before this step, which only leans to the errand. */
  leans: boolean
  /** Whether this is the first step whose language is not that of the ground. */
  languagesDiffer: boolean
}

/** How a declared parent counts: it repeats the ground, it is near and fits the step, or it does not. */
export type ParentFound = 'repeats' | 'serves' | 'unfit' | 'far'

const mostWords = 6
const longestWord = 24

const parentSentences: Record<ParentFound, string> = {
  repeats: 'The declared parent repeats the ground and adds nothing.',
  serves: 'The declared parent is near the ground, and the step fits it.',
  unfit: 'The declared parent is near the ground, but the step does not fit it.',
  far: 'The declared parent is not near the ground.',
}

/** What was found, in plain sentences. */
export function explainStep(explained: Explained): string {
  const { hints, parent, drifts, continues, returned, leans, seen, languagesDiffer } = explained
  const sentences = [told(explained), ...hints]
  if (languagesDiffer) {
    sentences.push('Ground and goal are in different languages, so their words tell little.')
  }
  if (parent !== null) sentences.push(parentSentences[parent])
  sentences.push(
    continues
      ? 'The run drifted before, and nothing in this step shows that it is back on the errand.'
      : evidence(explained),
  )
  const isBack = returned && !drifts && !continues && seen.score <= 0
  if (isBack) sentences.push('The run is back on the errand.')
  if (leans) sentences.push('The run drifted before, and this step alone does not end that.')
  return sentences.join(' ')
}

function told({ seen, words, isClear }: Explained): string {
  switch (seen.kind) {
    case 'restated':
      return seen.told === '' ? 'The goal restates the ground.' : seen.told
    case 'override':
    case 'forbidden':
    case 'acts':
    case 'swap':
      return seen.told
    case 'hard':
      return `The wording is the ground's, but ${seen.told}.`
    case 'slot':
      return `The wording is nearly the ground's, but ${seen.told}.`
    case 'lexical':
      return `Few of these words are known; it ${wordsTold(words)}.`
    case 'unreadable':
      return `Too few of these words are known to tell; it ${wordsTold(words)}.`
    case 'scored':
      return `${seen.told === '' ? '' : `${seen.told} `}It ${wordsTold(words, leaning(seen.score, isClear))}.`
  }
}

/** Which words are shared, as the end of a sentence about the goal. */
function wordsTold({ shared, missing }: SharedWords, leaning = ''): string {
  const said = shared.length === 0 ? 'no word' : listed(shared)
  const foreign = missing.length === 0 ? '' : ` (not in it: ${listed(missing)})`
  return `shares ${said} with the ground${leaning}${foreign}`
}

function leaning(score: number, isClear: boolean): string {
  if (score > uncertainAbove && !isClear) return ' and resembles nothing accepted so far'
  return score > 0
    ? ' and resembles little of what was accepted so far'
    : ' and reads as a part of it'
}

/** Which words are shared, as a clause for the advice. */
export function sharedTold(words: SharedWords): string {
  return `it ${wordsTold({ ...words, missing: [] })}`
}

/** How much of the evidence that drift needs is there, in per cent. */
function evidence({ seen, weighed: { evidence, limit }, hasBefore }: Explained): string {
  if (evidence <= 0) {
    const differs = seen.kind === 'swap' || seen.kind === 'slot'
    return differs
      ? 'Whether that is meant, only the user can tell.'
      : 'Nothing in it speaks for drift.'
  }
  const share = Math.floor((100 * evidence) / limit)
  const isEnough = share >= 100
  if (isEnough && (seen.score >= limit || !hasBefore)) {
    return 'That alone is enough to call it drift.'
  }
  if (!hasBefore) return `That is ${share} % of what makes a drift.`
  return isEnough
    ? 'With the steps before it, that is enough to call it drift.'
    : `With the steps before it, that is ${share} % of what makes a drift.`
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
