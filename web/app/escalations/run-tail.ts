import type { StoredRun, StoredStep } from '../../../src/surfaces/client/client.ts'
import { api, faultOf } from '../api.ts'

export type Step = StoredStep

/** The run of a question with its last steps. */
export interface RunTail {
  run: StoredRun
  steps: readonly Step[]
}

const shownSteps = 8
const firstPage = 200

/** Reads a run with its last steps; null if the server does not store it. */
export async function readTail(runId: string): Promise<RunTail | null> {
  try {
    const first = await api.readRun({ run_id: runId, limit: firstPage })
    let { run, trace, next_cursor } = first
    // A long run is read on from just before its end; the first page of a short one holds all of it.
    if (next_cursor !== null) {
      const end = await api.readRun({
        run_id: runId,
        limit: firstPage,
        cursor: cursorAfter(run.steps - firstPage),
      })
      run = end.run
      trace = end.trace
    }
    return { run, steps: trace.filter(({ agent_id }) => !agent_id).slice(-shownSteps) }
  } catch (error) {
    if (faultOf(error).status === 404) return null
    throw error
  }
}

/** The cursor of the page that begins after a step. */
function cursorAfter(step: number): string {
  return btoa(JSON.stringify({ after: step }))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
