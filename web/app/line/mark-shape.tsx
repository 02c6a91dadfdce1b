import { type Mark, markPath } from '../../shared/line.ts'

/** The mark of a step in an SVG. */
export function MarkShape({ mark, x, y, r }: { mark: Mark; x: number; y: number; r?: number }) {
  return <path class={`mark ${mark}`} transform={`translate(${x} ${y})`} d={markPath(mark, r)} />
}
