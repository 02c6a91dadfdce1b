import { check } from './check.ts'
import { logDrift, logDriftBatch } from './drift.ts'
import { deleteRun, exportRuns, listRuns, readRun, setOutcome } from './runs.ts'

/** Everything that can be asked. The HTTP routes, the description and the client are made from this list. */
export const operations = [
  check,
  logDrift,
  logDriftBatch,
  setOutcome,
  readRun,
  listRuns,
  deleteRun,
  exportRuns,
] as const
