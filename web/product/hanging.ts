import type { Layout, Row } from '../shared/plumb-line.ts'
import type { Said } from './verdict.ts'

/** How the one step of the try-it is laid out. */
export const hangLayout: Layout = {
  x: 11,
  plot: 220,
  width: 236,
  step: 36,
  ground: 10,
  above: 0,
  end: 'bar',
}

/** The rows of the one step of the try-it. */
export function hangingRows({ phi, mark }: Pick<Said, 'phi' | 'mark'>): Row[] {
  const note = `phi ${phi.toFixed(2)}`
  const drifting = mark === 'drift' || mark === 'unsure-drift'
  return [
    { kind: 'ground', text: '', revision: 1, isFirst: true },
    {
      kind: 'step',
      step: { phi, drifting, confidence: 1, note },
      mark,
      isBack: false,
      revision: 1,
    },
  ]
}
