import type { Database } from '../src/storage/database/database.ts'

/**
 * Puts a text in the place of what is remembered of a run's agents, as whoever changes an agent does:
 * with the row of the run, by which a node that remembers the run sees that somebody did.
 */
export function setMemory(
  db: Database,
  run: string,
  memory: string,
  agents = '%',
): Promise<number> {
  return db.tx(async (tx) => {
    await tx.run('UPDATE runs SET note = note WHERE run_id = ?', run)
    return tx.run(
      'UPDATE agents SET memory = ? WHERE run_id = ? AND agent_id LIKE ?',
      memory,
      run,
      agents,
    )
  })
}
