import type { BesideRead } from './reader.ts'

/** The file of weights that a reading thread loads; the data that it starts with. */
export interface ThreadStart {
  weights: string
}

/** A text to read: a goal alone, or beside an errand, or beside an errand and earlier goals. */
export interface Task {
  errand: string | null
  before: readonly string[]
  goal: string
}

/** What the thread has read of a task. */
export interface TaskRead {
  /** Null if the goal was read alone. With earlier goals, `serves` counts them too. */
  beside: BesideRead | null
  /** The meaning of the goal, of length 1. */
  meaning: Float32Array
}

/** What the thread says: once whether it can read, then what it has read of each task, in the order of the tasks. */
export type ThreadMessage =
  | { kind: 'ready'; version: string; readsBefore: boolean; readsMessages: boolean }
  | { kind: 'unusable'; reason: string }
  | { kind: 'read'; read: TaskRead }
