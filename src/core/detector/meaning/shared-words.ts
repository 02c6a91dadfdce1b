import type { Compared } from '../contract/detector.ts'
import type { SharedWords } from '../contract/findings.ts'
import { overlapOf } from '../words/compare.ts'
import { piecesOf, stemOf } from '../words/tokens.ts'
import { rawWords, wordsOf } from '../words/words.ts'
import { isParticle, type Language, languageOf } from './languages.ts'

// Total characters of the goal and the words of the ground up to which a search is faster than a set.
const shortTexts = 400

/** Words of thanks and greeting, which say nothing about an errand wherever in a text they stand. */
const courtesies = new Set(
  (
    'please pls plz thanks thank thx cheers hi hello hey kindly greetings sorry bitte danke hallo merci svp stp ' +
    'bonjour salut gracias hola obrigado obrigada olá grazie ciao alsjeblieft bedankt dank tack proszę dzięki cześć ' +
    'lütfen teşekkürler пожалуйста спасибо привет شكرا धन्यवाद कृपया 谢谢 感谢 您好 你好 감사합니다 고마워요'
  ).split(' '),
)

const courtesyStems = new Set([...courtesies].map(stemOf))

/** What was compared, without the greetings and the narration around ground and goal. */
export function asSaid(compared: Compared, plainGround: string, plainGoal: string): Compared {
  const { ground, goal } = compared
  if (plainGround === ground.goal && plainGoal === goal) return compared
  const ofGround = plainGround === ground.goal ? ground.words : wordsOf(plainGround)
  const words = plainGoal === goal ? compared.words : wordsOf(plainGoal)
  return {
    ...compared,
    goal: plainGoal,
    words,
    ground: { ...ground, words: ofGround },
    overlap: overlapOf(words, ofGround),
  }
}

/** The words of a goal that its ground has, and those that it lacks. Particles of any language are neither. */
export function shareWords({ goal, ground }: Compared): SharedWords {
  const shared: string[] = []
  const missing: string[] = []
  const language = languageOf(goal)
  const pieces = goal.length + ground.words.length > shortTexts ? null : piecesOf(goal)
  // Searching a long ground for each word of a long goal would take quadratic time.
  if (pieces === null) {
    const known = new Set(ground.words)
    for (const word of new Set(rawWords(goal))) {
      const stem = stemOf(word)
      if (stem === null || saysNothing(word, language)) continue
      ;(known.has(stem) ? shared : missing).push(word)
    }
    return { shared, missing }
  }
  for (const { raw, stems } of pieces) {
    for (let place = 0; place < raw.length; place++) {
      const word = raw[place] as string
      const stem = stems[place] as string | null
      if (stem === null || shared.includes(word) || missing.includes(word)) continue
      if (saysNothing(word, language)) continue
      ;(ground.words.includes(stem) ? shared : missing).push(word)
    }
  }
  return { shared, missing }
}

function saysNothing(word: string, language: Language | null): boolean {
  return courtesies.has(word) || isParticle(word, language)
}

/** Jaccard overlap of a goal with its ground, 0–1, without courtesies and the particles of any language. */
export function overlapWithoutParticles({ words, ground, overlap, goal }: Compared): number {
  if (overlap === 0) return overlap
  const language = languageOf(goal)
  // Stop words of English are no words; other languages keep theirs.
  const isSaid = (word: string) =>
    !courtesyStems.has(word) && (language === 'English' || !isParticle(word, language))
  return overlapOf(words.filter(isSaid), ground.words.filter(isSaid))
}
