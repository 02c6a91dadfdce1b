import { z } from 'zod'
import { incidentId } from '../../core/alerts/outbox.ts'
import type { Assignment } from '../../core/detector/assignment.ts'
import { detectorNames } from '../../core/detector/contract/detector.ts'
import { assignmentOf } from '../../core/detector/ground.ts'
import { readJudgment } from '../../core/detector/judgment.ts'
import { labels } from '../../core/evaluation/labels.ts'
import { hostNames } from '../../core/hosts/host-event.ts'
import { type SessionSeen, seenShare } from '../../core/hosts/seen.ts'
import { silentSince } from '../../core/hosts/silence.ts'
import { wordsTold } from '../../core/hosts/words-told.ts'
import type { AgentTotals } from '../../core/runs/agent-totals.ts'
import { readKept } from '../../core/runs/kept-verdict.ts'
import type { Run } from '../../core/runs/run.ts'
import { arms } from '../../core/runs/step-request.ts'
import { isoTime } from '../../core/time.ts'
import { expireJob } from '../../jobs/expire.ts'
import type { GroundRow, StepRow, SubAgent } from '../../storage/runs/runs.ts'
import type { Store } from '../../storage/store.ts'
import type { Keyed } from '../gate/context.ts'
import { badRequest, describeRefusal } from '../gate/declaration.ts'
import { nextTurn } from '../gate/event-loop-turns.ts'
import { exportOnce, exportRule } from '../gate/exports.ts'
import { idField, textField, time, tokenCount } from '../gate/fields.ts'
import { afterField, cursorFrom, cursorOf, limitField } from '../gate/list.ts'
import { keyed } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'
import {
  assignmentSchema,
  judgmentSchema,
  keptVerdictSchemas,
  reasonSchema,
  score,
  shownAssignment,
  userEffect,
} from './verdict.ts'

/** The outcomes of a run. */
export const outcomes = ['success', 'failure', 'abandoned', 'unknown'] as const

/** The most grounds and the most sub-agents that an answer shows of a run; fewer for each run of a list. */
const maxParts = 100
export const maxListedParts = 20

