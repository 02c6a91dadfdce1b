import { conformalThreshold } from '../alerts/budget.ts'
import type { DetectorName } from '../detector/contract/detector.ts'
import { detectReading } from '../detector/detect.ts'
import { type Memory, newMemory } from '../detector/memory.ts'
import type { Reason } from '../detector/rules.ts'
import { type Hints, isLimit, readStep, type Step } from '../detector/step.ts'
import { type Label, type Quality, qualityOf } from '../evaluation/labels.ts'
import { type Share, shareOf } from '../figures.ts'
import type { ActEvidence } from '../hosts/evidence.ts'
import type { HostEvent, HostName } from '../hosts/host-event.ts'
import { observe } from '../hosts/observe.ts'
import { type GoalSource, nothingObserved, type Observed } from '../hosts/observed.ts'
import type { ObservedStep } from '../hosts/opened-step.ts'
import { requestOf } from '../runs/shown-step.ts'
import { keyOf } from '../text.ts'

/** The events of one session, in the order of their times. */
export interface Session {
  host: HostName
  runId: string
  events: readonly HostEvent[]
}

/** A step of a session with its verdict. */
export interface BacktestStep {
  runId: string
  /** '' is the main agent. */
  agentId: string
  /** 1-based, over all agents of the session. */
  step: number
  /** Milliseconds since 1970; null if the session does not say. */
  at: number | null
  /** What stands as the errand of the agent. */
  errand: string
  goal: string
  /** Where the goal comes from; null if the agent has stated it itself. */
  source: GoalSource | null
  reason: Reason
  drifting: boolean
  uncertain: boolean
  phi: number
  driftProbability: number | null
  why: string
  doing: readonly string[]
  actEvidence: ActEvidence | null
  /** Evidence of drift, 0–1, unrounded: a step above the limit drifts. */
  score: number
  /** Whether the step before of this agent did not drift, so that an alarm could begin here. */
  couldOpen: boolean
}

/** A session with its steps judged. */
export interface JudgedSession {
  /** Null if no host has shown it. */
  host: HostName | null
  runId: string
  /** Milliseconds since 1970 of its first event; null if none says. */
  began: number | null
  steps: readonly BacktestStep[]
  acts: number
  failedActs: number
  /** Acts of which the session told how they ended. */
  outcomes: number
  /** Acts that share a word or a folder with the errand. */
  covered: number
}

/** How steps are judged. */
export interface BacktestJudge extends Pick<Hints, 'reads' | 'limit' | 'adaptation'> {
  detector: DetectorName
}

/** Judges the steps that a session shows, as a server would have. Pure. */
export function judgeSession(
  { host, runId, events }: Session,
  judge: BacktestJudge,
): JudgedSession {
  const session = createSessionJudge(host, runId, judge)
  const steps = events.flatMap(session.take)
  const doings = Object.values(session.observed().agents).map((agent) => agent.doings)
  const sum = (of: (each: (typeof doings)[number]) => number) =>
    doings.reduce((total, each) => total + of(each), 0)
  return {
    host,
    runId,
    began: events[0]?.at ?? null,
    steps,
    acts: sum(({ acts }) => acts),
    failedActs: sum(({ failed }) => failed),
    outcomes: sum(({ outcomes }) => outcomes),
    covered: sum(({ covered }) => covered),
  }
}

/** A judge of one session that goes on: `take` judges the steps that the next event opens. */
export function createSessionJudge(host: HostName, runId: string, judge: BacktestJudge) {
  const judgeStep = createStepJudge(runId, judge)
  let observed: Observed = nothingObserved

  function judged(shown: ObservedStep, at: number | null): BacktestStep[] {
    const request = requestOf(host, runId, shown, observed)
    if ('fault' in request) return []
    const { source, doing, shown: actEvidence } = shown
    return [judgeStep(request.agentId, request.step, { at, source, doing, actEvidence })]
  }

  return {
    take(event: HostEvent): BacktestStep[] {
      const next = observe(observed, event)
      observed = next.observed
      return next.steps.flatMap((step) => judged(step, event.at ?? null))
    },
    observed: () => observed,
  }
}

/** A judge of the steps of one run, in their order, which numbers them. */
export function createStepJudge(runId: string, { detector, ...hints }: BacktestJudge) {
  const memories = new Map<string, Memory>()
  const drifting = new Map<string, boolean>()
  let count = 0
  return (
    agentId: string,
    step: Step,
    seen: Pick<BacktestStep, 'at' | 'source' | 'doing' | 'actEvidence'>,
  ): BacktestStep => {
    const memory = memories.get(agentId) ?? newMemory(detector)
    const { verdict, memory: after, score } = detectReading(memory, readStep(step), hints)
    const couldOpen = drifting.get(agentId) !== true
    memories.set(agentId, after)
    drifting.set(agentId, verdict.drifting)
    count++
    const { goal, reason, uncertain, phi, why } = verdict
    return {
      runId,
      agentId,
      step: count,
      errand: verdict.ground ?? '',
      goal,
      reason,
      drifting: verdict.drifting,
      uncertain,
      phi,
      driftProbability: verdict.drift_probability ?? null,
      why,
      score,
      couldOpen,
      ...seen,
    }
  }
}

