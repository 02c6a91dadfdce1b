import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type AlarmLabel, type BacktestStep, stepKey } from '../../core/backtest/backtest.ts'
import { labels } from '../../core/evaluation/labels.ts'
import { fieldsOf, textOf } from '../../core/hosts/fields.ts'
import { parseJson } from '../../core/text.ts'
import { isoTime } from '../../core/time.ts'

/** The file of the labels of session files, JSON lines, in the folder of what hooks need. */
export function labelsFile(folder: string): string {
  return join(folder, 'backtest-labels.jsonl')
}

/**
 * Reads what was said of the alarms in session files. The last label of a step counts, while the step still has the
 * goal of which it was said: a later release may count the steps of a session in another way. A line that is no label
 * is passed over.
 */
export function readLabels(file: string): (alarm: BacktestStep) => AlarmLabel | null {
  const found = new Map<string, { goal: string; said: AlarmLabel }>()
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  for (const line of lines) {
    const { run_id, step, goal, label: given, note } = fieldsOf(parseJson(line))
    const label = labels.find((each) => each === given)
    if (label === undefined || typeof step !== 'number') continue
    found.set(stepKey({ runId: textOf(run_id), step }), {
      goal: textOf(goal),
      said: { label, note: typeof note === 'string' ? note : null },
    })
  }
  return (alarm) => {
    const known = found.get(stepKey(alarm))
    return known?.goal === alarm.goal ? known.said : null
  }
}

/** Adds what was said of an alarm to the file, which only the user may read. */
export function addLabelTo(
  file: string,
  { runId, step, errand, goal, reason }: BacktestStep,
  { label, note }: AlarmLabel,
  now: number,
): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const line = { at: isoTime(now), run_id: runId, step, ground: errand, goal, reason, label, note }
  appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600, flush: true })
}
