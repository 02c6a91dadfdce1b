/** With fewer labels, a share would say nothing. */
export const needed = 10

/** Why no share stands here yet. */
export function tooFew(labels: number): string {
  return `Too few to say. ${labels} labels so far, ${needed} are needed.`
}
