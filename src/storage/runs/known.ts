import type { Agent, Run } from '../../core/runs/run.ts'
import type { Entry } from './entries.ts'

/** A run with all that its next step needs of what is stored, as a transaction finds and leaves it. */
export interface KnownRun {
  /** Account and run id in one. */
  readonly key: string
  readonly account: string
  run: Run
  /** Of its agents those that were asked for, by id. */
  readonly agents: Map<string, KnownAgent>
  /** Of the contexts that it has opened those that came up; all of them if it was known from its first step. */
  readonly opened: Set<string>
  readonly isOpenedAll: boolean
  /** The PostgreSQL transaction that holds the run and is going to write it; undefined on SQLite. */
  readonly heldIn: number | undefined
}

/** One agent of a run. */
export interface KnownAgent {
  readonly account: string
  readonly runId: string
  readonly agentId: string
  /** `damaged` when what is stored of it cannot be read. */
  agent: Agent | 'damaged'
  /** Characters of its memory as it was last written; 0 before that. */
  memoryLength: number
}

/** An entry with the run and the agent that it is a step of. */
export interface Place {
  readonly entry: Entry
  readonly run: KnownRun
  readonly agent: KnownAgent
}

/** What the account's kept runs made of one context, and what this batch adds to it. */
export interface KnownContext {
  readonly account: string
  readonly context: string
  runs: number
  /** 0–10, or null before any run opened it. */
  lowest: number | null
  /** Runs of this batch that open it now. */
  opening: Set<KnownRun>
  addedRuns: number
  addedLowest: number | null
}
