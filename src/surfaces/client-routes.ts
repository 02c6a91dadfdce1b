import type { check } from '../operations/check.ts'
import type { readCost } from '../operations/cost.ts'
import type { measureData } from '../operations/data.ts'
import type { logDrift, logDriftBatch } from '../operations/drift.ts'
import type { readExperiment } from '../operations/experiment.ts'
import type { hearWords, readHistory, readSignal } from '../operations/field.ts'
import type { createKey, readMe, revokeKey, rotateKey } from '../operations/me.ts'
import type { deleteRun, listRuns, readRun, setOutcome } from '../operations/runs.ts'
import type { listTiers } from '../operations/tiers.ts'
import type { Request } from './client-call.ts'

/** What is asked by a JSON body. */
export interface Posted {
  /** Judges two goals, or a sequence of steps, without a key and without storing them. */
  check: typeof check
  /** Logs one step of a run. In an agent's loop, `run` is the easier way. */
  drift: typeof logDrift
  /** Logs up to 500 steps at once: all of them, or none. */
  driftBatch: typeof logDriftBatch
  /** Sets what became of a run. */
  outcome: typeof setOutcome
  /** Measures a corpus against its own first window; nothing of it is stored. */
  data: typeof measureData
  /** Makes another key; it is shown this once. */
  createKey: typeof createKey
  /** Speaks eight words of the vocabulary into the field. */
  hear: typeof hearWords
  /** Replaces a key by a new one; the old one stays valid for a while. */
  rotateKey: typeof rotateKey
}

/** What is asked by parameters. */
export interface Queried {
  /** One run and a page of its trace, oldest step first. */
  readRun: typeof readRun
  /** A page of the most recent runs, newest first. */
  listRuns: typeof listRuns
  /** Deletes a run and its steps. */
  deleteRun: typeof deleteRun
  /** What the runs of the account cost, and where. */
  cost: typeof readCost
  /** Tokens of treatment against control, pair by pair. */
  experiment: typeof readExperiment
  /** The account of this key, its keys, its tier and today's usage. */
  me: typeof readMe
  /** Revokes a key at once. */
  revokeKey: typeof revokeKey
  /** The field as it is now. */
  signal: typeof readSignal
  /** The field over the last day, a sample a minute, oldest first. */
  signalHistory: typeof readHistory
  /** The tiers, what each allows a day, and what it costs. */
  tiers: typeof listTiers
}

/** Where a method asks, and whether it sends the key. */
export type Route = Pick<Request, 'method' | 'path' | 'keyed'>

/** The route of every method that is one request and one answer. */
export const routes: Record<keyof Posted | keyof Queried, Route> = {
  check: { method: 'POST', path: '/v1/check', keyed: false },
  drift: { method: 'POST', path: '/v1/drift', keyed: true },
  driftBatch: { method: 'POST', path: '/v1/drift/batch', keyed: true },
  outcome: { method: 'POST', path: '/v1/drift/outcome', keyed: true },
  readRun: { method: 'GET', path: '/v1/drift/run', keyed: true },
  listRuns: { method: 'GET', path: '/v1/drift/runs', keyed: true },
  deleteRun: { method: 'DELETE', path: '/v1/drift/run', keyed: true },
  cost: { method: 'GET', path: '/v1/cost', keyed: true },
  experiment: { method: 'GET', path: '/v1/experiment', keyed: true },
  data: { method: 'POST', path: '/v1/data', keyed: true },
  me: { method: 'GET', path: '/v1/me', keyed: true },
  createKey: { method: 'POST', path: '/v1/me/keys', keyed: true },
  revokeKey: { method: 'DELETE', path: '/v1/me/keys', keyed: true },
  rotateKey: { method: 'POST', path: '/v1/me/keys/rotate', keyed: true },
  tiers: { method: 'GET', path: '/v1/tiers', keyed: false },
  signal: { method: 'GET', path: '/v1/signal', keyed: false },
  signalHistory: { method: 'GET', path: '/v1/history', keyed: false },
  hear: { method: 'POST', path: '/v1/hear', keyed: false },
}
