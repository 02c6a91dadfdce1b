import { type AlertConfig, unattendedReason } from '../alerts/alerts.ts'
import { type Alone, type AloneLimit, reaches } from '../alerts/alone.ts'
import { alarmScore, type BudgetState, spend } from '../alerts/budget.ts'
import { type DecidedAlerts, decideAlerts, type Happening } from '../alerts/decide.ts'
import { type Incident, isOnErrand } from '../alerts/incidents.ts'
import type { Numbered } from '../alerts/outbox.ts'
import type { Assignment } from '../detector/assignment.ts'
import type { Verdict } from '../detector/detect.ts'
import { assignmentOf } from '../detector/ground.ts'
import type { EarlierRuns } from '../detector/step.ts'
import { isKeyless } from '../keyless.ts'
import { minuteMs } from '../time.ts'
import { isAstray } from './agent-totals.ts'
import type { Clock } from './clock.ts'
import type { ReadEntry } from './entry.ts'
import { damagedResults, type PlacedResult, resultsOf } from './evaluation-result.ts'
import { type Agent, type FrozenGround, logStep, newAgent, newRun, type Run } from './run.ts'

/** The stored state that the entries of a batch need, by the keys of `ReadEntry`. */
export interface Loaded {
  /** Runs with steps; a run that is absent begins. */
  readonly runs: ReadonlyMap<string, Run>
  /** Agents with steps; `damaged` if the stored state cannot be read. */
  readonly agents: ReadonlyMap<string, Agent | 'damaged'>
  readonly contexts: ReadonlyMap<string, ContextTotals>
  /** The contexts that the runs have opened. */
  readonly openings: ReadonlySet<string>
  /** The alert config of each account. */
  readonly configs: ReadonlyMap<string, AlertConfig | null>
  /** The open incidents of the agents. */
  readonly incidents: readonly Numbered<Incident>[]
  /** The budgets of the accounts that have one. */
  readonly budgets: ReadonlyMap<string, BudgetState>
  /** The agents whose last alarm was held back by a budget. */
  readonly heldAgents: ReadonlySet<string>
}

/** The totals of one context over the kept runs of an account. */
export interface ContextTotals {
  runs: number
  /** 0–10 */
  lowest: number
}

/** The changes of a batch. Runs, agents and contexts are in their last state. */
export interface Changes {
  readonly runs: ReadonlyMap<string, { account: string; run: Run }>
  readonly agents: ReadonlyMap<string, ChangedAgent>
  readonly contexts: ReadonlyMap<string, ChangedContext>
  /** The contexts that runs have opened. */
  readonly openings: ReadonlyMap<string, { account: string; runId: string; context: string }>
  readonly steps: readonly JudgedEntry[]
  readonly grounds: readonly { entry: ReadEntry; frozen: FrozenGround }[]
  readonly alerts: DecidedAlerts
  /** What the collector of evaluation results is told. */
  readonly results: readonly PlacedResult[]
  /** The changed budgets. */
  readonly budgets: ReadonlyMap<string, BudgetState>
}

/** An agent after a batch; `memory` is its memory as JSON text. */
export interface ChangedAgent {
  account: string
  runId: string
  agent: Agent
  memory: string
}

/** A context after a batch. */
export interface ChangedContext extends ContextTotals {
  account: string
  context: string
  /** Runs of this batch that opened it. */
  added: number
  /** Whether the batch has changed the totals. */
  changed: boolean
}

/** An entry with its verdict and its number in the run. */
export interface JudgedEntry {
  entry: ReadEntry
  step: number
  /** The number of the ground after the step. */
  revision: number
  verdict: Verdict
  /** Whether the step before of this agent did not drift, so that an alarm could begin here. */
  couldOpen: boolean
  /** Whether the budget of the account holds the alarm of its drift back. */
  held: boolean
  /** Milliseconds since a person was there, or since the run began. */
  unattendedMs: number
}

