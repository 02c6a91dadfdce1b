/** Reads the words of a search, without regard to case. */
export function readSearch(query: string): string[] {
  return [...new Set(folded(query).split(/\s+/))].filter((word) => word !== '')
}

/** The words of a search that do not occur in a text, not even as a part of a word. */
export function missingIn(text: string, words: readonly string[]): string[] {
  const searched = folded(text)
  return words.filter((word) => !searched.includes(word))
}

/** One spelling for texts that differ in case or in the form of their characters. */
function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}
