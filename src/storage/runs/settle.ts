import { type SettledMessage, settleRun } from '../../core/runs/settle.ts'
import type { Database, Queries } from '../database/database.ts'
import { recordEvents } from '../database/stream.ts'
import { agentOf, agentRow, type RunRow, runOf, runRow, runTables } from './tables.ts'

/**
 * Stores who spoke a message of the main agent of a run. The grounds keep the revision that the message brought, and who
 * brought it; a ground that stands again is a revision of its own. A run that is gone or damaged stays as it is.
 */
export async function settleMessage(
  tx: Queries,
  kind: Database['kind'],
  account: string,
  runId: string,
  settled: SettledMessage,
  now: number,
): Promise<void> {
  const tables = runTables[kind]
  const [row] = (await tables.runs.lock(tx, [{ account, run_id: runId }])) as unknown as RunRow[]
  const [found] = await tables.agents.find(tx, [{ account, run_id: runId, agent_id: '' }])
  const agent = found === undefined ? 'damaged' : agentOf(found)
  if (row === undefined || row.steps === 0 || row.expires <= now || agent === 'damaged') return
  const after = settleRun(runOf(row), agent, settled)
  if (after === null) return
  await tables.runs.upsert(tx, [runRow({ account, run: after.run })])
  const memory = JSON.stringify(after.agent.memory)
  await tables.agents.upsert(tx, [agentRow({ account, runId, agent: after.agent, memory })])
  await tx.run(
    `UPDATE grounds SET set_by = ?
     WHERE account = ? AND run_id = ? AND agent_id = '' AND revision = ? AND set_by = 'unknown'`,
    settled.by === 'person' ? 'user' : 'machine',
    account,
    runId,
    after.revision,
  )
  if (after.restored !== null) {
    const { revision, goal, by } = after.restored
    await tables.grounds.insert(tx, [
      {
        account,
        run_id: runId,
        agent_id: '',
        revision,
        goal,
        set_by: by,
        at: now,
        step: after.run.steps,
      },
    ])
  }
  await recordEvents(tx, kind, [{ account, at: now, kind: 'run', run_id: runId, subject: '' }])
}
