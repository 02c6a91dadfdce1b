import { wordsIn } from '../../acts/clauses.ts'
import { narration, openers, polite, politeCues, softOpeners } from './phrases.ts'

const sentenceEnd = /[.!?…。！？\n]/
const spaceOrEnd = /\s/
const closing = new Set([
  'thanks',
  'thx',
  'please',
  'pls',
  'thank you',
  'many thanks',
  'cheers',
  'danke',
  'bitte',
  'merci',
  'gracias',
  'obrigado',
  'obrigada',
  'grazie',
  'thanks a lot',
  'thank you so much',
  'thanks in advance',
  'vielen dank',
  'por favor',
  'per favore',
])
const mostClosing = 4

/** Phrases, and the words with which they begin: most texts begin with none of them. */
interface Phrases {
  all: ReadonlySet<string>
  firsts: ReadonlySet<string>
}

function phrasesOf(all: ReadonlySet<string>): Phrases {
  return { all, firsts: new Set([...all].map((phrase) => phrase.split(' ', 1).join())) }
}

const opening = phrasesOf(openers)
const narrating = phrasesOf(narration)

/**
 * The errand without greetings, politeness, small talk, thanks and sign-offs. Only sentences and openings
 * of nothing but such words go; a text of nothing else is returned whole.
 */
export function plainErrand(text: string): string {
  const kept: string[] = []
  for (const sentence of sentencesOf(text)) {
    if (isPolite(sentence)) continue
    kept.push(withoutClosing(withoutOpening(sentence, opening)))
  }
  const plain = kept.join(' ').trim()
  return plain === '' ? text : plain
}

/** The goal without the words by which an agent narrates; a goal of nothing else is returned whole. */
export function plainGoal(text: string): string {
  const plain = withoutOpening(text, narrating).trim()
  return plain === '' ? text : plain
}

/** The sentences of a text, each with its own marks at the end. */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = []
  let from = 0
  for (let at = 0; at < text.length; at++) {
    if (!sentenceEnd.test(text[at] as string)) continue
    const next = text[at + 1]
    // A dot inside a name or a number ends nothing.
    if (text[at] !== '\n' && next !== undefined && !spaceOrEnd.test(next) && text[at] === '.')
      continue
    if (next !== undefined && sentenceEnd.test(next) && next !== '\n') continue
    const sentence = text.slice(from, at + 1).trim()
    if (sentence !== '') sentences.push(sentence)
    from = at + 1
  }
  const rest = text.slice(from).trim()
  if (rest !== '') sentences.push(rest)
  return sentences
}

function isPolite(sentence: string): boolean {
  const words = wordsIn(sentence)
  if (words.length === 0) return false
  return words.every(({ key }) => polite.has(key)) && words.some(({ key }) => politeCues.has(key))
}

/** Takes openings off as long as one fits and something is left. */
function withoutOpening(text: string, phrases: Phrases): string {
  const words = wordsIn(text)
  let place = 0
  while (place < words.length - 1) {
    const length = lengthOfOpening(words, place, phrases)
    const soft = length === 0 && isSoft(text, words, place)
    if (length === 0 && !soft) break
    const next = words[place + (soft ? 1 : length)]
    if (next === undefined) break
    place += soft ? 1 : length
  }
  return place === 0 ? text : fromWord(text, words[place]?.from ?? 0)
}

// A quote, a path or a sign that belongs to the word stays with it.
function fromWord(text: string, from: number): string {
  let start = from
  while (start > 0 && /[^\s,;:!?]/.test(text[start - 1] as string)) start--
  return text.slice(start)
}

const longestPhrase = 6

function lengthOfOpening(
  words: ReturnType<typeof wordsIn>,
  place: number,
  { all, firsts }: Phrases,
): number {
  if (!firsts.has(words[place]?.key ?? '')) return 0
  const keys = words.slice(place, place + longestPhrase).map(({ key }) => key)
  for (let length = keys.length; length > 0; length--) {
    if (all.has(keys.slice(0, length).join(' '))) return length
  }
  return 0
}

/** A word such as "first" opens only with a comma behind it, or it may be content. */
function isSoft(text: string, words: ReturnType<typeof wordsIn>, place: number): boolean {
  const word = words[place]
  if (word === undefined || !softOpeners.has(word.key)) return false
  return /[,:]/.test(text[word.to] ?? '')
}

function withoutClosing(sentence: string): string {
  const words = wordsIn(sentence)
  for (let length = Math.min(mostClosing, words.length - 1); length > 0; length--) {
    const first = words[words.length - length]
    if (first === undefined) continue
    const said = words
      .slice(-length)
      .map(({ key }) => key)
      .join(' ')
    if (!closing.has(said)) continue
    const before = sentence.slice(0, first.from).trimEnd()
    if (length === 1 && !/[,;–-]$/.test(before) && said !== 'please' && said !== 'pls') continue
    return before.replace(/[,;–-]$/, '')
  }
  return sentence
}
