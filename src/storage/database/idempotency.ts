import { dayMs, minuteMs } from '../../core/time.ts'
import type { Database, Queries } from './database.ts'
import { type Columns, keyOf } from './rows.ts'
import { createTable } from './table.ts'

/** A request with an idempotency key. */
export interface Claim {
  account: string
  scope: string
  key: string
  /** The result of `bodyHashOf`. */
  bodyHash: string
  /** Milliseconds since 1970. */
  at: number
}

/** The stored answer of an earlier request with the same key. */
export interface StoredAnswer {
  bodyHash: string
  status: number
  answer: string
}

/** The idempotency records: stored answers by key. */
export interface Idempotency {
  /**
   * Claims the key for this request and returns null, or returns the answer of an earlier request from the
   * last 24 hours. Status 0 means that the earlier request is still in progress outside a transaction.
   * Waits while another transaction locks the key. A claim without an answer is lost after a minute.
   */
  claim(claim: Claim): Promise<StoredAnswer | null>
  /** Stores the answer of a claimed request. */
  keep(claim: Claim, status: number, answer: string): Promise<void>
  /**
   * As `claim` for several different keys whose requests end in this transaction; returns the earlier
   * answers by `keyOfClaim`.
   */
  claimAll(claims: readonly Claim[]): Promise<Map<string, StoredAnswer>>
  /** Stores the answers of requests that `claimAll` has claimed. A transaction need not await it. */
  keepAll(answers: readonly Answered[]): void
  /** Deletes the claim of a request that gets no answer. */
  release(claim: Claim): Promise<void>
  /** Deletes at most `limit` answers older than 24 hours and returns their number. */
  expire(now: number, limit: number): Promise<number>
}

/** The answer to a claimed request. */
export interface Answered {
  claim: Claim
  status: number
  answer: string
}

/**
 * Combines the hash of a body's bytes with the hash of its content. Only steps have a content hash,
 * because an entry of a batch has no bytes of its own (null).
 */
export function bodyHashOf(bytes: string | null, says: string | null): string {
  return says === null ? (bytes ?? '') : `${bytes ?? ''}.${says}`
}

/** Whether two bodies are equal: by their bytes if both have bytes, otherwise by their content. */
export function isSameBody(one: string, other: string): boolean {
  const [[oneBytes, oneSays], [otherBytes, otherSays]] = [one.split('.'), other.split('.')]
  if (oneBytes !== '' && otherBytes !== '') return oneBytes === otherBytes
  return oneSays !== undefined && oneSays === otherSays
}

const keptForMs = dayMs
const lostAfterMs = minuteMs

/** Creates the idempotency records on a transaction. */
export function createIdempotency(db: Queries, kind: Database['kind']): Idempotency {
  return {
    async claim({ account, scope, key, bodyHash, at }) {
      const claimed = await db.run(
        `INSERT INTO idempotency (account, scope, key, body_hash, at, status, answer)
         VALUES (?, ?, ?, ?, ?, 0, '')
         ON CONFLICT (account, scope, key) DO UPDATE
         SET body_hash = excluded.body_hash, at = excluded.at, status = 0, answer = '', run_id = NULL
         WHERE idempotency.at <= excluded.at - ${keptForMs}
           OR (idempotency.status = 0 AND idempotency.at <= excluded.at - ${lostAfterMs})`,
        account,
        scope,
        key,
        bodyHash,
        at,
      )
      if (claimed > 0) return null
      const row = await db.get<{ body_hash: string; status: number; answer: string }>(
        'SELECT body_hash, status, answer FROM idempotency WHERE account = ? AND scope = ? AND key = ?',
        account,
        scope,
        key,
      )
      if (row === undefined) throw new Error('an idempotency record vanished while it was locked')
      return { bodyHash: row.body_hash, status: row.status, answer: row.answer }
    },
    async keep({ account, scope, key }, status, answer) {
      await db.run(
        `UPDATE idempotency SET status = ?, answer = ?, run_id = ?
         WHERE account = ? AND scope = ? AND key = ?`,
        status,
        answer,
        runOfAnswer(answer),
        account,
        scope,
        key,
      )
    },
    claimAll: (claims) => claimAll(db, kind, claims),
    keepAll: (answers) => keepAll(db, kind, answers),
    async release({ account, scope, key }) {
      await db.run(
        'DELETE FROM idempotency WHERE account = ? AND scope = ? AND key = ? AND status = 0',
        account,
        scope,
        key,
      )
    },
    expire: (now, limit) =>
      db.run(
        // The age appears twice because PostgreSQL rechecks it on a row whose lock it waited for, and then
        // sees that the key was claimed again.
        `DELETE FROM idempotency WHERE at <= ? AND (account, scope, key) IN (
           SELECT account, scope, key FROM idempotency WHERE at <= ? ORDER BY at LIMIT ?
         )`,
        now - keptForMs,
        now - keptForMs,
        limit,
      ),
  }
}

