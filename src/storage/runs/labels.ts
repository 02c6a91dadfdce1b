import type { AlarmCount, Label } from '../../core/evaluation/labels.ts'
import type { Queries } from '../database/database.ts'

/** A label as it is stored. */
export interface StoredLabel {
  run_id: string
  step: number
  /** The step at which the drift of the step began; null for a step that does not drift. */
  alarm: number | null
  label: Label
  note: string | null
  /** Milliseconds since 1970. */
  at: number
}

/** A step that can be labelled. */
export interface LabelledStep {
  agent_id: string
  drifting: boolean
  alarm: number | null
}

/** The newest label of a step, with the step as it was. */
export interface LabelledGoal extends StoredLabel {
  goal: string
  /** Null if it is older than this release. */
  ground: string | null
  progress: string
  distance: number
  reason: string
}

/** The newest label of a step, with the verdict that it was given. */
export interface LabelledVerdict {
  label: Label
  verdict: string | null
}

/** What people said of the steps of accounts. */
export interface Labels {
  /** Finds a step of an unexpired run; null if there is none. */
  step(account: string, runId: string, step: number, now: number): Promise<LabelledStep | null>
  /** Finds the step of an alarm by its agent, its reason and its time. */
  alarmAt(
    account: string,
    alarm: { run_id: string; agent_id: string; reason: string; at: number },
  ): Promise<number | null>
  /** Adds a label to the history of a step. Call it in a transaction that has locked the account. */
  add(account: string, label: StoredLabel): Promise<void>
  /** Lists the newest label of each step, by run and step, after the given one. */
  newest(
    account: string,
    now: number,
    after: Pick<StoredLabel, 'run_id' | 'step'>,
    limit: number,
  ): Promise<LabelledGoal[]>
  /** Lists the labels that say whether an alarm was right: the newest of each step, the latest first. */
  verdicts(account: string, now: number, limit: number): Promise<LabelledVerdict[]>
  /** Counts the alarms of unexpired runs by reason, detector, host and newest label. */
  countAlarms(account: string, now: number): Promise<AlarmCount[]>
  /** Counts the steps of unexpired runs by detector and host. */
  countSteps(
    account: string,
    now: number,
  ): Promise<{ detector: string; host: string | null; steps: number }[]>
  /** Counts the steps of unexpired runs whose newest label is `missed`. */
  countMissed(account: string, now: number): Promise<number>
}

/** Creates the labels on a database or a transaction. */
export function createLabels(db: Queries): Labels {
  return {
    async step(account, runId, step, now) {
      const row = await db.get<{ agent_id: string; drifting: number; alarm: number | null }>(
        `SELECT steps.agent_id, steps.drifting, (
           SELECT MAX(alarms.step) FROM alarms WHERE alarms.account = steps.account
             AND alarms.run_id = steps.run_id AND alarms.agent_id = steps.agent_id
             AND alarms.step <= steps.step
         ) AS alarm
         FROM steps JOIN runs ON runs.account = steps.account AND runs.run_id = steps.run_id
         WHERE steps.account = ? AND steps.run_id = ? AND steps.step = ? AND runs.expires > ?`,
        account,
        runId,
        step,
        now,
      )
      if (row === undefined) return null
      const drifting = row.drifting === 1
      return { agent_id: row.agent_id, drifting, alarm: drifting ? row.alarm : null }
    },
    async alarmAt(account, { run_id, agent_id, reason, at }) {
      const row = await db.get<{ step: number }>(
        `SELECT step FROM alarms WHERE account = ? AND run_id = ? AND agent_id = ? AND at <= ?
         ORDER BY CASE WHEN reason = ? THEN 0 ELSE 1 END, at DESC, step DESC LIMIT 1`,
        account,
        run_id,
        agent_id,
        at,
        reason,
      )
      return row?.step ?? null
    },
    async add(account, { run_id, step, at, alarm, label, note }) {
      await db.run(
        `INSERT INTO labels (account, run_id, step, seq, at, alarm, label, note)
         SELECT ?, ?, ?, COALESCE(MAX(seq), 0) + 1, ?, ?, ?, ? FROM labels
         WHERE account = ? AND run_id = ? AND step = ?`,
        account,
        run_id,
        step,
        at,
        alarm,
        label,
        note,
        account,
        run_id,
        step,
      )
    },
    newest: (account, now, after, limit) =>
      db.all<LabelledGoal>(
        `SELECT labels.run_id, labels.step, labels.alarm, labels.label, labels.note, labels.at,
           steps.goal, grounds.goal AS ground, steps.progress, steps.distance, steps.reason
         FROM labels
         JOIN runs ON runs.account = labels.account AND runs.run_id = labels.run_id
         JOIN steps ON steps.account = labels.account AND steps.run_id = labels.run_id
           AND steps.step = labels.step
         LEFT JOIN grounds ON grounds.account = labels.account AND grounds.run_id = labels.run_id
           AND grounds.agent_id = steps.agent_id AND grounds.revision = steps.revision
         WHERE labels.account = ? AND (labels.run_id, labels.step) > (?, ?) AND runs.expires > ?
           AND ${isNewest}
         ORDER BY labels.run_id, labels.step LIMIT ?`,
        account,
        after.run_id,
        after.step,
        now,
        limit,
      ),
    verdicts: (account, now, limit) =>
      db.all<LabelledVerdict>(
        `SELECT labels.label, steps.verdict
         FROM labels
         JOIN runs ON runs.account = labels.account AND runs.run_id = labels.run_id
         JOIN steps ON steps.account = labels.account AND steps.run_id = labels.run_id
           AND steps.step = labels.step
         WHERE labels.account = ? AND runs.expires > ?
           AND labels.label IN ('useful', 'false_alarm') AND ${isNewest}
         ORDER BY labels.at DESC, labels.run_id, labels.step LIMIT ?`,
        account,
        now,
        limit,
      ),
    countAlarms: (account, now) => db.all<AlarmCount>(countedAlarms, account, now),
    countSteps: (account, now) =>
      db.all(
        `SELECT detector, host, SUM(steps) AS steps FROM runs
         WHERE account = ? AND expires > ? AND steps > 0 GROUP BY detector, host`,
        account,
        now,
      ),
    async countMissed(account, now) {
      const row = await db.get<{ count: number }>(
        `SELECT COUNT(*) AS count FROM labels
         JOIN runs ON runs.account = labels.account AND runs.run_id = labels.run_id
         WHERE labels.account = ? AND runs.expires > ? AND labels.label = 'missed' AND ${isNewest}`,
        account,
        now,
      )
      return row?.count ?? 0
    },
  }
}

const isNewest = `NOT EXISTS (
  SELECT 1 FROM labels AS later WHERE later.account = labels.account
    AND later.run_id = labels.run_id AND later.step = labels.step AND later.seq > labels.seq
)`

/** The last label of any step of a drift counts for its alarm. */
const countedAlarms = `SELECT reason, detector, host, label, COUNT(*) AS alarms FROM (
    SELECT alarms.reason, runs.detector, runs.host, (
      SELECT labels.label FROM labels WHERE labels.account = alarms.account
        AND labels.run_id = alarms.run_id AND labels.alarm = alarms.step
      ORDER BY labels.at DESC, labels.step DESC, labels.seq DESC LIMIT 1
    ) AS label
    FROM alarms JOIN runs ON runs.account = alarms.account AND runs.run_id = alarms.run_id
    WHERE alarms.account = ? AND runs.expires > ?
  ) AS counted GROUP BY reason, detector, host, label`
