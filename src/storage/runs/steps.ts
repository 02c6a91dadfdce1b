import type { Verdict } from '../../core/detector/detect.ts'
import type { DriftRequest } from '../../core/runs/drift.ts'
import { type FrozenGround, logStep } from '../../core/runs/run.ts'
import { withSimilarity } from '../../core/runs/similarity.ts'
import type { Database, Queries } from '../database/database.ts'
import type { Columns, Row } from '../database/rows.ts'
import { createTable } from '../database/table.ts'
import { type Contexts, openContexts, readContexts, saveContexts, visit } from './contexts.ts'
import type { Entry, LoggedStep } from './entries.ts'
import type { KnownAgent, KnownRun, Place } from './known.ts'
import { findPlaces, saveRuns } from './load-runs.ts'
import { createRunCache, type RunCache } from './run-cache.ts'

/**
 * Logs the steps of requests in order. The rows of their runs are locked while the steps are judged, so
 * that each run has one writer on all nodes. A request with a damaged run logs nothing. Call it in a
 * transaction, whose commit makes the steps durable. The cost of a step does not depend on the length of
 * its run. The function reads only rows that `cache` lacks, and adds the new state to it. Nothing is
 * written before `store` is called.
 */
export async function logSteps(
  tx: Queries,
  kind: Database['kind'],
  requests: readonly (readonly Entry[])[],
  cache: RunCache = createRunCache(kind),
): Promise<Logging> {
  const entries = requests.flat()
  const [{ places: placed, hasForgotten }, early] = await Promise.all([
    findPlaces(tx, kind, requests, cache),
    readContexts(tx, kind, entries, cache),
  ])
  const contexts = hasForgotten ? await readAgain() : early
  const isDamaged = (request: Place[]) => request.some(({ agent }) => agent.agent === 'damaged')
  const sound = placed.filter((request) => !isDamaged(request)).flat()
  await openContexts(tx, kind, contexts, sound)

  const written: Written = { steps: [], grounds: [], runs: new Set(), agents: new Set() }
  const logged = placed.flatMap((request) =>
    isDamaged(request)
      ? request.map(() => 'damaged' as const)
      : request.map((place) => logPlace(place, contexts, written)),
  )

  /** The contexts still count an expired run that was deleted since. */
  function readAgain(): Promise<Contexts> {
    cache.contexts.clear()
    return readContexts(tx, kind, entries, cache)
  }
  function store(): void {
    saveContexts(tx, kind, contexts)
    tables[kind].steps.insert(tx, written.steps)
    tables[kind].grounds.insert(tx, written.grounds)
    // Runs are written last, because a batch may change the same run many times.
    saveRuns(tx, kind, written.runs, written.agents)
    for (const run of written.runs) cache.runs.set(run.key, run)
  }
  return { logged, store }
}

/** The results of entries, and the function that stores them in the same transaction. */
export interface Logging {
  readonly logged: LoggedStep[]
  store(): void
}

const stepColumns = {
  account: 'TEXT',
  run_id: 'TEXT',
  step: 'BIGINT',
  ts: 'BIGINT',
  agent_id: 'TEXT',
  goal: 'TEXT',
  parent_goal: 'TEXT',
  progress: 'TEXT',
  distance: 'BIGINT',
  reason: 'TEXT',
  drifting: 'BIGINT',
  phi: 'DOUBLE PRECISION',
  goal_score: 'DOUBLE PRECISION',
  svcscore: 'TEXT',
  context: 'TEXT',
  tokens: 'DOUBLE PRECISION',
  overhead: 'BIGINT',
  judgment: 'TEXT',
} as const satisfies Columns

const groundColumns = {
  account: 'TEXT',
  run_id: 'TEXT',
  agent_id: 'TEXT',
  revision: 'BIGINT',
  goal: 'TEXT',
  set_by: 'TEXT',
  at: 'BIGINT',
} as const satisfies Columns

const tables = { sqlite: tablesFor('sqlite'), postgres: tablesFor('postgres') }

function tablesFor(kind: Database['kind']) {
  return {
    steps: createTable(kind, 'steps', ['account', 'run_id', 'step'], stepColumns),
    grounds: createTable(
      kind,
      'grounds',
      ['account', 'run_id', 'agent_id', 'revision'],
      groundColumns,
    ),
  }
}

/** The rows of a batch; runs and agents only in their last state. */
interface Written {
  steps: Row<typeof stepColumns>[]
  grounds: Row<typeof groundColumns>[]
  runs: Set<KnownRun>
  agents: Set<KnownAgent>
}

function logPlace(place: Place, contexts: Contexts, written: Written): LoggedStep {
  const { entry, run, agent } = place
  const { account, request, now, retentionDays } = entry
  if (agent.agent === 'damaged') throw new Error('a step of a damaged agent')

  const previous = agent.agent.last_reason
  const earlier = visit(contexts, place)
  const informed =
    entry.similarity === undefined
      ? request
      : { ...request, step: withSimilarity(agent.agent.memory, request.step, entry.similarity) }
  const logged = logStep(run.run, agent.agent, informed, earlier, now, retentionDays)

  run.run = logged.run
  agent.agent = logged.agent
  written.runs.add(run)
  written.agents.add(agent)
  written.steps.push(stepRow(account, request, logged.step, logged.verdict, now))
  if (logged.frozen !== null) written.grounds.push(groundRow(account, request, logged.frozen, now))
  return {
    run_id: request.runId,
    agent_id: request.agentId,
    step: logged.step,
    revision: logged.agent.memory.revision,
    verdict: logged.verdict,
    earlier,
    previous,
  }
}

function stepRow(
  account: string,
  { runId, agentId, step: { parentGoal }, tokens, overhead }: DriftRequest,
  step: number,
  verdict: Verdict,
  now: number,
): Row<typeof stepColumns> {
  const { goal, progress, distance, reason, phi, goal_score, svcscore, context } = verdict
  return {
    account,
    run_id: runId,
    step,
    ts: now,
    agent_id: agentId,
    goal,
    parent_goal: parentGoal ?? null,
    progress,
    distance,
    reason,
    drifting: verdict.drifting ? 1 : 0,
    phi,
    goal_score,
    svcscore,
    context,
    tokens,
    overhead: overhead === null ? null : overhead ? 1 : 0,
    judgment: verdict.judgment === undefined ? null : JSON.stringify(verdict.judgment),
  }
}

function groundRow(
  account: string,
  { runId, agentId }: DriftRequest,
  { revision, goal, by }: FrozenGround,
  now: number,
): Row<typeof groundColumns> {
  return { account, run_id: runId, agent_id: agentId, revision, goal, set_by: by, at: now }
}
