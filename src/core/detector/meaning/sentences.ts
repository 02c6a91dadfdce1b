import { clausesOf, isNegation, wordsIn } from '../../acts/clauses.ts'
import { sentencesOf } from '../exact/plain.ts'
import { rememberingTexts } from '../words/tokens.ts'
import { rawWords } from '../words/words.ts'
import type { ReadText } from './texts.ts'

const fewestWords = 2
const fewestOfClause = 3
const conditional =
  /^(?:if|when|once|after|before|unless|until|in case|wenn|falls|sobald|bevor|si|quand|avant|cuando|antes|se|quando|prima)\b/i

/** The sentences of an errand, each as its words, and the clauses that begin them. */
const saidBy = rememberingTexts((text): ReadonlySet<string> => {
  const said = new Set<string>()
  const add = (part: string, fewest: number) => {
    const words = rawWords(part)
    if (words.length >= fewest) said.add(words.join(' '))
  }
  for (const sentence of sentencesOf(text)) {
    const isNegated = wordsIn(sentence).some(({ key }) => isNegation(key))
    // What is listed below "never do this:" is forbidden.
    if (isNegated && sentence.endsWith(':')) break
    add(sentence, fewestWords)
    const [first, ...others] = clausesOf(sentence)
    if (first === undefined || others.length === 0 || isNegated) continue
    if (!conditional.test(first.text)) add(first.text, fewestOfClause)
  }
  return said
})

/**
 * Whether a goal has the words of a sentence of the errand, or of the clause that begins it, in their order: however long
 * the errand is, its parts are on it.
 */
export function restatesSentence(ground: ReadText, goal: ReadText): boolean {
  return saidBy(ground.text).has(rawWords(goal.text).join(' '))
}