/** A run without its trace. */
export const runSchema = z
  .strictObject({
    run_id: z.string(),
    ground: z.string().nullable(),
    revision: z.int().min(0).describe('The number of grounds so far.'),
    grounds: z
      .array(
        z.strictObject({
          revision: z.int(),
          goal: z.string(),
          by: z
            .enum(['first', 'user', 'unknown', 'machine'])
            .describe(
              'unknown if no host has said whether a person spoke; machine if none did, and the next revision took it back.',
            ),
          at: time,
          step: z
            .int()
            .min(1)
            .nullable()
            .describe(
              'The step that brought it, or the last one before it stood again; null if it is older than this release.',
            ),
          agent_id: z.string().describe('The agent whose ground it is; empty for the main agent.'),
        }),
      )
      .max(maxParts)
      .describe(
        `The newest grounds of the main agent, oldest first, then those of sub-agents by agent_id: at most ${maxParts}, or ${maxListedParts} in a list of runs.`,
      ),
    grounds_cursor: z
      .string()
      .optional()
      .describe(
        'Present only if there are further grounds. GET /v1/drift/run?grounds_cursor= lists them: the older ones of the main agent first.',
      ),
    assignment: assignmentSchema,
    last_person_at: time
      .nullable()
      .describe(
        'When a person was last there: spoke, granted, answered, labelled a step, decided or looked; null if that is not known.',
      ),
    unattended_ms: z
      .int()
      .describe(
        'How long the agents had worked at the last step since a person was last there, or since the run began.',
      ),
    attended: z
      .enum(['at_times', 'never'])
      .nullable()
      .describe(
        'never if a program started the session, so that no person can speak in it; null if no host shows the run.',
      ),
    created: time,
    updated: time,
    expires: time.describe(
      'The time from which the run reads as gone: the retention of the tier after its last step.',
    ),
    steps: z.int().describe('The steps of all agents.'),
    drifting: z.boolean().describe('The last verdict on the main agent.'),
    drifting_steps: z.int(),
    last_reason: reasonSchema.nullable(),
    phi: score,
    max_phi: score,
    tokens: tokenCount,
    overhead_tokens: tokenCount,
    outcome: z.enum(outcomes).nullable(),
    score: score.nullable(),
    note: z.string().nullable(),
    pair: z.string().nullable(),
    arm: z.enum(arms).nullable(),
    judgment: judgmentSchema.nullable(),
    plan: z
      .array(z.string())
      .nullable()
      .describe('The newest plan of the main agent, its items cut to 240 characters.'),
    detector: z.enum(detectorNames).describe('The detector that judges the run.'),
    uncertain: z
      .boolean()
      .nullable()
      .describe('Whether the last verdict on the main agent was uncertain.'),
    drift_tokens: tokenCount.nullable().describe('The tokens of the drifting steps of all agents.'),
    first_drift_step: z
      .int()
      .min(1)
      .nullable()
      .describe('The number of the first drifting step of any agent.'),
    host: z
      .enum(hostNames)
      .nullable()
      .describe('The host whose hooks show the run; null if its agents report it.'),
    coverage: z
      .strictObject({
        known: z.boolean().describe('Whether there are enough acts to say.'),
        acts: z.int().min(0),
        skipped: z
          .int()
          .min(0)
          .describe(
            'Acts of these that were counted and not read: of more than 200 acts a minute every k-th is read. What failed is always read.',
          ),
        every: z.int().min(1).describe('The greatest k of the run; 1 if all acts were read.'),
        share: score
          .nullable()
          .describe(
            'Share of the acts that were read that share a word or a folder with the errand.',
          ),
        recent: score.nullable().describe('The same of the newest twenty.'),
        failed: z.int().min(0).describe('The acts that failed.'),
        outcomes: score
          .nullable()
          .describe('Share of the acts of which the host told how they ended.'),
        words: z
          .enum(wordsTold)
          .describe(
            'Which words are told: all of them; `hashed` if paths and commands come as hashes; `none` if no words of a person are told, so that no verdict stands on them.',
          ),
      })
      .nullable()
      .describe(
        'How much of what the main agent did the errand explains; null if no host shows its acts.',
      ),
    seen: z
      .strictObject({
        known: z.boolean().describe('Whether there are enough acts to say.'),
        share: score
          .nullable()
          .describe(
            'Share of the acts that began of which the host told how they ended; null without acts. Below 0.8 no precision is claimed.',
          ),
        acts: z.int().min(0).describe('The acts of all agents that began.'),
        ended: z.int().min(0).describe('Those of which the host told how they ended.'),
        agents_started: z.int().min(0).describe('The sub-agents that started.'),
        agents_stopped: z.int().min(0).describe('The sub-agents that stopped.'),
        prompts: z.int().min(0).describe('The prompts that were received.'),
        prompts_in_file: z
          .int()
          .min(0)
          .describe(
            'The prompts in the session file, as far as a relay has read it; else as many as were received.',
          ),
      })
      .nullable()
      .describe('How much of the session has been seen; null if no host shows it.'),
    last_event_at: time
      .nullable()
      .describe('When the newest event of the session happened; null if no host shows it.'),
    session_ended_at: time
      .nullable()
      .describe('When the session ended; null while it goes on, and if no host shows it.'),
    silent: z
      .strictObject({ since: time.describe('When its newest event happened.') })
      .nullable()
      .describe(
        'Set if the session goes on and nothing was heard of it for ten minutes: then nobody knows whether the run is on its errand. Null once it has ended or has an outcome.',
      ),
    incident: z
      .string()
      .nullable()
      .describe(
        'The id of the open incident of the main agent, the newest of several; null without one. GET /v1/alerts/incidents lists them.',
      ),
    agents: z
      .array(
        z.strictObject({
          agent_id: z.string(),
          parent_agent_id: z
            .string()
            .nullable()
            .describe('The agent that it works for; null if no step has said it.'),
          ground: z.string().nullable(),
          revision: z.int().min(0).nullable().describe('The number of its grounds so far.'),
          steps: z.int(),
          drifting: z.boolean(),
          last_reason: reasonSchema.nullable(),
          first_step: z
            .int()
            .min(1)
            .nullable()
            .describe('Null, as its other totals, if it began before they were stored.'),
          last_step: z.int().min(1).nullable(),
          phi: score.nullable(),
          max_phi: score.nullable(),
          drifting_steps: z.int().nullable(),
          tokens: tokenCount.nullable(),
        }),
      )
      .max(maxParts)
      .describe(
        `The first sub-agents by id: at most ${maxParts}, or ${maxListedParts} in a list of runs.`,
      ),
    agents_cursor: z
      .string()
      .optional()
      .describe(
        'Present only if there are further sub-agents. GET /v1/drift/run?agents_cursor= lists them.',
      ),
  })
  .meta({ id: 'Run' })