/** The result of an entry; `damaged` if the stored state of a run in its request cannot be read. */
export type LoggedStep =
  | {
      run_id: string
      agent_id: string
      step: number
      revision: number
      /** The assignment if the user moved it with the step, else null. */
      assignment: Assignment | null
      verdict: Verdict
      earlier: EarlierRuns | null
    }
  | 'damaged'

/**
 * Judges the entries of requests in order: their verdicts, and every change of the stored state, alerts
 * included. Pure. A request with a damaged agent changes nothing.
 */
export function judgeBatch(
  requests: readonly (readonly ReadEntry[])[],
  loaded: Loaded,
): { logged: LoggedStep[]; changes: Changes } {
  const runs = new Map<string, { account: string; run: Run }>()
  const agents = new Map<string, Omit<ChangedAgent, 'memory'>>()
  const contexts = new Map<string, ChangedContext>()
  const openings = new Map<string, { account: string; runId: string; context: string }>()
  const steps: JudgedEntry[] = []
  const grounds: { entry: ReadEntry; frozen: FrozenGround }[] = []
  const happenings: Happening[] = []
  const results: PlacedResult[] = []
  const budgets = new Map<string, BudgetState>()
  const heldAgents = new Set(loaded.heldAgents)

  function judge(entry: ReadEntry): LoggedStep {
    const { account, request, detector, now, keys } = entry
    const { runId, agentId } = request
    const run =
      runs.get(keys.run)?.run ??
      loaded.runs.get(keys.run) ??
      newRun(runId, request.detector ?? detector, now)
    const agent = agentOf(entry) ?? newAgent(agentId, run.detector)
    const earlier = visit(entry)
    const logged = logStep(run, agent, entry, earlier)
    const { step, verdict, frozen, unattendedMs } = logged
    runs.set(keys.run, { account, run: logged.run })
    agents.set(keys.agent, { account, runId, agent: logged.agent })
    const { revision } = logged.agent.memory
    const held = isHeld(entry, step, verdict, agent)
    steps.push({ entry, step, revision, verdict, couldOpen: !agent.drifting, held, unattendedMs })
    if (frozen !== null) grounds.push({ entry, frozen })
    const happening = happeningOf(entry, agent, step, verdict)
    if (happening !== null) happenings.push(held ? { ...happening, held } : happening)
    const limit = loaded.configs.get(account)?.unattended
    const alone = aloneOf(run.clock, logged.run.clock, limit)
    if (alone !== null) happenings.push(aloneHappening(entry, step, verdict, alone))
    const { memory } = logged.agent
    results.push(...resultsOf(entry, agent, { step, revision, verdict }))
    const assignment = frozen === null || frozen.by === 'first' ? null : assignmentOf(memory)
    return { run_id: runId, agent_id: agentId, step, revision, assignment, verdict, earlier }
  }

  /** Whether a budget holds the alarm of a step back. What begins a drift decides for all of it. */
  function isHeld(
    { account, request, now, keys }: ReadEntry,
    step: number,
    verdict: Verdict,
    { drifting: drifted, totals }: Agent,
  ): boolean {
    const budget = budgets.get(account) ?? loaded.budgets.get(account)
    if (budget === undefined) return false
    // Its incident is open: no other one can begin.
    if (drifted || totals?.strays === true) return heldAgents.has(keys.agent)
    const score = alarmScore(verdict, { account, runId: request.runId, step })
    const { state, holds } = spend(budget, { score, drifting: verdict.drifting, now })
    budgets.set(account, state)
    if (holds) heldAgents.add(keys.agent)
    else heldAgents.delete(keys.agent)
    return holds
  }

  function agentOf({ keys }: ReadEntry): Agent | undefined {
    const known = agents.get(keys.agent)?.agent ?? loaded.agents.get(keys.agent)
    if (known === 'damaged') throw new Error('a step of a damaged agent')
    return known
  }

  function damaged(entry: ReadEntry): LoggedStep {
    const run = runs.get(entry.keys.run)?.run ?? loaded.runs.get(entry.keys.run)
    results.push(...damagedResults(entry, (run?.steps ?? 0) + 1))
    return 'damaged'
  }

  /** Returns the totals of earlier runs in the context of a step, and adds the step to them. */
  function visit({ account, request, context, keys }: ReadEntry): EarlierRuns | null {
    if (context === null || keys.context === null || keys.opening === null) return null
    const { runId, step } = request
    const known = contexts.get(keys.context)
    const before = known ?? loaded.contexts.get(keys.context)
    const opens = !loaded.openings.has(keys.opening) && !openings.has(keys.opening)
    if (opens) openings.set(keys.opening, { account, runId, context })
    const earlier = (before?.runs ?? 0) - (opens ? 0 : 1)
    const lowest = Math.min(before?.lowest ?? step.distance, step.distance)
    contexts.set(keys.context, {
      account,
      context,
      runs: (before?.runs ?? 0) + (opens ? 1 : 0),
      lowest,
      added: (known?.added ?? 0) + (opens ? 1 : 0),
      changed: known?.changed === true || opens || lowest !== before?.lowest,
    })
    return before !== undefined && earlier > 0 ? { runs: earlier, lowest: before.lowest } : null
  }

  const logged = requests.flatMap((request) =>
    request.some(({ keys }) => loaded.agents.get(keys.agent) === 'damaged')
      ? request.map(damaged)
      : request.map(judge),
  )
  const alerts = decideAlerts(happenings, loaded.configs, loaded.incidents)
  const changes = {
    runs,
    agents: written(agents),
    contexts,
    openings,
    steps,
    grounds,
    alerts,
    results,
    budgets,
  }
  return { logged, changes }
}

