import type { Severity } from '../../core/alerts/alerts.ts'
import type { Incident } from '../../core/alerts/incidents.ts'
import type { Numbered } from '../../core/alerts/outbox.ts'
import type { Database, Queries } from '../database/database.ts'
import { type Columns, jsonRows, type Row } from '../database/rows.ts'
import { createTable } from '../database/table.ts'

/** The subject of an incident: an agent of a run, or a dialogue. */
export interface AgentOf {
  account: string
  run_id: string
  dialogue: boolean
  agent_id: string
}

/** Finds the open incidents of agents. */
export async function findOpenIncidents(
  tx: Queries,
  kind: Database['kind'],
  agents: readonly AgentOf[],
): Promise<Numbered<Incident>[]> {
  if (agents.length === 0) return []
  const rows = await tx.all<Row<typeof columns>>(
    openOf[kind],
    JSON.stringify(
      agents.map(({ account, run_id, dialogue, agent_id }) => ({
        account,
        run_id,
        dialogue: Number(dialogue),
        agent_id,
      })),
    ),
  )
  return rows.map(incidentOf)
}

/** Inserts incidents, or replaces those with the same numbers. */
export function saveIncidents(
  tx: Queries,
  kind: Database['kind'],
  incidents: readonly Numbered<Incident>[],
): void {
  tables[kind].upsert(
    tx,
    incidents.map(({ account, seq, value }) => ({
      account,
      seq,
      ...value,
      dialogue: Number(value.dialogue),
    })),
  )
}

/** Deletes the incidents of a dialogue. */
export async function forgetIncidentsOfDialogue(
  tx: Queries,
  account: string,
  convId: string,
): Promise<void> {
  await tx.run(
    'DELETE FROM alert_incidents WHERE account = ? AND run_id = ? AND dialogue = 1',
    account,
    convId,
  )
}

/** Lists the incidents of an account, newest first. */
export async function listIncidents(
  db: Queries,
  account: string,
  open: boolean | null,
  limit: number,
  before: number | null,
): Promise<Numbered<Incident>[]> {
  const filter = open === null ? '' : `AND closed IS ${open ? '' : 'NOT '}NULL`
  const rows = await db.all<Row<typeof columns>>(
    `SELECT ${names.join(', ')} FROM alert_incidents
     WHERE account = ? AND seq < ? ${filter} ORDER BY seq DESC LIMIT ?`,
    account,
    before ?? Number.MAX_SAFE_INTEGER,
    limit,
  )
  return rows.map(incidentOf)
}

/** Finds an incident by its number. */
export async function findIncident(
  db: Queries,
  account: string,
  seq: number,
): Promise<Numbered<Incident> | null> {
  const row = await db.get<Row<typeof columns>>(
    `SELECT ${names.join(', ')} FROM alert_incidents WHERE account = ? AND seq = ?`,
    account,
    seq,
  )
  return row === undefined ? null : incidentOf(row)
}

const columns = {
  account: 'TEXT',
  seq: 'BIGINT',
  run_id: 'TEXT',
  dialogue: 'BIGINT',
  agent_id: 'TEXT',
  reason: 'TEXT',
  severity: 'TEXT',
  opened: 'BIGINT',
  updated: 'BIGINT',
  notified: 'BIGINT',
  closed: 'BIGINT',
  steps: 'BIGINT',
  phi: 'DOUBLE PRECISION',
  max_phi: 'DOUBLE PRECISION',
} as const satisfies Columns

const names = Object.keys(columns)

const key = ['account', 'seq'] as const
const tables = {
  sqlite: createTable('sqlite', 'alert_incidents', key, columns),
  postgres: createTable('postgres', 'alert_incidents', key, columns),
}

const agentColumns = {
  account: 'TEXT',
  run_id: 'TEXT',
  dialogue: 'BIGINT',
  agent_id: 'TEXT',
} as const

const openOf = { sqlite: openIncidentsOf('sqlite'), postgres: openIncidentsOf('postgres') }

function openIncidentsOf(kind: Database['kind']): string {
  const same = Object.keys(agentColumns).map((name) => `open.${name} = rows.${name}`)
  return `SELECT ${names.map((name) => `open.${name}`).join(', ')}
    FROM ${jsonRows(kind, agentColumns)}
    JOIN alert_incidents AS open ON ${same.join(' AND ')}
    WHERE open.closed IS NULL ORDER BY open.account, open.seq`
}

function incidentOf({ account, seq, ...row }: Row<typeof columns>): Numbered<Incident> {
  return {
    account: String(account),
    seq: Number(seq),
    value: {
      run_id: String(row.run_id),
      dialogue: row.dialogue === 1,
      agent_id: String(row.agent_id),
      reason: String(row.reason),
      severity: row.severity as Severity,
      opened: Number(row.opened),
      updated: Number(row.updated),
      notified: Number(row.notified),
      closed: row.closed === null ? null : Number(row.closed),
      steps: Number(row.steps),
      phi: Number(row.phi),
      max_phi: Number(row.max_phi),
    },
  }
}
