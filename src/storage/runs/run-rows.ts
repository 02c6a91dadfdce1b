import { readJudgment } from '../../core/detector/judgment.ts'
import type { Run } from '../../core/runs/run.ts'
import type { Columns } from '../database/rows.ts'

/** A stored row of `runs`. */
export interface RunRow extends Omit<Run, 'drifting' | 'judgment'> {
  account: string
  drifting: number
  judgment: string | null
}

/** Converts a row to a run. */
export function runOf({ account: _, drifting, judgment, ...rest }: RunRow): Run {
  return {
    ...rest,
    drifting: drifting === 1,
    judgment: judgment === null ? null : readJudgment(judgment),
  }
}

/** The columns of `runs`. */
export const runColumns = {
  account: 'TEXT',
  run_id: 'TEXT',
  detector: 'TEXT',
  ground: 'TEXT',
  revision: 'BIGINT',
  created: 'BIGINT',
  updated: 'BIGINT',
  expires: 'BIGINT',
  steps: 'BIGINT',
  drifting: 'BIGINT',
  drifting_steps: 'BIGINT',
  last_reason: 'TEXT',
  phi: 'DOUBLE PRECISION',
  max_phi: 'DOUBLE PRECISION',
  tokens: 'DOUBLE PRECISION',
  overhead_tokens: 'DOUBLE PRECISION',
  token_steps: 'BIGINT',
  outcome: 'TEXT',
  score: 'DOUBLE PRECISION',
  note: 'TEXT',
  pair: 'TEXT',
  arm: 'TEXT',
  judgment: 'TEXT',
} as const satisfies Columns & Record<keyof RunRow, unknown>

/** Converts a run of an account to its row. */
export function rowOf({ account, run }: { account: string; run: Run }): RunRow {
  const { drifting, judgment } = run
  return {
    ...run,
    account,
    drifting: drifting ? 1 : 0,
    judgment: judgment === null ? null : JSON.stringify(judgment),
  }
}
