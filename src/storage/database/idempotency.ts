import { keyOf } from '../../core/text.ts'
import { dayMs, minuteMs } from '../../core/time.ts'
import type { Database, Queries } from './database.ts'
import type { Columns, Row } from './rows.ts'
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
   * Claims different keys for requests, and returns the answers of earlier requests from the last 24 hours
   * by `keyOfClaim`; a key without one is claimed. Status 0 means that the earlier request is still in
   * progress outside a transaction. Waits while another transaction locks one of the keys. A claim without
   * an answer is lost after a minute.
   */
  claim(claims: readonly Claim[]): Promise<Map<string, StoredAnswer>>
  /** Stores the answers of claimed requests. A transaction need not await it. */
  keep(answers: readonly Answered[]): Promise<unknown>
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
  const table = tables[kind]
  return {
    async claim(claims) {
      const byKey = new Map(claims.map((claim) => [keyOfClaim(claim), claim]))
      // A fixed order on every node prevents deadlocks.
      const sorted = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1))
      const claimed = await table.insertMissing(
        db,
        sorted.map(([, claim]) => rowOf(claim)),
      )
      for (const row of claimed) byKey.delete(keyIn(row))
      // The insert has locked the other rows on PostgreSQL, so they are still there.
      const kept = await table.find(
        db,
        [...byKey.values()].map(({ account, scope, key }) => ({ account, scope, key })),
      )
      return new Map(kept.map((row) => [keyIn(row), answerOf(row)]))
    },
    keep: (answers) =>
      table.update(
        db,
        answers.map(({ claim, status, answer }) => ({
          ...rowOf(claim),
          status,
          answer,
          run_id: runOfAnswer(answer),
        })),
      ),
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
  return createTable(kind, 'idempotency', ['account', 'scope', 'key'], columns, {
    stale: `idempotency.at <= excluded.at - ${keptForMs}
      OR (idempotency.status = 0 AND idempotency.at <= excluded.at - ${lostAfterMs})`,
  })
}

/** The map key of a claim. */
export function keyOfClaim({ account, scope, key }: Claim): string {
  return keyOf(account, scope, key)
}

function keyIn({ account, scope, key }: Readonly<Record<'account' | 'scope' | 'key', unknown>>) {
  return keyOf(String(account), String(scope), String(key))
}

function answerOf({ body_hash, status, answer }: Row<typeof columns>): StoredAnswer {
  return { bodyHash: String(body_hash), status: Number(status), answer: String(answer) }
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
