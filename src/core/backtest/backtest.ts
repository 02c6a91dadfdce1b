import type { DetectorName } from '../detector/contract/detector.ts'
import { detectReading } from '../detector/detect.ts'
import { type Memory, newMemory } from '../detector/memory.ts'
import type { Reason } from '../detector/rules.ts'
import { type Hints, readStep } from '../detector/step.ts'
import { type Share, shareOf } from '../figures.ts'
import type { ActEvidence } from '../hosts/evidence.ts'
import type { HostEvent, HostName } from '../hosts/host-event.ts'
import { type ObservedStep, observe } from '../hosts/observe.ts'
import { type GoalSource, nothingObserved, type Observed } from '../hosts/observed.ts'
import { requestOf } from '../runs/shown-step.ts'

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
  source: GoalSource
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
  host: HostName
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
export function createSessionJudge(
  host: HostName,
  runId: string,
  { detector, ...hints }: BacktestJudge,
) {
  const memories = new Map<string, Memory>()
  const drifting = new Map<string, boolean>()
  let observed: Observed = nothingObserved
  let count = 0

  function judged(shown: ObservedStep, at: number | null): BacktestStep[] {
    const request = requestOf(host, runId, shown, observed)
    if ('fault' in request) return []
    const { agentId, step } = request
    const memory = memories.get(agentId) ?? newMemory(detector)
    const { verdict, memory: after, score } = detectReading(memory, readStep(step), hints)
    const couldOpen = drifting.get(agentId) !== true
    memories.set(agentId, after)
    drifting.set(agentId, verdict.drifting)
    count++
    const { goal, reason, uncertain, phi, why } = verdict
    return [
      {
        runId,
        agentId,
        step: count,
        at,
        errand: verdict.ground ?? '',
        goal,
        source: shown.source,
        reason,
        drifting: verdict.drifting,
        uncertain,
        phi,
        driftProbability: verdict.drift_probability ?? null,
        why,
        doing: shown.doing,
        actEvidence: shown.shown,
        score,
        couldOpen,
      },
    ]
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
  alarms: readonly BacktestStep[]
  alarmed: number
  /** Alarms per step. */
  rate: Share | null
  /** The kinds of evidence that the acts showed, with the number of steps that told each first. */
  evidence: Readonly<Record<string, number>>
}

/** Sums up judged sessions, in the order of their beginnings. */
export function backtestOf(sessions: readonly JudgedSession[]): Backtest {
  const all = sessions.flatMap(({ steps }) => steps)
  const alarms = all.filter(({ drifting, couldOpen }) => drifting && couldOpen)
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
    evidence,
  }
}

/**
 * The limit that keeps alarms at `per1000` or fewer of 1,000 steps, if later work is like these steps: the
 * ⌈(n + 1)(1 − r)⌉-th smallest of the n scores at which an alarm could begin (split conformal). Null if there are too
 * few steps to say.
 */
export function limitFor(sessions: readonly JudgedSession[], per1000: number): number | null {
  const scores = sessions
    .flatMap(({ steps }) => steps.flatMap(({ couldOpen, score }) => (couldOpen ? score : [])))
    .sort((a, b) => a - b)
  const place = Math.ceil((scores.length + 1) * (1 - per1000 / 1000))
  return scores[place - 1] ?? null
}