/** Writes the memories once for a batch, however many steps have changed them. */
function written(
  agents: ReadonlyMap<string, Omit<ChangedAgent, 'memory'>>,
): Map<string, ChangedAgent> {
  const all = new Map<string, ChangedAgent>()
  for (const [key, each] of agents) {
    all.set(key, { ...each, memory: JSON.stringify(each.agent.memory) })
  }
  return all
}

/** What an agent did alone, if it has reached the limit with its newest step; else null. */
function aloneOf(
  before: Clock | null,
  after: Clock | null,
  limit: AloneLimit | undefined,
): Alone | null {
  const alone = after?.alone
  if (alone === undefined || limit === undefined) return null
  return reaches(limit, alone, before?.alone ?? null) ? alone : null
}

/** Says that an agent has worked alone for long. Its phi is 1, so that no floor holds it back. */
function aloneHappening(
  { account, now, request }: ReadEntry,
  step: number,
  { goal, ground, drift_probability, swap }: Verdict,
  { ms, acts }: Alone,
): Happening {
  const minutes = Math.floor(ms / minuteMs)
  const { runId: run_id, agentId: agent_id } = request
  return {
    account,
    run_id,
    dialogue: false,
    agent_id,
    goal,
    reason: unattendedReason,
    phi: 1,
    advice: 'Look at the run, or answer the agent: either counts as being there.',
    ts: now,
    drifting: true,
    about: {
      ground,
      why: `No person was there for ${minutes} min and ${acts} ${acts === 1 ? 'act' : 'acts'}.`,
      step,
      agent_id,
      drift_probability: drift_probability ?? null,
      swap: swap ?? null,
    },
  }
}

/** A step that drifts or brings its agent back to the ground, or null. Callers without a key have no alerts. */
function happeningOf(
  { account, now, request }: ReadEntry,
  agent: Agent,
  step: number,
  verdict: Verdict,
): Happening | null {
  const { last_reason: previous, drifting: drifted } = agent
  const { drifting, uncertain, reason, goal, phi, advice, ground, why, swap } = verdict
  const returns = isAstray(agent) && isOnErrand(reason) && !uncertain
  if ((!drifting && !returns) || isKeyless(account)) return null
  const { runId: run_id, agentId: agent_id } = request
  return {
    account,
    run_id,
    dialogue: false,
    agent_id,
    goal,
    reason,
    phi,
    advice,
    ts: now,
    drifting,
    continues: drifted && previous === reason,
    about: {
      ground,
      why,
      step,
      agent_id,
      drift_probability: verdict.drift_probability ?? null,
      swap: swap ?? null,
    },
  }
}