type ShownRun = z.infer<typeof runSchema>

/** One step of a trace. */
export const traceStepSchema = z
  .strictObject({
    step: z.int().min(1),
    ts: time,
    agent_id: z.string().optional(),
    goal: z.string(),
    parent_goal: z.string().optional(),
    progress: z.string(),
    distance: z.int().min(0).max(10),
    reason: reasonSchema,
    drifting: z.boolean(),
    phi: score,
    goal_score: score,
    svcscore: z.string().nullable(),
    context: z.string().nullable(),
    tokens: tokenCount.optional(),
    overhead: z.boolean().optional(),
    judgment: judgmentSchema.optional(),
    ...keptVerdictSchemas,
    revision: z
      .int()
      .min(0)
      .nullable()
      .describe(
        'The number of the ground after the step; null if the step is older than this release.',
      ),
    user_message: z.string().nullable().describe('What the user had just said.'),
    user_effect: userEffect.nullable().describe('What that did to the assignment.'),
    label: z.enum(labels).nullable().describe('What a person last said of the step.'),
  })
  .meta({ id: 'TraceStep' })

/** The refusal of a run that the account does not have. */
export const noRun = describeRefusal(
  404,
  'no_run',
  'The account has no such run, or the run has expired.',
)

/** Returns one run with its steps, oldest first. */
export const readRun = keyed({
  name: 'runs.read',
  group: 'detector',
  summary: 'One run and its trace.',
  http: { method: 'GET', path: '/v1/drift/run' },
  input: z.object({
    run_id: idField().optional().describe('The id of the run. `id` is an alias.'),
    id: idField().optional(),
    limit: limitField(10_000, 1_000),
    after: afterField().describe(
      'The trace begins behind the step of this number. A `cursor` takes its place. With `steps` of the run it reads the last steps: `after` = `steps` − 8 for eight.',
    ),
    cursor: z.string().optional(),
    grounds_cursor: z
      .string()
      .optional()
      .describe('`grounds_cursor` of the previous answer, for further grounds.'),
    agents_cursor: z
      .string()
      .optional()
      .describe('`agents_cursor` of the previous answer, for further sub-agents.'),
  }),
  output: z.strictObject({
    run: runSchema,
    trace: z.array(traceStepSchema),
    next_cursor: z.string().nullable(),
  }),
  refusals: [badRequest, noRun],
})(async ({ store, account, now }, { run_id, id, limit, after: given, cursor, ...parts }) => {
  const wanted = run_id ?? id
  if (wanted === undefined) throw missing('run_id')
  const run = await store.runs.find(account.id, wanted, now())
  if (run === null) throw unknownRun()
  const { after } = cursorFrom(cursor, z.object({ after: z.int().min(0) })) ?? { after: given }
  const from = {
    ...firstParts,
    grounds: cursorFrom(parts.grounds_cursor, groundsPlace) ?? firstParts.grounds,
    ...cursorFrom(parts.agents_cursor, z.object({ after: z.string() })),
  }
  const steps = await store.runs.trace(account.id, wanted, after, limit)
  const last = steps.at(-1)?.step ?? run.steps
  return {
    run: await shownWith(store, account.id, run, now(), from),
    trace: steps.map(traceStep),
    next_cursor: last < run.steps && steps.length === limit ? cursorOf({ after: last }) : null,
  }
})

/** Sets the outcome of a run. */
export const setOutcome = keyed({
  name: 'runs.set-outcome',
  group: 'detector',
  summary: 'Set a run’s outcome and score. Adds no step.',
  description:
    'A score or note that you leave out keeps its value. The call does not extend the retention.',
  http: { method: 'POST', path: '/v1/drift/outcome' },
  input: z.object({
    run_id: idField(),
    outcome: z.enum(outcomes, `send ${outcomes.join(', ')}`),
    score: z.number('send a number from 0 to 1').min(0).max(1).nullish(),
    note: textField().nullish(),
  }),
  output: z.strictObject({ ok: z.literal(true), run: runSchema }),
  refusals: [badRequest, noRun],
})(async ({ store, account, now }, { run_id, score, note, ...rest }) => {
  const at = now()
  const outcome = { ...rest, score: score ?? null, note: note ?? null }
  const found = await store.tx(async ({ runs, stream }) => {
    const changed = await runs.setOutcome(account.id, run_id, at, outcome)
    if (changed)
      await stream.record([{ account: account.id, at, kind: 'run', run_id, subject: '' }])
    return changed
  })
  const run = found ? await store.runs.find(account.id, run_id, at) : null
  if (run === null) throw unknownRun()
  return { ok: true as const, run: await shownWith(store, account.id, run, at) }
})

