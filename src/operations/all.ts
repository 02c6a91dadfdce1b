import { endKey, listAccounts, listKeys, makeAccount, makeKey, setTier } from './admin.ts'
import { check } from './check.ts'
import { readCost } from './cost.ts'
import { measureData } from './data.ts'
import { logDrift, logDriftBatch } from './drift.ts'
import { readExperiment } from './experiment.ts'
import { hearWords, readHistory, readSignal } from './field.ts'
import { createKeys, readKeys } from './keys.ts'
import { createKey, readMe, revokeKey, rotateKey } from './me.ts'
import { deleteRun, exportRuns, listRuns, readRun, setOutcome } from './runs.ts'
import { listTiers } from './tiers.ts'

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
  readCost,
  readExperiment,
  measureData,
  readKeys,
  createKeys,
  readMe,
  createKey,
  revokeKey,
  rotateKey,
  listTiers,
  readSignal,
  readHistory,
  hearWords,
  makeAccount,
  listAccounts,
  setTier,
  listKeys,
  makeKey,
  endKey,
] as const
