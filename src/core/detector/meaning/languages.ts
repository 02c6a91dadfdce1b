import { normaliser } from '../contract/constants.ts'
import { piecesOf, rememberingTexts } from '../words/tokens.ts'
import { rawWords } from '../words/words.ts'
import { coverage } from './score.ts'
import { analyse } from './text.ts'

/** A language that texts are told apart by, or a script that stands for several languages. */
export type Language = 'English' | 'another script' | keyof typeof particlesBy

/** The words of a language that say nothing about an errand, as lower-case text. */
const particlesBy = {
  German:
    'der die das den dem des ein eine einen einem einer und oder mit für von vom zu zum zur im am auf aus bei nach ist sind nicht auch bitte wie dass als an es ich wir sie',
  French:
    "le la les un une des du de d' l' et ou à au aux en dans sur pour par avec ce cette est sont ne pas que qui il elle je nous vous se",
  Spanish:
    'el la los las un una unos unas de del y o a al en con por para sobre que es son no se su lo como más este esta yo',
  Italian:
    'il lo la i gli le un una uno di del della dei delle e o a al alla in nel nella con per su che è sono non si da dal',
  Portuguese:
    'o a os as um uma de do da dos das e ou em no na nos nas com por para que é são não se ao à',
  Dutch: 'de het een en of van voor met op aan in te is zijn niet ook bij naar uit dat die we',
} as const

/** Particles of scripts without spaces, in the pairs of characters that their words are cut into. */
const unspaced = new Set(
  'の を に は が と で も へ や から まで する して した です ます った こと これ それ 的 了 和 在 是 把 与 及'.split(
    ' ',
  ),
)

const tables = Object.entries(particlesBy).map(
  ([language, words]) => [language as Language, new Set(words.split(' '))] as const,
)
const ofLanguage = new Map<Language, ReadonlySet<string>>(tables)
const english = new Set<string>([
  ...normaliser.stopWords,
  'are',
  'not',
  'all',
  'has',
  'their',
  'its',
])

/**
 * Words and abbreviations of English texts that look like particles of another language: "one row per customer", "the
 * phone died and will die", "LA", "y/n", "em dash", "MIT", "su". They tell a language only beside other particles of it.
 */
const homographs = new Set(
  (
    'per die man met van on more son sin par sur bei war was hat are come also com non da do de la las los le un e y o ' +
    'i os as em su lo al im mit es se us est or den an in is so no a am at we of te me dos si il con ma des en das del ' +
    'una di om ou nos nas na ao von sie wie dat op que che ce ja'
  ).split(' '),
)

const considered = [['English', english] as const, ...tables]
/** How many words of a text are particles of each, and how many of those could be of another language. */
const hits = new Uint32Array(considered.length)
const doubtful = new Uint32Array(considered.length)
/** The places in `considered` of the languages that a word is a particle of. */
const placesOf = new Map<string, number[]>()
for (const [place, [, words]] of considered.entries()) {
  for (const word of words) placesOf.set(word, [...(placesOf.get(word) ?? []), place])
}
/** Share of known words, which are English, from which on a text with nothing but homographs is English. */
const englishCoverage = 0.7

/** They stand for somebody whom other words name. */
const pronouns = new Set(
  'he him his she her hers they them theirs we us our ours you your yours me my mine'.split(' '),
)

/** These are words with a meaning in English, and particles only in a text of their own language. */
const meaningful = new Set(
  'die on more son sin per par sur bei van os dos com war mit man'.split(' '),
)
const common = new Set(
  tables.flatMap(([, words]) => [...words].filter((word) => !meaningful.has(word))),
)

const beyondLatin = /[^\u0000-\u024f\u1e00-\u1eff\u2000-\u22ff\u2500-\u27bf\u{1f000}-\u{1faff}]/gu

/** The language of a text; null if its words do not tell. */
export const languageOf = rememberingTexts((text): Language | null => {
  const letters = piecesOf(text) === null ? (text.match(beyondLatin)?.length ?? 0) : 0
  if (letters * 3 > text.length) return 'another script'
  hits.fill(0)
  doubtful.fill(0)
  const counted: string[] = []
  for (const word of rawWords(text)) {
    const places = placesOf.get(word)
    if (places === undefined || counted.includes(word)) continue
    counted.push(word)
    const into = homographs.has(word) ? doubtful : hits
    for (const place of places) into[place] = (into[place] as number) + 1
  }
  const isSure = hits.some((count) => count > 0)
  if (!isSure && doubtful.every((count) => count === 0)) return null
  if (!isSure && coverage(analyse(text)) >= englishCoverage) return 'English'
  let best: Language | null = null
  let most = 0
  for (let place = 0; place < hits.length; place++) {
    const sure = hits[place] as number
    const own = isSure && sure === 0 ? 0 : sure + (doubtful[place] as number)
    if (own === most) best = null
    if (own <= most) continue
    best = considered[place]?.[0] ?? null
    most = own
  }
  return best
})

/** Whether a word, lower-cased, says nothing about an errand in a text of that language. */
export function isParticle(word: string, language: Language | null): boolean {
  if (unspaced.has(word)) return true
  if ((language === 'English' || language === null) && pronouns.has(word)) return true
  if (language === 'English') return false
  return common.has(word) || (language !== null && ofLanguage.get(language)?.has(word) === true)
}
