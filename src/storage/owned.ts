import type { Queries } from './database/database.ts'
import { runColumns } from './runs/tables.ts'

/** A table whose rows belong to accounts: each has the column `account`. */
export interface OwnedTable {
  readonly table: string
  /** The name of a row in the export of the account. */
  readonly type: string
  /** The key of a row within its account, in this order; empty if there is one row. */
  readonly key: readonly string[]
  /** The exported columns. Secrets, their hashes and tokens are not exported. */
  readonly exported: readonly string[]
}

/** A row of an owned table. */
export type OwnedRow = Record<string, string | number | null>

/** Key columns that are not exported: a client may have sent a secret as its idempotency key. */
const hidden: ReadonlySet<string> = new Set(['hash', 'key'])

/** Every column of a run but the account. */
const ofRun = Object.keys(runColumns)
  .filter((name) => name !== 'account')
  .join(' ')

/**
 * Every table with rows of accounts, in the order of the export. The row of `alert_accounts` comes after
 * the rows that it numbers, so that no number is used twice.
 */
export const ownedTables: readonly OwnedTable[] = [
  owned('keys', 'key', 'id', 'id prefix created last_used expires scope label'),
  owned('sessions', 'session', 'hash', 'key_id created expires'),
  owned('sign_in_links', 'sign_in_link', 'hash', 'expires'),
  owned('identities', 'identity', 'issuer subject', 'created key_shown'),
  owned('subscriptions', 'subscription', 'subscription', 'customer tier live ending over'),
  owned('email_links', 'email_link', 'hash', 'email expires'),
  owned('teams', 'team', '', 'id name share_goals created'),
  owned('team_seats', 'team_seat', '', 'team label role joined'),
  owned('digests', 'digest', '', 'cadence hour_utc weekday channel url created next sent_until'),
  owned('runs', 'run', 'run_id', ofRun),
  owned('grounds', 'ground', 'run_id agent_id revision', 'goal set_by at step'),
  owned(
    'agents',
    'agent',
    'run_id agent_id',
    'memory steps drifting last_reason totals parent_agent_id',
  ),
  owned(
    'steps',
    'step',
    'run_id step',
    `ts agent_id goal parent_goal progress distance reason drifting phi goal_score svcscore context
     tokens overhead judgment verdict revision user_message user_effect uncertain`,
  ),
  owned('alarms', 'alarm', 'run_id step', 'at agent_id reason held'),
  owned('labels', 'label', 'run_id step seq', 'at alarm label note'),
  owned('openings', 'opening', 'run_id context', ''),
  owned('contexts', 'context', 'context', 'runs lowest'),
  owned('stream_listeners', 'stream_listener', '', 'until'),
  owned('stream_events', 'stream_event', 'seq', 'at kind run_id subject'),
  owned('acts', 'act', 'act run_id', 'work_group at'),
  owned('tool_sessions', 'tool_session', 'run_id', 'state expires'),
  owned(
    'host_sessions',
    'host_session',
    'run_id',
    'state expires acts ended agents_begun agents_stopped prompts unheard heard_at over_at',
  ),
  owned('pending_spans', 'pending_span', 'trace_id span_id', 'received note'),
  owned('hook_settings', 'hook_setting', 'run_id', 'mode remind expires'),
  owned('unknown_events', 'unknown_event', 'host name', 'count last'),
  owned('idempotency', 'stored_answer', 'scope key', 'at status run_id'),
  owned(
    'escalations',
    'escalation',
    'esc_id',
    'run_id reason advice streak detail created decision note decided_at decided_by',
  ),
  owned(
    'conversations',
    'conversation',
    'conv_id',
    'goal memory turns last_reason drifting created updated expires',
  ),
  owned(
    'conversation_turns',
    'conversation_turn',
    'conv_id turn',
    'ts agent position goal distance reason drifting phi echo self_echo',
  ),
  owned('selves', 'self', 'identity', 'purpose now mind note created updated'),
  owned('self_log', 'self_entry', 'identity entry', 'ts kind text'),
  owned('templates', 'template', 'name', 'task roles'),
  owned(
    'alert_events',
    'alert_event',
    'seq',
    'ts run_id goal reason severity phi advice incident drift_state about state due tries attempts held detail',
  ),
  owned(
    'evaluation_results',
    'evaluation_result',
    'run_id step',
    'at result state tries due detail',
  ),
  owned('alert_attempts', 'alert_attempt', 'seq attempt', 'ts host status detail latency_ms bytes'),
  owned(
    'alert_incidents',
    'alert_incident',
    'seq',
    `run_id dialogue agent_id reason severity opened updated notified closed steps phi max_phi`,
  ),
  owned(
    'alert_log',
    'alert_log_entry',
    'seq',
    'ts run_id reason severity phi delivered status detail',
  ),
  owned(
    'alert_endpoints',
    'alert_endpoint',
    'url',
    'failures failing_since paused_until pause_detail updated',
  ),
  owned('budgets', 'budget', '', 'state'),
  owned('alert_accounts', 'alert_settings', '', 'config'),
]

/** Builds an owned table; `key` and `more` are column names, all exported except the hidden ones of the key. */
function owned(table: string, type: string, key: string, more: string): OwnedTable {
  const keyed = namesIn(key)
  const shown = keyed.filter((name) => !hidden.has(name))
  return { table, type, key: keyed, exported: [...new Set([...shown, ...namesIn(more)])] }
}

function namesIn(text: string): string[] {
  return text.split(/\s+/).filter((name) => name !== '')
}

/** Reads at most `limit` rows of an account in one table, in the order of their keys, after the row `after`. */
export function readOwned(
  db: Queries,
  { table, key, exported }: OwnedTable,
  account: string,
  after: OwnedRow | null,
  limit: number,
): Promise<OwnedRow[]> {
  const columns = [...new Set([...key, ...exported])].join(', ')
  const behind =
    after === null ? '' : `AND (${key.join(', ')}) > (${key.map(() => '?').join(', ')})`
  const order = key.length === 0 ? '' : `ORDER BY ${key.join(', ')}`
  return db.all<OwnedRow>(
    `SELECT ${columns} FROM ${table} WHERE account = ? ${behind} ${order} LIMIT ?`,
    account,
    ...(after === null ? [] : key.map((name) => after[name] ?? null)),
    limit,
  )
}

/** Deletes at most `limit` rows of an account in one table and returns their number. */
export function deleteOwned(
  tx: Queries,
  { table, key }: OwnedTable,
  account: string,
  limit: number,
): Promise<number> {
  if (key.length === 0) return tx.run(`DELETE FROM ${table} WHERE account = ?`, account)
  const names = key.join(', ')
  return tx.run(
    `DELETE FROM ${table} WHERE account = ? AND (${names}) IN (
       SELECT ${names} FROM ${table} WHERE account = ? ORDER BY ${names} LIMIT ?
     )`,
    account,
    account,
    limit,
  )
}
