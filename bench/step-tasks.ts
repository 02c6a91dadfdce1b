import type { Step } from './bare-drift-server.ts'
import { goalOfRun } from './goals.ts'
import type { Round } from './load.ts'
import { postOf } from './request.ts'

const goalsARun = 125
const batchConnections = 8
/** The steps of one batch. */
export const batchSteps = 100

/** A task for several servers. */
export interface Task {
  name: string
  round: Omit<Round, 'url'>
  /** The number of steps in one answer. */
  steps: number
}

/** Step `n` of the run with this name and number. */
export function stepOf(name: string, run: number, n: number): Step {
  return {
    run_id: `${name}-${run}`,
    goal: goalOfRun(run, n),
    progress: 'advancing',
    distance: n % 11,
    tokens: 100 + n,
  }
}

/** Single steps, each connection into a run of its own. */
export function singleSteps(
  key: string,
  connections: number,
  staysAwake: boolean,
  ms: number,
): Task {
  const headers = { authorization: `Bearer ${key}` }
  const requests = Array.from({ length: connections * goalsARun }, (_, n) =>
    postOf(
      '/v1/drift',
      headers,
      stepOf(`of-${connections}`, Math.floor(n / goalsARun), n % goalsARun),
    ),
  )
  const name = connections === 1 ? '1 connection' : `${connections} connections`
  return { name, round: { requests, connections, ms, staysAwake }, steps: 1 }
}

/** Batches, each connection into a run of its own. */
export function batches(key: string, ms: number): Task {
  const connections = batchConnections
  const headers = { authorization: `Bearer ${key}` }
  const batchesARun = 5
  const requests = Array.from({ length: connections * batchesARun }, (_, batch) => {
    const run = Math.floor(batch / batchesARun)
    const first = (batch % batchesARun) * batchSteps
    const steps = Array.from({ length: batchSteps }, (_, n) => stepOf('batch', run, first + n))
    return postOf('/v1/drift/batch', headers, { steps })
  })
  return {
    name: `batches of ${batchSteps}, ${connections} connections`,
    round: { requests, connections, ms, staysAwake: false },
    steps: batchSteps,
  }
}
