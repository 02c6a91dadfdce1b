import type { Adaptation } from '../contract/adaptation.ts'
import type { Analysed } from './text.ts'

/** Largest change of the log-odds of a pair by a table, either way. */
export const mostAdapted = 1.5

// Chosen on pull requests of other repositories than those it was then measured on, see model/README.md.
const smoothing = 0.25
const weight = 0.5

/**
 * What the table adds to the log-odds that a goal has left the ground, from -1.5 to 1.5; 0 where it
 * knows none of the words. Words that occur together more often than by chance speak for the errand,
 * words that are both known and do not, against it: the sum of their smoothed log ratios for each
 * known word of the goal. Rounded, so that no engine's logarithm can turn a verdict.
 */
export function adapted(table: Adaptation, ground: Analysed, goal: Analysed): number {
  let sum = 0
  let known = 0
  for (const { stem, digits } of goal.tokens) {
    const ofPart = digits ? undefined : table.parts.get(stem)
    if (ofPart === undefined) continue
    let isKnown = false
    for (const errand of ground.tokens) {
      const associations = table.errands.get(errand.stem)
      if (associations === undefined) continue
      isKnown = true
      const expected = (ofPart * associations.examples) / table.examples
      const both = associations.together.get(stem) ?? 0
      sum += Math.round(16 * Math.log((both + smoothing) / (expected + smoothing))) / 16
    }
    if (isKnown) known += 1
  }
  if (known === 0) return 0
  const added = (-weight * sum) / (known + 1)
  return Math.max(-mostAdapted, Math.min(mostAdapted, Math.round(added * 1024) / 1024))
}
