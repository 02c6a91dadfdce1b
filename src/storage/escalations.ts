import type { Queries } from './database/database.ts'

/** The decisions on an escalation. */
export const decisionNames = ['return', 'allow', 'stop'] as const

export type Decision = (typeof decisionNames)[number]

/** A question to a person. Times are milliseconds since 1970; the fields of the decision are null before it. */
export interface Escalation {
  esc_id: string
  run_id: string
  reason: string
  advice: string | null
  streak: number | null
  detail: string | null
  created: number
  decision: Decision | null
  note: string | null
  decided_at: number | null
  decided_by: string | null
}

/** A new escalation. */
export type NewEscalation = Pick<
  Escalation,
  'esc_id' | 'run_id' | 'reason' | 'advice' | 'streak' | 'detail' | 'created'
>

/** A decision, with its time and its account. */
export interface Decided {
  decision: Decision
  note: string | null
  decided_at: number
  decided_by: string
}

/** A cursor in a list of escalations, newest first: the last one already shown. */
export interface EscalationPlace {
  created: number
  esc_id: string
}

/** The escalations of accounts. */
export interface Escalations {
  add(account: string, escalation: NewEscalation): Promise<void>
  find(account: string, escId: string): Promise<Escalation | null>
  /** Lists escalations, newest first; `status` of null shows all. */
  list(
    account: string,
    status: 'pending' | 'decided' | null,
    limit: number,
    after: EscalationPlace | null,
  ): Promise<Escalation[]>
  /** Decides a pending escalation and returns whether there was one. Of concurrent calls, one returns true. */
  decide(account: string, escId: string, decided: Decided): Promise<boolean>
  /** Answers whether there was such an escalation. */
  delete(account: string, escId: string): Promise<boolean>
  /** Returns those of the ids that are decided or deleted. */
  settledAmong(escIds: readonly string[]): Promise<string[]>
  /** Whether the run has an escalation that is pending or was decided `stop`. */
  blocking(account: string, runId: string): Promise<boolean>
  countPending(account: string): Promise<number>
  /**
   * Deletes at most `limit` escalations that were created before `before`, and decided before it if
   * decided, and returns their number.
   */
  expire(before: number, limit: number): Promise<number>
}

const columns =
  'esc_id, run_id, reason, advice, streak, detail, created, decision, note, decided_at, decided_by'

/** Spelled out, because a partial index serves only a statement that contains its condition. */
const filters = { all: '', pending: 'AND decision IS NULL', decided: 'AND decision IS NOT NULL' }

/** Creates the escalations on a database or a transaction. */
export function createEscalations(db: Queries): Escalations {
  return {
    async add(account, { esc_id, run_id, reason, advice, streak, detail, created }) {
      await db.run(
        `INSERT INTO escalations
           (account, esc_id, run_id, reason, advice, streak, detail, created, touched)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        account,
        esc_id,
        run_id,
        reason,
        advice,
        streak,
        detail,
        created,
        created,
      )
    },
    async find(account, escId) {
      const row = await db.get<Escalation>(
        `SELECT ${columns} FROM escalations WHERE account = ? AND esc_id = ?`,
        account,
        escId,
      )
      return row ?? null
    },
    list: (account, status, limit, after) =>
      db.all<Escalation>(
        `SELECT ${columns} FROM escalations
         WHERE account = ? ${filters[status ?? 'all']} AND (created, esc_id) < (?, ?)
         ORDER BY created DESC, esc_id DESC LIMIT ?`,
        account,
        after?.created ?? Number.MAX_SAFE_INTEGER,
        after?.esc_id ?? '',
        limit,
      ),
    async decide(account, escId, { decision, note, decided_at, decided_by }) {
      const changed = await db.run(
        `UPDATE escalations
         SET decision = ?, note = ?, decided_at = ?, decided_by = ?, touched = ?
         WHERE account = ? AND esc_id = ? AND decision IS NULL`,
        decision,
        note,
        decided_at,
        decided_by,
        decided_at,
        account,
        escId,
      )
      return changed > 0
    },
    async delete(account, escId) {
      const gone = await db.run(
        'DELETE FROM escalations WHERE account = ? AND esc_id = ?',
        account,
        escId,
      )
      return gone > 0
    },
    async settledAmong(escIds) {
      const settled: string[] = []
      for (let at = 0; at < escIds.length; at += idsAStatement) {
        const asked = escIds.slice(at, at + idsAStatement)
        // The same text for any number of ids, because each text is prepared once and cached.
        const padded = Array.from({ length: idsAStatement }, (_, index) => asked[index] ?? null)
        const pending = await db.all<{ esc_id: string }>(
          `SELECT esc_id FROM escalations
           WHERE decision IS NULL AND esc_id IN (${padded.map(() => '?').join(', ')})`,
          ...padded,
        )
        const waiting = new Set(pending.map(({ esc_id }) => esc_id))
        settled.push(...asked.filter((id) => !waiting.has(id)))
      }
      return settled
    },
    async blocking(account, runId) {
      const row = await db.get(
        `SELECT 1 AS found FROM escalations
         WHERE account = ? AND run_id = ? AND (decision IS NULL OR decision = 'stop') LIMIT 1`,
        account,
        runId,
      )
      return row !== undefined
    },
    async countPending(account) {
      const row = await db.get<{ count: number }>(
        'SELECT COUNT(*) AS count FROM escalations WHERE account = ? AND decision IS NULL',
        account,
      )
      return row?.count ?? 0
    },
    expire: (before, limit) =>
      db.run(
        `DELETE FROM escalations WHERE touched <= ? AND esc_id IN (
           SELECT esc_id FROM escalations WHERE touched <= ? ORDER BY touched LIMIT ?
         )`,
        before,
        before,
        limit,
      ),
  }
}

const idsAStatement = 50
