import { rounded, type Share } from '../figures.ts'
import { cutTo } from '../text.ts'
import { isoTime } from '../time.ts'
import type { Backtest, BacktestStep } from './backtest.ts'

/** What a report says beside the figures. */
export interface BacktestTitle {
  /** Where the sessions come from. */
  from: string
  /** How they were judged: `the encoder`, `words alone` or `the published rule`. */
  judged: string
  /** The limit that keeps to a budget; null without a budget, undefined if there are too few steps. */
  budget: { per1000: number; limit: number | null } | null
  /** The alarms of another detector; null without one. */
  against: { name: string; alarms: number; added: number; removed: number } | null
}

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
  const { sessions, steps, acts, alarms, alarmed, rate, uncertain, outcomes, covered } = found
  const days =
    found.from === null || found.to === null ? '' : ` (${day(found.from)} to ${day(found.to)})`
  const lines = [
    `${from}: ${counted(sessions, 'session')}${days}, ${counted(steps, 'step')} from ${counted(acts, 'act')}, judged by ${judged}`,
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
  if (budget !== null)
    lines.push(
      budget.limit === null
        ? `too few steps to find a limit for ${budget.per1000} alarms of 1,000`
        : `PLUMBLINE_LIMIT=${budget.limit} keeps to ${budget.per1000} alarms of 1,000 steps, if later work is like this`,
    )
  return lines
}

function alarmLines(alarm: BacktestStep, nth: number): string[] {
  const { runId, step, at, agentId, errand, goal, why, doing } = alarm
  const agent = agentId === '' ? '' : `, agent ${agentId}`
  return [
    `${nth}. ${at === null ? '' : `${isoTime(at).slice(0, 16).replace('T', ' ')}  `}${runId}  step ${step}${agent}`,
    `   errand  ${oneLine(errand, 200)}`,
    `   goal    ${oneLine(goal, 200)}`,
    `   why     ${why}`,
    ...(doing.length === 0 ? [] : [`   did     ${oneLine(doing.join('; '), 300)}`]),
  ]
}

/** A share of steps as alarms of 1,000 with its 95 % interval. */
export function perThousand({ value, low, high }: Share): string {
  const of = (share: number) => rounded(share * 1000).toFixed(1)
  return `${of(value)} (95 %: ${of(low)} to ${of(high)})`
}

/** A share in whole percent. */
export function percent({ value }: Share): string {
  return `${Math.round(value * 100)} %`
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
