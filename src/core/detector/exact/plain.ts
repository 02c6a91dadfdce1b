import { wordsIn } from '../../acts/clauses.ts'
import { rememberingTexts } from '../words/tokens.ts'
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

/** Phrases, and the words with which they begin, one or more: most texts begin with none of them. */
interface Phrases {
  all: ReadonlySet<string>
  begun: ReadonlySet<string>
}

function phrasesOf(all: ReadonlySet<string>): Phrases {
  const begun = [...all].flatMap((phrase) => {
    const words = phrase.split(' ')
    return words.map((_, last) => words.slice(0, last + 1).join(' '))
  })
  return { all, begun: new Set(begun) }
}

const opening = phrasesOf(openers)
const narrating = phrasesOf(narration)

/**
 * The errand without greetings, politeness, small talk, thanks and sign-offs. Only sentences and openings
 * of nothing but such words go; a text of nothing else is returned whole.
 */
export const plainErrand = rememberingTexts((text): string => {
  const kept: string[] = []
  for (const sentence of sentencesOf(text)) {
    if (isPolite(sentence)) continue
    kept.push(withoutClosing(withoutOpening(sentence, opening)))
  }
  const plain = kept.reduce(joined, '').trim()
  return plain === '' ? text : plain
})

/** Two sentences in a row: one without a mark at its end keeps its line. */
function joined(before: string, sentence: string): string {
  return before === '' || sentenceEnd.test(before.at(-1) ?? '')
    ? `${before} ${sentence}`
    : `${before}\n${sentence}`
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

/** The words of the longest phrase that begins at a word. */
function lengthOfOpening(
  words: ReturnType<typeof wordsIn>,
  place: number,
  { all, begun }: Phrases,
): number {
  let longest = 0
  let said = words[place]?.key ?? ''
  for (let length = 1; begun.has(said) && length <= longestPhrase; length++) {
    if (all.has(said)) longest = length
    const next = words[place + length]
    if (next === undefined) break
    said = `${said} ${next.key}`
  }
  return longest
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
