import { fewestLabelled, type Label, type Quality } from '../evaluation/labels.ts'
import { rounded, type Share } from '../figures.ts'
import { cutTo } from '../text.ts'
import { isoTime } from '../time.ts'
import type { Alarm, Backtest } from './backtest.ts'

/** What a report says beside the figures. */
export interface BacktestTitle {
  /** Where the sessions come from. */
  from: string
  /** How they were judged: `the encoder`, `words alone`, `the published rule` or `the server`. */
  judged: string
  /** The limit that keeps to a budget, and what it does to the alarms; null without a budget. */
  budget: Budgeted | null
  /** The alarms of another detector; null without one. */
  against: ({ name: string } & Compared) | null
}

/** The alarms of another way to judge, those of them that are new, and those that it does not have. */
interface Compared {
  alarms: number
  added: number
  removed: number
}

/** What keeps to a budget of alarms per 1,000 steps. Without a threshold `lacks` says why, as `FoundLimit` does. */
export type Budgeted = { per_1000: number } & (
  | ({ threshold: number; lacks: null } & Compared)
  | { threshold: null; lacks: 'steps' | 'any' }
)

/** The report as text for a terminal. */
export function backtestText(found: Backtest, title: BacktestTitle): string {
  const lines = [...summary(found, title), '']
  for (const [nth, alarm] of found.alarms.entries()) lines.push(...alarmLines(alarm, nth + 1), '')
  if (found.alarms.length === 0) lines.push('Nothing would have alarmed.', '')
  return `${lines.join('\n').trimEnd()}\n`
}

/** The summary of a back-test, one fact a line. */
export function summary(
  found: Backtest,
  { from, judged, budget, against }: BacktestTitle,
): string[] {
  const { sessions, steps, acts, alarms, alarmed, rate, uncertain, outcomes, covered, quality } =
    found
  const days =
    found.from === null || found.to === null ? '' : ` (${day(found.from)} to ${day(found.to)})`
  const lines = [
    `${from}: ${counted(sessions, 'session')}${days}, ${counted(steps, 'step')}${acts === 0 ? '' : ` from ${counted(acts, 'act')}`}, judged by ${judged}`,
    `${counted(alarms.length, 'alarm')} in ${counted(alarmed, 'session')}${rate === null ? '' : `: ${perThousand(rate)} of 1,000 steps`}`,
  ]
  if (uncertain !== null)
    lines.push(`uncertain, which is never an alarm: ${percent(uncertain)} of the steps`)
  if (outcomes !== null && covered !== null)
    lines.push(
      `of the acts ${percent(outcomes)} said how they ended, and ${percent(covered)} share a word or a folder with the errand`,
    )
  const kinds = Object.entries(found.evidence)
  if (kinds.length > 0)
    lines.push(
      `steps at which the acts themselves showed trouble, which is no alarm by itself: ${kinds.map(([kind, count]) => `${kind} ${count}`).join(', ')}`,
    )
  if (against !== null)
    lines.push(
      `${against.name} would have alarmed ${against.alarms} times: ${against.added} of them where this did not, and not at ${against.removed} of these`,
    )
  if (budget !== null) lines.push(budgetLine(budget))
  const { labelled, useful } = quality
  if (labelled > 0)
    lines.push(
      `of the alarms ${labelled} ${labelled === 1 ? 'is' : 'are'} labelled right or wrong, ${useful} of them useful: ${precisionOf(quality)}`,
    )
  return lines
}

function budgetLine(budget: Budgeted): string {
  const wanted = `${budget.per_1000} alarms of 1,000 steps`
  if (budget.threshold === null)
    return budget.lacks === 'steps'
      ? `too few steps to find a limit for ${wanted}`
      : `no limit keeps to ${wanted}: more of them are drift at any limit`
  const { threshold, alarms, added, removed } = budget
  return `PLUMBLINE_LIMIT=${threshold} keeps to ${wanted}, if later work is like this; here it gives ${counted(alarms, 'alarm')}: ${added} added, ${removed} removed`
}

/** A label in words. */
export const labelWords: Readonly<Record<Label, string>> = {
  useful: 'useful',
  false_alarm: 'false alarm',
  redirected: 'redirected',
  unclear: 'unclear',
  missed: 'missed',
}

/** What a person has said of an alarm, in words; null if nothing. */
export function labelText({ label }: Alarm): string | null {
  if (label === null) return null
  return `${labelWords[label.label]}${label.note === null ? '' : `: ${oneLine(label.note, 200)}`}`
}

/** An alarm as lines of text: its number, time and run, the errand, the goal and why. */
export function alarmLines(alarm: Alarm, nth: number): string[] {
  const { runId, step, at, agentId, errand, goal, why, doing } = alarm
  const label = labelText(alarm)
  const agent = agentId === '' ? '' : `, agent ${agentId}`
  return [
    `${nth}. ${at === null ? '' : `${isoTime(at).slice(0, 16).replace('T', ' ')}  `}${runId}  step ${step}${agent}`,
    `   errand  ${oneLine(errand, 200)}`,
    `   goal    ${oneLine(goal, 200)}`,
    `   why     ${why}`,
    ...(doing.length === 0 ? [] : [`   did     ${oneLine(doing.join('; '), 300)}`]),
    ...(label === null ? [] : [`   label   ${label}`]),
  ]
}

/** A share of steps as alarms of 1,000 with its 95 % interval. */
export function perThousand({ value, low, high }: Share): string {
  const of = (share: number) => rounded(share * 1000).toFixed(1)
  return `${of(value)} (95 %: ${of(low)} to ${of(high)})`
}

/** A share in whole percent. */
export function percent({ value }: Share): string {
  return `${whole(value)} %`
}

function whole(share: number): number {
  return Math.round(share * 100)
}

function day(at: number): string {
  return isoTime(at).slice(0, 10)
}

/** A count with its noun. */
export function counted(count: number, noun: string): string {
  return `${numbered(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** A count with its digits in groups of three. */
export function numbered(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

function oneLine(text: string, limit: number): string {
  return cutTo(text.replace(/\s+/g, ' '), limit)
}

function precisionOf({ precision, withheld }: Quality): string {
  if (withheld === 'little_seen') {
    return 'no precision is told, because less than 80 % of the acts said how they ended'
  }
  if (precision === null) return `a precision is told from ${fewestLabelled} on`
  return `a precision of ${percent(precision)} (95 %: ${whole(precision.low)} to ${whole(precision.high)})`
}
