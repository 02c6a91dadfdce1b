/**
 * The published entry `plumbline/detector`: pure, without dependencies, for Node, browsers and the edge.
 * It re-exports because a package entry is one module.
 */

export type { AssignedRequest } from './assignment.ts'
export type { Adaptation } from './contract/adaptation.ts'
export { type DetectorName, detectorNames, type Ground } from './contract/detector.ts'
export { type Detected, detect, type Verdict } from './detect.ts'
export { readDistance } from './distance.ts'
export type { Judgment } from './judgment.ts'
export { readTable } from './meaning/adaptation-table.ts'
export { type Memory, newMemory } from './memory.ts'
export type { Reason } from './rules.ts'
export type { EarlierRuns, Step } from './step.ts'