/** What a person has said of an alarm. */
export interface AlarmLabel {
  label: Label
  note: string | null
}

/** An alarm with what was said of it last; null if nothing was. */
export interface Alarm extends BacktestStep {
  label: AlarmLabel | null
}

/** What a back-test found. */
export interface Backtest {
  sessions: number
  /** Milliseconds since 1970 of the first and the last session; null if none says. */
  from: number | null
  to: number | null
  steps: number
  acts: number
  /** Share of the acts of which the sessions told how they ended, and that the errands explain. */
  outcomes: Share | null
  covered: Share | null
  uncertain: Share | null
  /** The steps at which a drift began: each would have been one alarm. */
  alarms: readonly Alarm[]
  alarmed: number
  /** Alarms per step. */
  rate: Share | null
  /** How good the alarms were, as far as people have said. */
  quality: Quality
  /** The kinds of evidence that the acts showed, with the number of steps that told each first. */
  evidence: Readonly<Record<string, number>>
}

/** Sums up judged sessions, in the order of their beginnings; `labelOf` says what a person has said of an alarm. */
export function backtestOf(
  sessions: readonly JudgedSession[],
  labelOf: (alarm: BacktestStep) => AlarmLabel | null = () => null,
): Backtest {
  const all = sessions.flatMap(({ steps }) => steps)
  const alarms = alarmsOf(sessions).map((alarm) => ({ ...alarm, label: labelOf(alarm) }))
  const times = sessions.flatMap(({ began }) => (began === null ? [] : [began]))
  const sum = (of: (each: JudgedSession) => number) =>
    sessions.reduce((total, each) => total + of(each), 0)
  const evidence: Record<string, number> = {}
  for (const { actEvidence } of all) {
    if (actEvidence !== null) evidence[actEvidence.kind] = (evidence[actEvidence.kind] ?? 0) + 1
  }
  return {
    sessions: sessions.length,
    from: times.length === 0 ? null : Math.min(...times),
    to: times.length === 0 ? null : Math.max(...times),
    steps: all.length,
    acts: sum(({ acts }) => acts),
    outcomes: shareOf(
      sum(({ outcomes }) => outcomes),
      sum(({ acts }) => acts),
    ),
    covered: shareOf(
      sum(({ covered }) => covered),
      sum(({ acts }) => acts),
    ),
    uncertain: shareOf(all.filter((step) => step.uncertain).length, all.length),
    alarms,
    alarmed: new Set(alarms.map(({ runId }) => runId)).size,
    rate: shareOf(alarms.length, all.length),
    quality: qualityOf(
      alarms.map(({ label }) => ({ label: label?.label ?? null, alarms: 1 })),
      { acts: sum(({ acts }) => acts), ended: sum(({ outcomes }) => outcomes) },
    ),
    evidence,
  }
}

/** The steps of sessions at which a drift began. */
export function alarmsOf(sessions: readonly JudgedSession[]): BacktestStep[] {
  return sessions.flatMap(({ steps }) =>
    steps.filter(({ drifting, couldOpen }) => drifting && couldOpen),
  )
}

/** A limit of the detector; null if there is none, because of too few `steps` or because of steps that are drift at `any` limit. */
export type FoundLimit = { limit: number; lacks: null } | { limit: null; lacks: 'steps' | 'any' }

/**
 * The limit that keeps alarms at `per1000` or fewer of the 1,000 steps at which one could begin, if later work is like
 * these sessions: the conformal threshold of their scores, rounded up.
 */
export function limitFor(sessions: readonly JudgedSession[], per1000: number): FoundLimit {
  const scores = sessions.flatMap(({ steps }) =>
    steps.flatMap(({ couldOpen, score }) => (couldOpen ? score : [])),
  )
  const threshold = conformalThreshold(scores, per1000 / 1000)
  if (threshold === null) return { limit: null, lacks: 'steps' }
  const limit = Math.max(leastLimit, Math.ceil(threshold / leastLimit) * leastLimit)
  const rounded = Number(limit.toFixed(4))
  return isLimit(rounded) ? { limit: rounded, lacks: null } : { limit: null, lacks: 'any' }
}

const leastLimit = 0.0001

/** The alarms of `others` that are none of these, and the other way round, counted by their steps. */
export function comparedAlarms(
  own: readonly BacktestStep[],
  others: readonly BacktestStep[],
): { alarms: number; added: number; removed: number } {
  const [ours, theirs] = [own, others].map((alarms) => new Set(alarms.map(stepKey)))
  return {
    alarms: others.length,
    added: others.filter((alarm) => !ours?.has(stepKey(alarm))).length,
    removed: own.filter((alarm) => !theirs?.has(stepKey(alarm))).length,
  }
}

/** The name of a step among those of all runs. */
export function stepKey({ runId, step }: Pick<BacktestStep, 'runId' | 'step'>): string {
  return keyOf(runId, String(step))
}
