import {
  type DialogueReason,
  type DialogueRequest,
  dialogueReasons,
  newDialogue,
  readDialogueMemory,
  type TurnVerdict,
  takeTurn,
} from '../core/runs/dialogue.ts'
import { dayMs } from '../core/time.ts'
import { forgetIncidentsOfDialogue } from './alerts/incidents.ts'
import { forgetIdleOutboxes, lockOutbox } from './alerts/outbox.ts'
import type { Database, Queries } from './database/database.ts'
import type { Columns } from './database/rows.ts'
import { createTable } from './database/table.ts'

/** A dialogue of agents. Times are milliseconds since 1970 and never decrease. */
export interface Conversation {
  conv_id: string
  /** Null before the first turn that could be spelled. */
  goal: string | null
  turns: number
  last_reason: DialogueReason
  drifting: boolean
  created: number
  updated: number
}

/** A stored turn; 1 and 0 for booleans. */
export interface TurnRow {
  turn: number
  ts: number
  agent: string
  position: string
  /** The goal as the turn stated it. */
  goal: string | null
  distance: number
  reason: DialogueReason
  drifting: number
  phi: number
  echo: number
  self_echo: number
}

/** The result of a turn; `damaged` if the stored state of its conversation cannot be read. */
export type TakenTurn =
  | {
      turn: number
      verdict: TurnVerdict
      /** The shared goal. */
      goal: string | null
      /** The reason of the previous turn, or null for the first. */
      previous: DialogueReason | null
      /** Whether the previous turn drifted for the same reason. */
      continues: boolean
    }
  | 'damaged'

/** A cursor in a list of conversations, newest first: the last one already shown. */
export interface ConversationPlace {
  updated: number
  conv_id: string
}

/** The conversations of accounts. Readers do not see expired ones. */
export interface Conversations {
  /**
   * Judges a turn and stores it. The conversation stays locked until the transaction ends, so that its
   * turns have one order on all nodes.
   */
  take(
    account: string,
    request: DialogueRequest,
    now: number,
    retentionDays: number,
  ): Promise<TakenTurn>
  find(account: string, convId: string, now: number): Promise<Conversation | null>
  /** Lists conversations by their last turn, newest first. */
  list(
    account: string,
    now: number,
    limit: number,
    after: ConversationPlace | null,
  ): Promise<Conversation[]>
  /** Lists the turns after number `after`, ascending. */
  turns(account: string, convId: string, after: number, limit: number): Promise<TurnRow[]>
  /**
   * Ends the conversation: readers no longer see it. Returns its number of turns, or null if there is no
   * such conversation.
   */
  end(account: string, convId: string, now: number): Promise<number | null>
  /**
   * Deletes about `maxRows` rows of conversations that expired at `now` or before, and returns whether
   * there may be more.
   */
  expire(now: number, maxRows: number): Promise<boolean>
}

const columns = {
  account: 'TEXT',
  conv_id: 'TEXT',
  goal: 'TEXT',
  memory: 'TEXT',
  turns: 'BIGINT',
  last_reason: 'TEXT',
  drifting: 'BIGINT',
  created: 'BIGINT',
  updated: 'BIGINT',
  expires: 'BIGINT',
} as const satisfies Columns

interface ConversationRow extends Omit<Conversation, 'drifting'> {
  account: string
  memory: string
  drifting: number
  expires: number
}

const tables = { sqlite: tableFor('sqlite'), postgres: tableFor('postgres') }

function tableFor(kind: Database['kind']) {
  return createTable(kind, 'conversations', ['account', 'conv_id'], columns)
}

const shownColumns = 'conv_id, goal, turns, last_reason, drifting, created, updated'
const expiredAtOnce = 50
const reasons = dialogueReasons.map((reason) => `'${reason}'`).join(', ')

