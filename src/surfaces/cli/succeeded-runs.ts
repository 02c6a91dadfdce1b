import type { Example } from '../../core/detector/meaning/adaptation-table.ts'
import type { GroundRow, StepRow } from '../../storage/runs/runs.ts'
import type { Store } from '../../storage/store.ts'

const runsAtATime = 100
const mostRuns = 20_000
const mostSteps = 1_000
const mostGrounds = 10_000

/**
 * Reads the runs of an account with the outcome `success`, as errands with the work for them: each ground
 * with the goals under it that did not drift. Expired runs are gone.
 */
export async function succeededRuns(
  store: Store,
  account: string,
  now: number,
): Promise<Example[]> {
  const examples: Example[] = []
  let after = ''
  for (let read = 0; read < mostRuns; read += runsAtATime) {
    const runs = await store.runs.page(account, now, after, runsAtATime)
    const good = runs.filter(({ outcome }) => outcome === 'success').map(({ run_id }) => run_id)
    for (const runId of good) {
      const steps = await store.runs.trace(account, runId, 0, mostSteps)
      const grounds = await store.runs.grounds(account, runId, Number.MAX_SAFE_INTEGER, mostGrounds)
      examples.push(...examplesOf(grounds, steps))
    }
    after = runs.at(-1)?.run_id ?? ''
    if (runs.length < runsAtATime) break
  }
  return examples
}

function examplesOf(grounds: readonly GroundRow[], steps: readonly StepRow[]): Example[] {
  return grounds.flatMap(({ goal: errand, at }, place) => {
    const until = grounds[place + 1]?.at ?? Number.POSITIVE_INFINITY
    const parts = steps
      .filter(({ agent_id, drifting }) => agent_id === '' && drifting === 0)
      .filter(({ ts, goal }) => ts >= at && ts < until && goal !== errand)
      .map(({ goal }) => goal)
    return parts.length === 0 ? [] : [{ errand, parts }]
  })
}
