/** A part of a page that a search can find. */
export interface Part {
  at: string
  title: string
  heading: string
  text: string
}

const most = 8

/** Finds the parts that hold every word; a word in a title counts more than one in the text. */
export function findParts(parts: readonly Part[], query: string): Part[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}_/-]+/gu) ?? []
  if (words.length === 0) return []
  return parts
    .map((part): [number, Part] => {
      const fields = [part.title, part.heading, part.text].map((text) => text.toLowerCase())
      const scores = words.map((word) => {
        const [title = '', heading = '', text = ''] = fields
        const inTitle = title.includes(word) ? (part.heading === '' ? 8 : 2) : 0
        return inTitle + (heading.includes(word) ? 6 : 0) + (text.includes(word) ? 1 : 0)
      })
      const isWhole = scores.every((score) => score > 0)
      return [isWhole ? scores.reduce((sum, score) => sum + score, 0) : 0, part]
    })
    .filter(([score]) => score > 0)
    .sort(([one], [other]) => other - one)
    .slice(0, most)
    .map(([, part]) => part)
}
