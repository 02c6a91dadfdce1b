/** A model that is asked with instructions, and says what it was made to say. */
export type Say = (instructions: string) => { text: string; tokens: number; isLast: boolean }

/** A model that says these lines one after the other, 10 tokens each, and what it was instructed. */
export function scripted(lines: readonly string[]): { say: Say; instructed: string[] } {
  const instructed: string[] = []
  const say: Say = (instructions) => {
    instructed.push(instructions)
    const text = lines[instructed.length - 1] ?? ''
    return { text, tokens: 10, isLast: instructed.length >= lines.length }
  }
  return { say, instructed }
}