/** Deletes a run with all its steps. */
export const deleteRun = keyed({
  name: 'runs.delete',
  group: 'detector',
  summary: 'Delete a run and its steps.',
  http: { method: 'DELETE', path: '/v1/drift/run' },
  input: z.object({ run_id: idField().optional(), id: idField().optional() }),
  output: z.strictObject({
    ok: z.literal(true),
    deleted: z.int().min(1).describe('The number of deleted steps.'),
  }),
  refusals: [badRequest, noRun],
})(async ({ store, account, now }, { run_id, id }) => {
  const wanted = run_id ?? id
  if (wanted === undefined) throw missing('run_id')
  // In one transaction: a step in between would begin the run anew, and the count would be its own.
  const at = now()
  const deleted = await store.tx(
    async ({ runs, toolSessions, hostSessions, hookSettings, jobs, stream }) => {
      // Tools and hosts lock their session before the run, and so must this.
      await toolSessions.forget(account.id, wanted)
      await hostSessions.forget(account.id, wanted)
      await hookSettings.forget(account.id, wanted)
      const steps = await runs.end(account.id, wanted, at)
      // The job deletes the rows now, not at the next full hour.
      if (steps !== null) {
        await jobs.add(expireJob(at))
        const { id } = account
        await stream.record([{ account: id, at, kind: 'run', run_id: wanted, subject: '' }])
      }
      return steps
    },
  )
  if (deleted === null) throw unknownRun()
  return { ok: true as const, deleted }
})

/** Exports every run and step of the account as JSON lines. */
export const exportRuns = keyed({
  name: 'runs.export',
  group: 'detector',
  summary: 'Every run and step of the account, as JSON lines.',
  description: `Streamed: a line \`{"type":"run",…}\` for each run, then one line \`{"type":"step","run_id":…,…}\` for each of its steps. If a run has more than ${maxParts} grounds or sub-agents, the others get lines of their own before its steps: \`{"type":"ground","run_id":…,…}\`, those of the main agent newest first, and \`{"type":"agent","run_id":…,…}\`. ${exportRule}`,
  http: { method: 'GET', path: '/v1/export' },
  input: z.object({}),
  output: z.unknown().describe('JSON lines.'),
  streams: 'application/x-ndjson',
})(async (context) => exportOnce(context, () => exportLines(context)))

/** The rows that an export holds in memory at a time: few, because its reader may be slow. */
const exportPage = 100

async function* exportLines(context: Keyed): AsyncGenerator<string> {
  const { store, account, now } = context
  let after = ''
  for (;;) {
    const runs = await store.runs.page(account.id, now(), after, exportPage)
    for (const run of runs) yield* runLines(context, run)
    after = runs.at(-1)?.run_id ?? after
    if (runs.length < exportPage) return
  }
}

async function* runLines({ store, account, now }: Keyed, run: Run): AsyncGenerator<string> {
  const { run_id } = run
  const first = await shownWith(store, account.id, run, now())
  const { grounds_cursor, agents_cursor, ...shown } = first
  yield line({ type: 'run', ...shown })
  let grounds = cursorFrom(grounds_cursor, groundsPlace)
  while (grounds !== null) {
    const { main, ofSubs, next } = await findGrounds(store, account.id, run_id, grounds, exportPage)
    for (const each of [...main.toReversed(), ...ofSubs]) {
      yield line({ type: 'ground', run_id, ...shownGround(each) })
    }
    grounds = next
    await nextTurn()
  }
  let agent = agents_cursor === undefined ? null : shown.agents.at(-1)?.agent_id
  while (agent != null) {
    const agents = await store.runs.subAgents(account.id, run_id, agent, exportPage)
    for (const each of agents) yield line({ type: 'agent', run_id, ...shownAgent(each) })
    agent = agents.at(-1)?.agent_id
    await nextTurn()
  }
  let step = 0
  for (;;) {
    const steps = await store.runs.trace(account.id, run_id, step, exportPage)
    for (const each of steps) yield line({ type: 'step', run_id, ...traceStep(each) })
    step = steps.at(-1)?.step ?? step
    // SQLite reads without a wait, so only this serves other requests before the end.
    await nextTurn()
    if (steps.length < exportPage) return
  }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}