/** Creates the conversations on a database or a transaction. */
export function createConversations(db: Queries, kind: Database['kind']): Conversations {
  const table = tables[kind]

  /** Locks and returns the conversation, or undefined if it has no kept turn. */
  async function lock(account: string, convId: string, now: number) {
    const fresh = { ...emptyRow, account, conv_id: convId, created: now, updated: now }
    const lockRow = async () => (await table.lock(db, [fresh]))[0] as ConversationRow | undefined
    let row = await lockRow()
    // On PostgreSQL a missing row is inserted first, because another transaction could insert it meanwhile.
    // An expired row can be deleted between the insert and the lock, so the loop inserts it again.
    while (row === undefined && kind === 'postgres') {
      await table.insertMissing(db, [fresh])
      row = await lockRow()
    }
    if (row === undefined || row.turns === 0) return undefined
    if (row.expires > now) return row
    await db.run(
      'DELETE FROM conversation_turns WHERE account = ? AND conv_id = ?',
      account,
      convId,
    )
    await lockOutbox(db, kind, [account])
    await forgetAlertsOf(account, convId)
    return undefined
  }

  return {
    async take(account, request, now, retentionDays) {
      const { convId } = request
      const stored = await lock(account, convId, now)
      const before = stored === undefined ? newDialogue() : readDialogueMemory(stored.memory)
      if (before === null) return 'damaged'
      const { verdict, memory } = takeTurn(before, request)
      const turn = (stored?.turns ?? 0) + 1
      const updated = Math.max(stored?.updated ?? now, now)
      const goal = memory.goal?.text ?? null
      const row = {
        account,
        conv_id: convId,
        goal,
        memory: JSON.stringify(memory),
        turns: turn,
        last_reason: verdict.reason,
        drifting: Number(verdict.drifting),
        created: stored?.created ?? now,
        updated,
        expires: updated + retentionDays * dayMs,
      }
      await table.upsert(db, [row])
      await db.run(
        `INSERT INTO conversation_turns
           (account, conv_id, turn, ts, agent, position, goal, distance, reason, drifting, phi, echo, self_echo)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        account,
        convId,
        turn,
        updated,
        request.agent,
        request.position,
        request.goal,
        request.distance,
        verdict.reason,
        Number(verdict.drifting),
        verdict.phi,
        verdict.echo,
        verdict.self_echo,
      )
      const continues = stored?.drifting === 1 && stored.last_reason === verdict.reason
      return { turn, verdict, goal, previous: before.last, continues }
    },
    async find(account, convId, now) {
      const row = await db.get<ConversationRow>(
        `SELECT ${shownColumns} FROM conversations
         WHERE account = ? AND conv_id = ? AND expires > ? AND turns > 0`,
        account,
        convId,
        now,
      )
      return row === undefined ? null : conversationOf(row)
    },
    async list(account, now, limit, after) {
      const rows = await db.all<ConversationRow>(
        `SELECT ${shownColumns} FROM conversations
         WHERE account = ? AND expires > ? AND turns > 0
           AND (updated < ? OR (updated = ? AND conv_id < ?))
         ORDER BY updated DESC, conv_id DESC LIMIT ?`,
        account,
        now,
        after?.updated ?? Number.MAX_SAFE_INTEGER,
        after?.updated ?? Number.MAX_SAFE_INTEGER,
        after?.conv_id ?? '',
        limit,
      )
      return rows.map(conversationOf)
    },
    turns: (account, convId, after, limit) =>
      db.all<TurnRow>(
        `SELECT turn, ts, agent, position, goal, distance, reason, drifting, phi, echo, self_echo
         FROM conversation_turns WHERE account = ? AND conv_id = ? AND turn > ?
         ORDER BY turn LIMIT ?`,
        account,
        convId,
        after,
        limit,
      ),
    async end(account, convId, now) {
      const ended = await db.get<{ turns: number }>(
        `UPDATE conversations SET expires = 0
         WHERE account = ? AND conv_id = ? AND expires > ? AND turns > 0 RETURNING turns`,
        account,
        convId,
        now,
      )
      return ended?.turns ?? null
    },
    async expire(now, maxRows) {
      // Conversations that another transaction has locked are skipped, because a turn may be reviving
      // them.
      const expired = await db.all<{ account: string; conv_id: string }>(
        `SELECT account, conv_id FROM conversations WHERE expires <= ?
         ORDER BY expires LIMIT ${expiredAtOnce}
         ${kind === 'postgres' ? 'FOR UPDATE SKIP LOCKED' : ''}`,
        now,
      )
      const accounts = [...new Set(expired.map(({ account }) => account))]
      await lockOutbox(db, kind, accounts)
      const more = await deleteAll(expired, maxRows)
      await forgetIdleOutboxes(db, kind, accounts)
      return more
    },
  }

  /** Deletes only events with a reason of dialogues, because a run may have the same id. */
  async function forgetAlertsOf(account: string, convId: string): Promise<void> {
    await forgetIncidentsOfDialogue(db, account, convId)
    await db.run(
      `DELETE FROM alert_events WHERE account = ? AND run_id = ? AND reason IN (${reasons})`,
      account,
      convId,
    )
  }

  /** Deletes about `maxRows` rows of conversations and returns whether there may be more. */
  async function deleteAll(
    conversations: readonly { account: string; conv_id: string }[],
    maxRows: number,
  ): Promise<boolean> {
    let deleted = 0
    for (const { account, conv_id } of conversations) {
      deleted += await deleteTurns(account, conv_id, maxRows - deleted)
      if (deleted >= maxRows) return true
      await forgetAlertsOf(account, conv_id)
      deleted += await db.run(
        'DELETE FROM conversations WHERE account = ? AND conv_id = ?',
        account,
        conv_id,
      )
      if (deleted >= maxRows) return true
    }
    return conversations.length === expiredAtOnce
  }

  /** Deletes the first `limit` turns of a conversation; turn numbers have no gaps. */
  function deleteTurns(account: string, convId: string, limit: number): Promise<number> {
    return db.run(
      `DELETE FROM conversation_turns WHERE account = ? AND conv_id = ? AND turn < ? + (
         SELECT MIN(turn) FROM conversation_turns WHERE account = ? AND conv_id = ?
       )`,
      account,
      convId,
      limit,
      account,
      convId,
    )
  }
}

const emptyRow = {
  goal: null,
  memory: '',
  turns: 0,
  last_reason: '',
  drifting: 0,
  expires: 0,
}

function conversationOf({ drifting, ...row }: ConversationRow): Conversation {
  return { ...row, drifting: drifting === 1 }
}
