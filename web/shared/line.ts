import type { StoredStep } from '../../../src/surfaces/client/client.ts'

/** What the shape of a step says; the colour repeats it. */
export type Mark = 'on' | 'uncertain' | 'name' | 'drift' | 'unsure-drift' | 'unreadable'

type Judged = Pick<StoredStep, 'drifting' | 'reason'> &
  Partial<Pick<StoredStep, 'confidence' | 'uncertain' | 'swap'>>

/** The mark of a step. A name differs only where the swapped pair is no plain word. */
export function markOf({ drifting, reason, confidence, uncertain, swap }: Judged): Mark {
  if (reason === 'ungrammatical') return 'unreadable'
  if (drifting) return (confidence ?? 1) < 0.5 ? 'unsure-drift' : 'drift'
  if (swap !== null && swap !== undefined) return 'name'
  return uncertain === true ? 'uncertain' : 'on'
}

/** What a mark says in words, for a chip and for a screen reader. */
export const saysOfMark: Record<Mark, string> = {
  on: 'on the errand',
  uncertain: 'uncertain',
  name: 'a name differs',
  drift: 'drifting',
  'unsure-drift': 'drifting',
  unreadable: 'unreadable',
}

/** Displacements above this stand at the edge of the plot, with their number. */
export const mostPhi = 0.7

/** Where a displacement stands on a plot of this width. */
export function xOf(phi: number, width: number): number {
  return (Math.min(phi, mostPhi) / mostPhi) * width
}

/** Half the width of the fog around a step, in units of phi: wide where the verdict is a coin toss. */
export function fogOf({
  drifting,
  confidence,
}: Pick<StoredStep, 'drifting' | 'confidence'>): number {
  if (confidence === null) return 0
  const p = drifting ? confidence : 1 - confidence
  return 0.14 * (1 - Math.abs(2 * p - 1))
}
