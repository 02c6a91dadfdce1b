import type { StoredRun, StoredStep } from '../../../src/surfaces/client/client.ts'
import { api, faultOf } from '../api.ts'

export type Step = StoredStep

/** The run of a question with its last steps. */
export interface RunTail {
  run: StoredRun
  /** The last steps of the main agent that were read. */
  steps: readonly Step[]
  /** Whether there are earlier ones, which were not read. */
  isCut: boolean
}

/** Read to find the last steps of the main agent among those of sub-agents. */
const pageSize = 200

/** Reads a run with its last steps; null if the server does not store it. */
export async function readTail(runId: string): Promise<RunTail | null> {
  try {
    const read = (after: number) => api.readRun({ run_id: runId, limit: pageSize, after })
    const first = await read(0)
    const isCut = first.next_cursor !== null
    const { run, trace } = isCut ? await read(first.run.steps - pageSize) : first
    return { run, steps: trace.filter(({ agent_id }) => !agent_id), isCut }
  } catch (error) {
    if (faultOf(error).status === 404) return null
    throw error
  }
}
