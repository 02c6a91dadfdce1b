import { sequenceTrees } from './sequence-trees.ts'

/** Decision trees whose values add up. */
interface Trees {
  /** Log-odds before any tree, less the limit. */
  base: number
  /** The nodes of each tree, the root first. */
  trees: readonly (readonly Node[])[]
}

/** A leaf with its log-odds, or a question: is the feature at most the threshold? NaN goes `ifMissing`. */
type Node =
  | readonly [value: number]
  | readonly [feature: number, threshold: number, left: number, right: number, ifMissing: number]

let decoded: readonly Trees[] | undefined

/**
 * How far a step lies above the limit of drift, in log-odds at even prior odds, from the measurements of
 * `measureSequence`. Of two sets of gradient-boosted trees, which `model/sequence/train.py` learns, the surer one
 * counts: one reads the course of the run, the other the step alone. The same on every engine, because it only compares
 * and adds, in a fixed order; rounded to 1/1024.
 */
export function scoreSequence(measured: Float64Array): number {
  decoded ??= JSON.parse(sequenceTrees) as Trees[]
  const sums = decoded.map(({ base, trees }) =>
    trees.reduce((sum, tree) => sum + valueIn(tree, measured), base),
  )
  return Math.round(Math.max(...sums) * 1024) / 1024
}

function valueIn(tree: readonly Node[], measured: Float64Array): number {
  let node = tree[0] as Node
  while (node.length !== 1) {
    const [feature, threshold, left, right, ifMissing] = node
    const value = measured[feature] as number
    const next = Number.isNaN(value) ? ifMissing : value <= threshold ? left : right
    node = tree[next] as Node
  }
  return node[0]
}
