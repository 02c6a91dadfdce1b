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
 * `measureSequence`. There are two sets of gradient-boosted trees, which `model/sequence/train.py` learns: one reads the
 * course of the run, the other the step alone. The surer one counts if it is above its limit; else the mean of
 * both. The same on every engine, because it only compares and adds, in a fixed order; rounded to 1/1024.
 */
export function scoreSequence(measured: Float64Array): number {
  decoded ??= JSON.parse(sequenceTrees) as Trees[]
  const sums = decoded.map(({ base, trees }) =>
    trees.reduce((sum, tree) => sum + valueIn(tree, measured), base),
  )
  const highest = Math.max(...sums)
  const mean = sums.reduce((all, sum) => all + sum, 0) / sums.length
  return Math.round((highest > 0 ? highest : mean) * 1024) / 1024
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