/**
 * A place in the grounds of a run: those of the main agent below revision `before`, then those of sub-agents
 * after one of them.
 */
const groundsPlace = z.object({
  before: z.int().min(0),
  agent_id: z.string().default(''),
  revision: z.int().min(0).default(0),
})

type GroundsPlace = z.infer<typeof groundsPlace>

/** The place of a run's newest ground and of its first sub-agent. */
const firstParts = {
  grounds: { before: Number.MAX_SAFE_INTEGER, agent_id: '', revision: 0 } as GroundsPlace,
  after: '',
}

/**
 * Reads at most `most` grounds of a run: the newest of the main agent, oldest first, then those of
 * sub-agents. `next` is the place of further ones; null if there are none.
 */
async function findGrounds(
  store: Store,
  account: string,
  runId: string,
  from: GroundsPlace,
  most: number,
): Promise<{ main: GroundRow[]; ofSubs: GroundRow[]; next: GroundsPlace | null }> {
  const [newest, following] = await Promise.all([
    store.runs.grounds(account, runId, from.before, most + 1),
    store.runs.subGrounds(account, runId, from, most + 1),
  ])
  const main = newest.slice(-most)
  const ofSubs = following.slice(0, most - main.length)
  const { agent_id, revision } = ofSubs.at(-1) ?? from
  const next = { before: main[0]?.revision ?? from.before, agent_id, revision }
  const hasMore = newest.length > main.length || following.length > ofSubs.length
  return { main, ofSubs, next: hasMore ? next : null }
}

/** Shows runs with some grounds and sub-agents of each, and cursors to further ones. */
export async function shownRuns(
  store: Store,
  account: string,
  runs: readonly Run[],
  { most, at, from = firstParts }: ShownParts,
): Promise<ShownRun[]> {
  const ids = runs.map(({ run_id }) => run_id)
  const ofHosts = runs.filter(({ host }) => host !== null).map(({ run_id }) => run_id)
  const [incidents, seen] = await Promise.all([
    store.alerts.openOfRuns(account, ids),
    store.hostSessions.seen(account, ofHosts, at),
  ])
  return Promise.all(
    runs.map(async (run) => {
      const open = incidents.get(run.run_id)
      const incident = open === undefined ? null : incidentId(open.seq)
      const session = shownSession(run, seen.get(run.run_id) ?? null, at)
      return { ...(await withParts(store, account, run, most, from)), ...session, incident }
    }),
  )
}

/** How runs are shown: with at most `most` grounds and sub-agents, from a place in them, at a time. */
interface ShownParts {
  most: number
  /** Milliseconds since 1970. */
  at: number
  from?: typeof firstParts
}

type SessionParts = 'seen' | 'last_event_at' | 'session_ended_at' | 'silent'

/** How much has been seen of the session of a run, and whether it is silent. */
function shownSession(
  { outcome }: Run,
  session: SessionSeen | null,
  at: number,
): Pick<ShownRun, SessionParts> {
  if (session === null) {
    return { seen: null, last_event_at: null, session_ended_at: null, silent: null }
  }
  const { acts, ended, agentsBegun, agentsStopped, prompts, unheard, heardAt, overAt } = session
  const since = outcome === null ? silentSince(session, at) : null
  const { known, share } = seenShare(session)
  return {
    seen: {
      known,
      share,
      acts,
      ended,
      agents_started: agentsBegun,
      agents_stopped: agentsStopped,
      prompts,
      prompts_in_file: prompts + unheard,
    },
    last_event_at: heardAt === null ? null : isoTime(heardAt),
    session_ended_at: overAt === null ? null : isoTime(overAt),
    silent: since === null ? null : { since: isoTime(since) },
  }
}

/** Shows one run with as many of its parts as an answer may hold. */
async function shownWith(
  store: Store,
  account: string,
  run: Run,
  at: number,
  from = firstParts,
): Promise<ShownRun> {
  const [shown] = await shownRuns(store, account, [run], { most: maxParts, at, from })
  if (shown === undefined) throw new Error('a run that is not shown')
  return shown
}

