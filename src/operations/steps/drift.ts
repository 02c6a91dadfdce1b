import { z } from 'zod'
import { progressValues } from '../../core/detector/contract/constants.ts'
import { detectorNames } from '../../core/detector/contract/detector.ts'
import { assignmentOf } from '../../core/detector/ground.ts'
import type { LoggedStep } from '../../core/runs/batch.ts'
import { type Entry, readEntry } from '../../core/runs/entry.ts'
import { logStep, newAgent, newRun } from '../../core/runs/run.ts'
import {
  arms,
  type DriftRequest,
  defaultRunId,
  maxPlanLength,
  readDrift,
} from '../../core/runs/step-request.ts'
import type { Store } from '../../storage/store.ts'
import type { Keyed } from '../gate/context.ts'
import { badRequest } from '../gate/declaration.ts'
import { idField, textField, tokenCount } from '../gate/fields.ts'
import { lenient } from '../gate/lenient.ts'
import { keyed } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'
import { learnAhead } from './learn-ahead.ts'
import { readAhead } from './read-ahead.ts'
import { claimOf, contentOf, logEachOnce, stepRoute } from './steps-once.ts'
import {
  assignmentSchema,
  score,
  shownAssignment,
  stepResultSchema,
  userWords,
  verdictBytes,
} from './verdict.ts'

/** Most steps in one batch. */
export const maxBatchSteps = 500

const id = idField()
const text = textField()

/** The fields of a step. */
export const driftBody = z
  .object({
    run_id: id.default(defaultRunId).optional(),
    goal: text.describe('The agent’s current goal. A blank goal gets the verdict ungrammatical.'),
    progress: z.enum(progressValues).default('advancing').optional(),
    distance: z
      .union([z.int().min(0).max(10), z.string()])
      .default(5)
      .optional(),
    ground: text
      .optional()
      .describe(
        'The errand in the user’s own words. Read only on the first step or with user_turn; user_message comes before user_turn.',
      ),
    parent_goal: text.optional().describe('The larger goal that this goal is part of.'),
    user_turn: z
      .boolean()
      .optional()
      .describe(
        'Set it when the user has just spoken and gave another errand. It moves the ground. An acknowledgement or a question moves nothing.',
      ),
    ...userWords,
    tokens: tokenCount.optional().describe('The tokens that the step cost.'),
    overhead: z.unknown().optional().describe('A truthy value marks the tokens as overhead.'),
    agent_id: id
      .optional()
      .describe('The sub-agent that reports the step. Each sub-agent has its own ground.'),
    parent_agent_id: id
      .optional()
      .describe(
        'The sub-agent that this sub-agent works for. The server remembers the last one that it was told. Read only with agent_id.',
      ),
    plan: z.array(text).max(maxPlanLength).optional().describe('Sub-goals of the ground.'),
    pair: id.optional().describe('The pair of an experiment that this run belongs to.'),
    arm: z.enum(arms).optional(),
    detector: z
      .enum(detectorNames)
      .optional()
      .describe('The detector of the run. Read only on its first step.'),
    step_id: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe(
        'An idempotency key within the run. For 24 hours the server stores the step once and repeats its answer, whether the step comes alone or in a batch. It compares two bodies sent alone byte for byte. If one of them was an entry of a batch, it compares the values of their fields.',
      ),
  })
  .meta({ id: 'DriftStep' })

/** The verdict on a logged step. */
export const driftAnswer = stepResultSchema
  .extend({
    run_id: z.string(),
    step: z
      .int()
      .min(1)
      .describe('The number of the step in the run, over all agents, counted from 1.'),
    agent_id: z.string().optional(),
    revision: z
      .int()
      .min(0)
      .describe('The number of the current ground. 1 is the first; 0 means there is none yet.'),
    assignment: assignmentSchema
      .optional()
      .describe('What the user has asked for. Present only if the user moved it with this step.'),
    parent_overlap: score.optional(),
    recurrence: z.int().min(1).optional().describe('How many earlier runs opened this context.'),
    ceiling: z
      .int()
      .min(0)
      .max(10)
      .optional()
      .describe('The lowest distance that those runs reached in this context.'),
  })
  .meta({ id: 'DriftAnswer' })

/** Logs one step of a run. The answer leaves when the step is durable. */
export const logDrift = keyed(
  {
    name: 'drift.log',
    group: 'detector',
    summary: 'Log one step of a run and get its verdict.',
    description:
      'The server stores the step durably before it answers. It judges the steps of one run in strict order.',
    http: { method: 'POST', path: stepRoute },
    async ahead(context, body) {
      await learnAhead(context, () => readableSteps([body]))
    },
    input: lenient(driftBody),
    output: driftAnswer,
    write: verdictBytes,
    refusals: [badRequest],
  },
  { logs: true, contentOf },
)(async (context, body) => {
  const request = readDrift(body)
  if ('fault' in request) throw new Refusal(400, 'bad_request', { detail: request.fault })
  return logRequest(context, request)
})

