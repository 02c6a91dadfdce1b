import type { Agent, Run } from '../../core/runs/run.ts'
import type { Entry } from './entries.ts'

/** A run with the stored state that its next step needs. */
export interface KnownRun {
  /** The map key of account and run id. */
  readonly key: string
  readonly account: string
  run: Run
  /** The agents that a step needed, by id. */
  readonly agents: Map<string, KnownAgent>
  /** Contexts this run is known to have opened; complete only if `isOpenedAll`. */
  readonly opened: Set<string>
  readonly isOpenedAll: boolean
  /** Id of the PostgreSQL transaction that locked the run and will write it; undefined on SQLite. */
  readonly lockedIn: number | undefined
}

/** One agent of a run. */
export interface KnownAgent {
  readonly account: string
  readonly runId: string
  readonly agentId: string
  /** `damaged` if its stored state cannot be read. */
  agent: Agent | 'damaged'
  /** Characters of its memory when last written; 0 before that. */
  memoryLength: number
}

/** An entry with its run and its agent. */
export interface Place {
  readonly entry: Entry
  readonly run: KnownRun
  readonly agent: KnownAgent
}

/** The totals of one context over the kept runs of an account, and the changes of this batch. */
export interface KnownContext {
  readonly account: string
  readonly context: string
  runs: number
  /** 0–10, or null before any run opened it. */
  lowest: number | null
  /** Runs that open it in this batch. */
  opening: Set<KnownRun>
  addedRuns: number
  addedLowest: number | null
}
