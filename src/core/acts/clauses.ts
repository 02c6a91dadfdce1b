/** One word of a text: its lower-case spelling with a straight apostrophe, and its place. */
export interface PlacedWord {
  key: string
  text: string
  from: number
  to: number
}

/** One clause of a text: its words, and whether it says not to do something. */
export interface Clause {
  text: string
  words: readonly PlacedWord[]
  negated: boolean
}

const word = /[\p{L}\p{N}][\p{L}\p{M}\p{N}_'’-]*/gu
const longest = 4_000
const breaks = /[.!?;:,\n()–—]/
const joins = new Set(['and', 'then', 'but', 'und', 'et', 'y', 'e'])
const negations = new Set(
  "not no never don't dont without nothing nobody none avoid nicht nichts kein keine keinen keinem keiner ohne nie niemals pas sans ne jamais rien aucun aucune sin nunca jamás nada não nao sem nenhum nenhuma non senza mai nulla niente nessun nessuna bez".split(
    ' ',
  ),
)

/** Negations that begin a clause of their own: in "upgrade staging without losing data", staging is not denied. */
const beginnings = new Set('without ohne sans sin sem senza bez'.split(' '))

// A goal is cut for each thing that is looked for in it, and in between another text or two.
const newest: { text: string; words: readonly PlacedWord[] }[] = []
const mostNewest = 4

/** The words of a text, with their places; the text is read up to 4,000 characters. */
export function wordsIn(text: string): readonly PlacedWord[] {
  for (const each of newest) if (each.text === text) return each.words
  const read = text.length > longest ? text.slice(0, longest) : text
  const words = asciiWordsIn(read) ?? everyWordIn(read)
  if (newest.length === mostNewest) newest.pop()
  newest.unshift({ text, words })
  return words
}

// Whether an ASCII character begins a word, or only goes on with one.
const begins = 1
const goesOn = 2
const roleOf = new Uint8Array(128)
for (const [role, characters] of [
  [begins, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'],
  [goesOn, "_'-"],
] as const) {
  for (const character of characters) roleOf[character.charCodeAt(0)] = role
}

/** As `everyWordIn`, several times as fast; null for a text beyond ASCII. */
function asciiWordsIn(read: string): PlacedWord[] | null {
  const words: PlacedWord[] = []
  let from = -1
  // One index past the end, which closes the last word.
  for (let at = 0; at <= read.length; at++) {
    const code = at < read.length ? read.charCodeAt(at) : 0
    if (code >= roleOf.length) return null
    const role = roleOf[code]
    if (from < 0) {
      if (role === begins) from = at
    } else if (role === 0) {
      const said = read.slice(from, at)
      words.push({ key: keyOf(said), text: said, from, to: at })
      from = -1
    }
  }
  return words
}

function everyWordIn(read: string): PlacedWord[] {
  const words: PlacedWord[] = []
  for (const match of read.matchAll(word)) {
    const said = match[0]
    words.push({ key: keyOf(said), text: said, from: match.index, to: match.index + said.length })
  }
  return words
}

function keyOf(said: string): string {
  const lower = said.toLowerCase()
  // Few words have such a mark, and this is asked of every word of every step.
  const key = lower.includes('’') ? lower.replaceAll('’', "'") : lower
  return key.endsWith("'") || key.endsWith('-') ? key.replace(/['-]+$/, '') : key
}

/** Whether a word says "not" or "no". */
export function isNegation(key: string): boolean {
  return negations.has(key)
}

/** The clauses of a text: cut at marks, at "and" or "then", and before "without". */
export function clausesOf(text: string): Clause[] {
  const clauses: Clause[] = []
  let current: PlacedWord[] = []
  const words = wordsIn(text)
  const close = () => {
    const [first, last] = [current[0], current.at(-1)]
    if (first !== undefined && last !== undefined) {
      clauses.push({
        text: text.slice(first.from, last.to),
        words: current,
        negated: current.some(({ key }) => negations.has(key)),
      })
    }
    current = []
  }
  let end = 0
  for (const each of words) {
    if (isBroken(text, end, each.from) || joins.has(each.key) || beginnings.has(each.key)) close()
    if (!joins.has(each.key)) current.push(each)
    end = each.to
  }
  close()
  return clauses
}

// A dot or comma inside a number or a name is no break.
function isBroken(text: string, end: number, from: number): boolean {
  for (let at = end; at < from; at++) {
    if (!breaks.test(text[at] as string)) continue
    if (text[at] === '\n' || at + 1 >= text.length || /[\s)]/.test(text[at + 1] as string))
      return true
    if (';!?()–—'.includes(text[at] as string)) return true
  }
  return false
}

/** A word without the endings of its forms: `pushes`, `pushed` and `pushing` are `push`. */
export function baseOf(key: string): string {
  for (const [ending, instead] of endings) {
    if (key.length - ending.length < 3 || !key.endsWith(ending)) continue
    const stem = key.slice(0, -ending.length) + instead
    const doubled = stem.length > 3 && stem.at(-1) === stem.at(-2) && !/[sl]$/.test(stem)
    const base = doubled ? stem.slice(0, -1) : stem
    return base.length > 3 && base.endsWith('e') ? base.slice(0, -1) : base
  }
  return key.length > 3 && key.endsWith('e') ? key.slice(0, -1) : key
}

const endings: readonly (readonly [string, string])[] = [
  ['ies', 'y'],
  ['ied', 'y'],
  ['ing', ''],
  ['ed', ''],
  ['es', ''],
  ['s', ''],
]