/** Logs one parsed step and resolves when it is durable. */
export async function logRequest(
  context: Keyed,
  request: DriftRequest,
): Promise<z.infer<typeof driftAnswer>> {
  const [logged] = await context.store.log([entryOf(context, request)])
  if (logged === undefined) throw new Error('a logged step without its result')
  return answerOf(logged)
}

/** Judges one step as the first of a run, and stores nothing. */
export function judgeFirst(context: Keyed, request: DriftRequest): z.infer<typeof driftAnswer> {
  const entry = readEntry(entryOf(context, request))
  const run = newRun(request.runId, request.detector ?? entry.detector, entry.now)
  const agent = newAgent(request.agentId, run.detector)
  const judged = logStep(run, agent, entry, null)
  const { revision } = judged.agent.memory
  const names = { run_id: run.run_id, agent_id: agent.agent_id }
  const assignment = judged.frozen?.by === 'user' ? assignmentOf(judged.agent.memory) : null
  context.countVerdict(judged.verdict)
  return answerOf({ ...judged, ...names, revision, assignment, earlier: null })
}

/** Logs many steps of one or several runs, all or none. */
export const logDriftBatch = keyed(
  {
    name: 'drift.log-batch',
    group: 'detector',
    summary: 'Log up to 500 steps at once.',
    description:
      'The server applies the entries in order, all or none. It refuses the whole batch if an entry is invalid, and names its index. It also refuses the batch if a `step_id` was used with another body (409). An entry that repeats an earlier step gets the earlier answer, and the server does not store it again.',
    http: { method: 'POST', path: '/v1/drift/batch' },
    async ahead(context, body) {
      const steps = stepsOf(body) ?? []
      await readAhead(steps, context.settings.detector)
      await learnAhead(context, () => readableSteps(steps))
    },
    input: lenient(z.object({ steps: z.array(driftBody).min(1).max(maxBatchSteps) })),
    output: z.strictObject({ results: z.array(driftAnswer) }),
    write: ({ results }) => `{"results":[${results.map(verdictBytes).join(',')}]}`,
    refusals: [badRequest],
  },
  { logs: true },
)(async (context, body) => {
  const steps = stepsOf(body)
  if (steps === null) {
    throw new Refusal(400, 'bad_request', {
      detail: `steps: send a list of 1 to ${maxBatchSteps} steps`,
    })
  }
  const batch = steps.map((step, index) => {
    const request = readDrift(step)
    if ('fault' in request) {
      throw new Refusal(400, 'bad_request', { detail: `steps[${index}]: ${request.fault}` })
    }
    return { request, claim: claimOf(context, request, step, `steps[${index}]`) }
  })
  const log = async (store: Store, requests: readonly DriftRequest[]) => {
    const logged = await store.log(requests.map((request) => entryOf(context, request)))
    return logged.map(answerOf)
  }
  // Without a step_id, the steps can share a transaction with the steps of other requests.
  const results = batch.some(({ claim }) => claim !== null)
    ? await logEachOnce(context, batch, log)
    : await log(
        context.store,
        batch.map(({ request }) => request),
      )
  return { results }
})

/** Returns the steps of a batch, or null if there are none or too many. */
function stepsOf(body: unknown): unknown[] | null {
  const steps = (body as { steps?: unknown } | null | undefined)?.steps
  const fits = Array.isArray(steps) && steps.length > 0 && steps.length <= maxBatchSteps
  return fits ? steps : null
}

/** Parses bodies and leaves out the invalid ones, which the work refuses later. */
export function readableSteps(bodies: readonly unknown[]): DriftRequest[] {
  return bodies.flatMap((body) => {
    const request = readDrift(body)
    return 'fault' in request ? [] : [request]
  })
}

function entryOf(
  { account, tier, settings, embeddings, encoder, now }: Keyed,
  request: DriftRequest,
): Entry {
  return {
    account: account.id,
    request,
    adaptation: settings.adaptation ?? undefined,
    limit: settings.limit ?? undefined,
    ...(embeddings === null ? {} : { similarity: embeddings.similarity }),
    reads: encoder?.reads,
    results: settings.results ?? undefined,
    detector: settings.detector,
    now: now(),
    retentionDays: tier.retention_days,
  }
}

function answerOf(logged: LoggedStep): z.infer<typeof driftAnswer> {
  if (logged === 'damaged') {
    throw new Refusal(500, 'internal', {
      detail:
        'The stored state of this run is damaged. Continue with another run_id. You can still read the earlier steps.',
    })
  }
  const { verdict, run_id, agent_id, step, revision, assignment, earlier } = logged
  return {
    ...verdict,
    run_id,
    step,
    ...(agent_id === '' ? {} : { agent_id }),
    revision,
    ...(assignment === null ? {} : { assignment: shownAssignment(assignment) }),
    ...(earlier === null ? {} : { recurrence: earlier.runs }),
    ...(earlier === null || earlier.lowest === null ? {} : { ceiling: earlier.lowest }),
  }
}
