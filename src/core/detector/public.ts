/**
 * The published entry `plumbline/detector`: pure, without a dependency, for Node, browsers and the
 * edge. The one place that re-exports, because a package's entry is one module.
 */
export { readDistance } from '../distance.ts'
export type { Adaptation } from './adaptation.ts'
export { readTable } from './adaptation-table.ts'
export { type Detected, detect, type Verdict } from './detect.ts'
export { type DetectorName, detectorNames } from './detectors.ts'
export type { EarlierRuns, Judgment } from './judgment.ts'
export { type Ground, type Memory, newMemory } from './memory.ts'
export type { Reason } from './rules.ts'
export type { Step } from './step.ts'
