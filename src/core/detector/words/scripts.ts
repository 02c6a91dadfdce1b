// Finds the words of a text in any language. The tables of Unicode are in unicode-tables.ts; this file
// defines a word.

import {
  composed,
  kindOf,
  lowered,
  mark,
  separator,
  sharedKana,
  spaced,
  withAsciiDigits,
} from './unicode.ts'

/**
 * The words of a text in any language, in order, with repeats: maximal runs of letters, numbers and
 * the ASCII apostrophe with the marks that follow them, in canonical composition and lower case.
 * A run of one script written without spaces is cut into overlapping pairs of characters, and
 * decimal digits of every script are 0 to 9. ASCII text gives just what the published pattern does,
 * `text.toLowerCase().match(/[a-z0-9']+/g) ?? []`. Throws for no text; takes linear time.
 */
export function wordsOfEveryScript(text: string): readonly string[] {
  if (newest.text !== text) newest = { text, words: cut(readable(text)) }
  return newest.words
}

// Cached, because a goal is read for its words, its meaning, its slots and its explanation.
let newest: { text: string; words: readonly string[] } = { text: '', words: [] }

function cut(plain: string): string[] {
  const words: string[] = []
  // The kind of the run that stands open, and where in it the last two characters start.
  let run = separator
  let previous = -1
  let current = -1

  const close = (end: number) => {
    if (run !== separator) words.push(plain.slice(previous < 0 ? current : previous, end))
    run = separator
    previous = -1
  }

  for (let at = 0; at < plain.length; ) {
    const point = plain.codePointAt(at) ?? 0
    const kind = point === apostrophe ? spaced : kindOf(point)
    if (kind === separator) close(at)
    else if (kind !== mark) {
      const continues = kind === run || (kind === sharedKana && run > spaced)
      if (!continues && !(run === sharedKana && kind > spaced)) close(at)
      if (run === separator) current = at
      else if (run > spaced) {
        if (previous >= 0) words.push(plain.slice(previous, at))
        previous = current
        current = at
      }
      if (!continues) run = kind
    }
    at += point > 0xffff ? 2 : 1
  }
  close(plain.length)
  return words
}

const apostrophe = 0x27

// Characters inside a word that are never read: the soft hyphen, joiners, variation selectors, and the
// tatweel, which only stretches a line. They are removed before composition, because they would separate a
// letter from its mark.
const invisible =
  /\u00AD|\u034F|\u0640|\u180B|\u180C|\u180D|\u180F|\u200C|\u200D|[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/gu

// The points of Hebrew and Arabic that writers leave out. They go after composition: the madda and
// hamza among them belong to the letter where there is a letter with them.
const points =
  /[\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u064B-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E4\u06E7\u06E8\u06EA-\u06ED]/gu

// Lower case comes before composition, because some letters have a composed form in lower case only (ΐ);
// composing before as well would change nothing. Lone surrogates are replaced first, because removing
// invisible characters could join two of them.
function readable(text: string): string {
  const visible = text.toWellFormed().replace(invisible, '').replaceAll('\u2019', apostropheInWord)
  return withAsciiDigits(composed(lowered(visible)).replace(points, ''))
}

// Typeset text has don’t for don't; next to a space ’ is a quotation mark.
function apostropheInWord(quote: string, at: number, text: string): string {
  const joins =
    kindOf(text.charCodeAt(at - 1)) === spaced && kindOf(text.charCodeAt(at + 1)) === spaced
  return joins ? "'" : quote
}