const columns = {
  account: 'TEXT',
  scope: 'TEXT',
  key: 'TEXT',
  body_hash: 'TEXT',
  at: 'BIGINT',
  status: 'BIGINT',
  answer: 'TEXT',
  run_id: 'TEXT',
} as const satisfies Columns

const tables = { sqlite: tableFor('sqlite'), postgres: tableFor('postgres') }

function tableFor(kind: Database['kind']) {
  return createTable(kind, 'idempotency', ['account', 'scope', 'key'], columns)
}

/** The map key of a claim. */
export function keyOfClaim({ account, scope, key }: Claim): string {
  return keyOf(account, scope, key)
}

/**
 * Claims the different keys of several requests that end in this transaction, and returns the earlier
 * answers by `keyOfClaim`. Waits while another transaction locks one of the keys.
 */
export async function claimAll(
  tx: Queries,
  kind: Database['kind'],
  claims: readonly Claim[],
): Promise<Map<string, StoredAnswer>> {
  const earlier = new Map<string, StoredAnswer>()
  if (claims.length === 0) return earlier
  // A fixed order on every node prevents deadlocks.
  const byKey = new Map([...claims].map((claim) => [keyOfClaim(claim), claim]))
  const rows = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, claim]) => rowOf(claim))
  let locked = await tables[kind].lock(tx, rows)
  // On PostgreSQL an old row can be deleted between the insert and the lock; the second call inserts it.
  if (locked.length < rows.length) locked = await tables[kind].lock(tx, rows)
  for (const { account, scope, key, body_hash, at, status, answer } of locked) {
    const ours = keyOf(String(account), String(scope), String(key))
    const isOver = Number(at) <= (byKey.get(ours)?.at ?? 0) - keptForMs
    // Status 0 is the row of this claim.
    if (status === 0 || isOver) continue
    const kept = { bodyHash: String(body_hash), status: Number(status), answer: String(answer) }
    earlier.set(ours, kept)
  }
  return earlier
}

/** Stores the answers of requests that `claimAll` has claimed. */
export function keepAll(tx: Queries, kind: Database['kind'], answers: readonly Answered[]): void {
  tables[kind].upsert(
    tx,
    answers.map(({ claim, status, answer }) => ({
      ...rowOf(claim),
      status,
      answer,
      run_id: runOfAnswer(answer),
    })),
  )
}

function rowOf({ account, scope, key, bodyHash, at }: Claim) {
  return { account, scope, key, body_hash: bodyHash, at, status: 0, answer: '', run_id: null }
}

/** The text by which an answer names a run. No string in an answer contains it, because JSON escapes quotes. */
export function runInAnswer(runId: string): string {
  return `"run_id":${JSON.stringify(runId)}`
}

const runsInAnswer = /"run_id":("(?:[^"\\]|\\.)*")/g

/** The run that an answer names, '' if it names several, null if it names no run. */
function runOfAnswer(answer: string): string | null {
  const [first, ...more] = new Set([...answer.matchAll(runsInAnswer)].map(([, name]) => name))
  if (first === undefined) return null
  return more.length > 0 ? '' : JSON.parse(first)
}