async function withParts(
  store: Store,
  account: string,
  run: Run,
  most: number,
  from: typeof firstParts,
): Promise<Omit<ShownRun, 'incident' | SessionParts>> {
  const [{ main, ofSubs, next }, agents] = await Promise.all([
    findGrounds(store, account, run.run_id, from.grounds, most),
    store.runs.subAgents(account, run.run_id, from.after, most + 1),
  ])
  const last = agents[most - 1]
  return {
    ...shownRun(run, [...main, ...ofSubs], agents.slice(0, most)),
    ...(next === null ? {} : { grounds_cursor: cursorOf(next) }),
    ...(agents.length > most && last !== undefined
      ? { agents_cursor: cursorOf({ after: last.agent_id }) }
      : {}),
  }
}

function shownRun(
  run: Run,
  grounds: readonly GroundRow[],
  agents: readonly SubAgent[],
): Omit<ShownRun, 'incident' | SessionParts> {
  const shown = {
    run_id: run.run_id,
    ground: run.ground,
    revision: run.revision,
    grounds: grounds.map(shownGround),
    assignment: shownAssignment(run.assignment ?? olderAssignment(run)),
    last_person_at: run.last_person_at === null ? null : isoTime(run.last_person_at),
    unattended_ms: Math.max(0, run.updated - (run.last_person_at ?? run.created)),
    attended: run.host === null ? null : run.clock?.isHeadless === true ? 'never' : 'at_times',
    created: isoTime(run.created),
    updated: isoTime(run.updated),
    expires: isoTime(run.expires),
    steps: run.steps,
    drifting: run.drifting,
    drifting_steps: run.drifting_steps,
    last_reason: run.last_reason,
    phi: run.phi,
    max_phi: run.max_phi,
    tokens: run.tokens,
    overhead_tokens: run.overhead_tokens,
    outcome: run.outcome,
    score: run.score,
    note: run.note,
    pair: run.pair,
    arm: run.arm,
    judgment: run.judgment,
    plan: run.plan,
    detector: run.detector,
    uncertain: run.uncertain,
    drift_tokens: run.drift_tokens,
    first_drift_step: run.first_drift_step,
    host: run.host,
    coverage: run.coverage,
    agents: agents.map(shownAgent),
  }
  // The cast holds, because stored values were validated when they were written.
  return shown as Omit<ShownRun, 'incident' | SessionParts>
}

function shownAgent({ totals, ...agent }: SubAgent): object {
  const { uncertain: _, strays: __, ...shown }: Partial<AgentTotals> = totals ?? {}
  return { ...agent, ...noTotals, ...shown }
}

const noTotals = {
  first_step: null,
  last_step: null,
  phi: null,
  max_phi: null,
  drifting_steps: null,
  tokens: null,
}

/** The assignment of a run of an earlier release: its ground. */
function olderAssignment({ ground, revision }: Run): Assignment {
  return assignmentOf({ ground: ground === null ? null : { goal: ground }, revision })
}

function shownGround({ set_by, at, ...ground }: GroundRow): ShownRun['grounds'][number] {
  return { ...ground, by: set_by, at: isoTime(at) }
}

/** Converts a stored step to a step of a trace. */
export function traceStep(row: StepRow): z.infer<typeof traceStepSchema> {
  const judgment = row.judgment === null ? null : readJudgment(row.judgment)
  const shown = {
    step: row.step,
    ts: isoTime(row.ts),
    ...(row.agent_id === '' ? {} : { agent_id: row.agent_id }),
    goal: row.goal,
    ...(row.parent_goal === null ? {} : { parent_goal: row.parent_goal }),
    progress: row.progress,
    distance: row.distance,
    reason: row.reason,
    drifting: row.drifting === 1,
    phi: row.phi,
    goal_score: row.goal_score,
    svcscore: row.svcscore,
    context: row.context,
    ...(row.tokens === null ? {} : { tokens: row.tokens }),
    ...(row.overhead === null ? {} : { overhead: row.overhead === 1 }),
    ...(judgment === null ? {} : { judgment }),
    ...readKept(row.verdict),
    revision: row.revision,
    user_message: row.user_message,
    user_effect: row.user_effect,
    label: row.label,
  }
  return shown as z.infer<typeof traceStepSchema>
}

/** Refuses a run that the account does not have. */
export function unknownRun(): Refusal {
  return new Refusal(404, 'no_run', {
    detail: 'There is no such run. GET /v1/drift/runs lists the recent runs.',
  })
}

function missing(field: string): Refusal {
  return new Refusal(400, 'bad_request', { detail: `${field}: name the run` })
}
