import { dayMs, minuteMs } from '../../core/time.ts'
import type { Database, Queries } from './database.ts'
import { type Columns, keyOf } from './rows.ts'
import { createTable } from './table.ts'

/** A request that is to be worked once. */
export interface Claim {
  account: string
  scope: string
  key: string
  /** As `bodyHashOf` makes it. */
  bodyHash: string
  /** Milliseconds since 1970. */
  at: number
}

/** What an earlier request with the same key was answered. */
export interface Kept {
  bodyHash: string
  status: number
  answer: string
}

/** Answers that were given to requests with an idempotency key. */
export interface Idempotency {
  /**
   * Takes the key for this request and answers null, or answers what an earlier one was given in the
   * last 24 hours (status 0: it is still being worked, outside of any transaction). Waits while
   * another transaction holds the key. What was claimed and not answered for a minute was lost.
   */
  claim(claim: Claim): Promise<Kept | null>
  /** Keeps the answer of a claimed request. */
  keep(claim: Claim, status: number, answer: string): Promise<void>
  /** As `claim` for several keys, no two of them the same, whose works end in this transaction; by `keyOfClaim`. */
  claimAll(claims: readonly Claim[]): Promise<Map<string, Kept>>
  /** Keeps the answers of requests whose keys `claimAll` has taken. In a transaction nobody need wait for it. */
  keepAll(answers: readonly Answered[]): void
  /** Gives the key of a request back that is not answered after all. */
  release(claim: Claim): Promise<void>
  /** Forgets at most `limit` answers older than 24 hours; answers how many. */
  expire(now: number, limit: number): Promise<number>
}

/** What a claimed request is answered. */
export interface Answered {
  claim: Claim
  status: number
  answer: string
}

/**
 * What tells the body of a request from another: the hash of its bytes, and for a step also the hash of
 * what it says, because an entry of a batch has no bytes of its own (null).
 */
export function bodyHashOf(bytes: string | null, says: string | null): string {
  return says === null ? (bytes ?? '') : `${bytes ?? ''}.${says}`
}

/** Whether two bodies are the same: by their bytes where both have some, else by what they say. */
export function isSameBody(one: string, other: string): boolean {
  const [[oneBytes, oneSays], [otherBytes, otherSays]] = [one.split('.'), other.split('.')]
  if (oneBytes !== '' && otherBytes !== '') return oneBytes === otherBytes
  return oneSays !== undefined && oneSays === otherSays
}

const keptForMs = dayMs
const lostAfterMs = minuteMs

/** Idempotency records in one transaction. */
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
      if (row === undefined) throw new Error('an idempotency record vanished while it was held')
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
        // The age is asked twice: PostgreSQL looks again at a row that it had to wait for, and only
        // so sees that the key was claimed anew.
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

/** What the key of a request is told from others by. */
export function keyOfClaim({ account, scope, key }: Claim): string {
  return keyOf(account, scope, key)
}

/**
 * Takes the keys of several requests, no two of them the same, for works that end in this transaction;
 * answers what earlier ones were given, by `keyOfClaim`. Waits while another transaction holds one.
 */
export async function claimAll(
  tx: Queries,
  kind: Database['kind'],
  claims: readonly Claim[],
): Promise<Map<string, Kept>> {
  const earlier = new Map<string, Kept>()
  if (claims.length === 0) return earlier
  // In one order on every node, lest two hold what the other waits for.
  const byKey = new Map([...claims].map((claim) => [keyOfClaim(claim), claim]))
  const rows = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, claim]) => rowOf(claim))
  let held = await tables[kind].hold(tx, rows)
  // On PostgreSQL an old one can be deleted before it is held; then it is made anew.
  if (held.length < rows.length) held = await tables[kind].hold(tx, rows)
  for (const { account, scope, key, body_hash, at, status, answer } of held) {
    const ours = keyOf(String(account), String(scope), String(key))
    const isOver = Number(at) <= (byKey.get(ours)?.at ?? 0) - keptForMs
    // 0 is our own row, just made.
    if (status === 0 || isOver) continue
    const kept = { bodyHash: String(body_hash), status: Number(status), answer: String(answer) }
    earlier.set(ours, kept)
  }
  return earlier
}

/** Keeps the answers of requests whose keys `claimAll` has taken. */
export function keepAll(tx: Queries, kind: Database['kind'], answers: readonly Answered[]): void {
  tables[kind].put(
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

/** How an answer names a run; no text in it is spelled so, because the quotes of a text are escaped. */
export function runInAnswer(runId: string): string {
  return `"run_id":${JSON.stringify(runId)}`
}

const runsInAnswer = /"run_id":("(?:[^"\\]|\\.)*")/g

/** The run that an answer names, '' when it names several, null when it names none. */
function runOfAnswer(answer: string): string | null {
  const [first, ...more] = new Set([...answer.matchAll(runsInAnswer)].map(([, name]) => name))
  if (first === undefined) return null
  return more.length > 0 ? '' : JSON.parse(first)
}
