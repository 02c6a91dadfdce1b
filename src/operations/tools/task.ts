import { z } from 'zod'
import { progressValues } from '../../core/detector/contract/constants.ts'
import { readDistance } from '../../core/detector/distance.ts'
import type { Step } from '../../core/detector/step.ts'
import { countClaims } from '../../core/language/claims.ts'
import { readProgress } from '../../core/runs/check.ts'
import { type DriftRequest, maxPlanLength } from '../../core/runs/step-request.ts'
import { maxSuspended, resume, suspend } from '../../core/runs/suspended-grounds.ts'
import { dayMs } from '../../core/time.ts'
import type { Store } from '../../storage/store.ts'
import { share, textField } from '../gate/fields.ts'
import { noStateField, noStateNote, type Tool, type ToolContext, tool } from '../gate/tool.ts'
import { driftAnswer, judgeFirst, logRequest } from '../steps/drift.ts'
import { learnAhead } from '../steps/learn-ahead.ts'
import { traceStep, traceStepSchema } from '../steps/runs.ts'
import { userWords } from '../steps/verdict.ts'

/** The most runs of a caller without a key. A new run ends the oldest. */
const maxKeylessRuns = 100

const goal = textField().describe(
  'Your current goal in one line, as you would tell it to the user. Name the thing, not the tool.',
)
// An unknown value is a verdict (ungrammatical) and no refusal, so the enumeration is only listed.
const progress = z
  .string()
  .meta({ enum: [...progressValues] })
  .optional()
  .describe(
    'advancing if the last step brought the task nearer to done, stuck if nothing you try works, circling if you repeat steps. Leave it out if you advance.',
  )
const distance = z
  .union([z.number(), z.string()])
  .optional()
  .describe(
    'How far the task is from done: 0 is done, 10 is nothing done yet. Leave it out unless you can really tell; a guess that never changes is worse than none.',
  )
const plan = z
  .array(textField())
  .max(maxPlanLength)
  .optional()
  .describe(
    'Your plan, one short item a step. Send it once you have it and again when it changes; a new one replaces the old. It explains steps that do not share the words of the errand, and never makes another errand out of it.',
  )
const freeText = textField().optional()

const claims = z
  .strictObject({
    claims: z.int().min(0).describe('Phrases that claim a cause or an outcome.'),
    observations: z.int().min(0).describe('Phrases that report an observation.'),
    grounded: share.nullable().describe('Observations divided by claims and observations.'),
  })
  .describe('Counts over doing, next and blocked. Present only if you sent one of them.')

/** Logs a step of a task and returns its verdict. */
export const checkState = tool({
  name: 'check_state',
  title: 'Check whether you are still on the errand',
  stores: true,
  description:
    'Report your current goal and get a verdict: still on the errand, drifting, or uncertain, with the numbers that decided. Call it when a task begins, with the user’s own words as ground and your plan if you have one; then at each new step and before any act that is hard to undo. When the user speaks, send their words as user_message; the server reads whether they move the errand. Give parent_goal when this is a sub-task. The ground moves only by the user.',
  input: z.object({
    goal,
    progress,
    distance,
    ground: freeText.describe(
      'The errand in the user’s own words. Send it with your first report; what the user says later belongs in user_message. Your own wording does not belong here.',
    ),
    plan,
    parent_goal: freeText.describe('The larger goal that this goal is part of.'),
    doing: freeText.describe('Your current work, in a sentence.'),
    next: freeText.describe('Your next step.'),
    blocked: freeText.describe('The obstacle in your way.'),
    user_turn: z
      .boolean()
      .optional()
      .describe(
        'Set it when the user has given another errand and you cannot quote them. This goal then becomes the ground. With their words, send user_message instead.',
      ),
    ...userWords,
  }),
  output: driftAnswer.omit({ run_id: true }).extend({
    run: z.string().describe('The run that holds this step.'),
    resumed_ground: z
      .string()
      .optional()
      .describe(
        'A ground that was put aside and is nearer to this goal. It is the live ground again.',
      ),
    claims: claims.optional(),
    note: noStateField,
  }),
})(async (context, input) => {
  const step: Step = {
    goal: input.goal.trim(),
    progress: readProgress(input.progress),
    distance: readDistance(input.distance),
    ...(input.distance === undefined ? { distanceReported: false } : {}),
    ...(input.ground?.trim() ? { ground: input.ground.trim() } : {}),
    ...(input.plan === undefined ? {} : { plan: input.plan, isOwnPlan: true }),
    ...(input.parent_goal?.trim() ? { parentGoal: input.parent_goal.trim() } : {}),
    ...(input.user_turn === true ? { userTurn: true } : {}),
    ...(input.user_message?.trim() ? { userMessage: input.user_message.trim() } : {}),
    ...(input.user_effect === undefined ? {} : { userEffect: input.user_effect }),
  }
  const { run_id, ...logged } = await logInTask(context, step)
  const statements = [input.doing, input.next, input.blocked].filter((text) => text !== undefined)
  return {
    ...logged,
    run: run_id,
    ...(statements.length === 0 ? {} : { claims: countClaims(statements.join('\n')) }),
    ...noStateNote(context),
  }
})

/** Returns the steps of a task so far. */
export const getHistory = tool({
  name: 'get_history',
  title: 'Read the steps of this task so far',
  description:
    'The steps of this task with their verdicts, oldest first, and the number of all drifting steps. Call it after a pause, a compaction of your context, or a hand-over, to recall the errand.',
  hints: { readOnlyHint: true, idempotentHint: true },
  input: z.object({
    limit: z
      .int()
      .min(1)
      .max(200)
      .default(20)
      .describe('How many of the latest steps to list. Defaults to 20.'),
  }),
  output: z.strictObject({
    run: z.string(),
    ground: z.string().nullable().describe('The goal the task is measured against.'),
    steps: z.int().min(0).describe('All steps of the task.'),
    drifting: z.int().min(0).describe('The number of drifting steps.'),
    trace: z.array(traceStepSchema),
    note: noStateField,
  }),
})(async (context, { limit }) => {
  const { store, account, runId, now, owner } = context
  const run = owner === 'nobody' ? null : await store.runs.find(account.id, runId, now())
  if (run === null) {
    return { run: runId, ground: null, steps: 0, drifting: 0, trace: [], ...noStateNote(context) }
  }
  const trace = await store.runs.trace(account.id, runId, Math.max(0, run.steps - limit), limit)
  return {
    run: runId,
    ground: run.ground,
    steps: run.steps,
    drifting: run.drifting_steps,
    trace: trace.map(traceStep),
  }
})

/** Puts the ground of a task aside and sets the new one if a goal is given. */
export const resetTask = tool({
  name: 'reset_task',
  title: 'Put the current errand aside and begin another',
  stores: true,
  description: `Puts the ground of this task aside (the latest ${maxSuspended} are kept and come back by themselves when a later goal is nearer to one of them). If you send goal, it becomes the ground at once. If not, the next goal that you report does. Call it when the user gives you another errand, not when you feel you have drifted.`,
  hints: { idempotentHint: true },
  input: z.object({ goal: goal.optional().describe('The new errand, in the user’s own words.') }),
  output: z.strictObject({
    ok: z.literal(true),
    run: z.string(),
    ground: z.string().nullable().describe('The current ground; null until the next goal sets it.'),
    suspended: z.array(z.string()).describe('The grounds put aside, latest last.'),
    note: noStateField,
  }),
})(async (context, input) => {
  const { account, runId, now, owner } = context
  if (owner === 'nobody') {
    return { ok: true as const, run: runId, ground: null, suspended: [], ...noStateNote(context) }
  }
  const given = input.goal?.trim() ?? ''
  const step: Step = {
    goal: given,
    progress: readProgress(undefined),
    distance: readDistance(undefined),
    userTurn: true,
  }
  if (given !== '') await learnAhead(context, () => [requestOf(runId, step)])
  let isNewRun = false
  // One transaction, so that no step of the task comes between the new ground and the suspension of the old.
  const answer = await context.store.tx(async (store) => {
    if (given !== '') {
      const logged = await logResumed({ ...context, store }, store, step)
      isNewRun = logged.step === 1
    }
    const held = await store.toolSessions.lock(account.id, runId, now())
    const run = await store.runs.find(account.id, runId, now())
    const after = given === '' ? suspend(held, run?.ground ?? null) : held
    await store.toolSessions.save(account.id, runId, after, expiryOf(context))
    return {
      ok: true as const,
      run: runId,
      ground: after.awaiting ? null : (run?.ground ?? null),
      suspended: after.suspended,
    }
  })
  if (owner === 'caller' && isNewRun) await endOldest(context)
  return answer
})

/** The tools about one task. */
export const taskTools: readonly Tool[] = [checkState, getHistory, resetTask]

/**
 * Logs a step in the task of the session. Returns to a suspended ground if that is nearer to the goal. A
 * step of nobody's task is judged as a first step and not stored.
 */
async function logInTask(context: ToolContext, step: Step) {
  const { account, runId, now, owner } = context
  if (owner === 'nobody') return judgeFirst(context, requestOf(runId, step))
  await learnAhead(context, () => [requestOf(runId, step)])
  const suspended = await context.store.toolSessions.find(account.id, runId, now())
  const answer =
    suspended !== null || step.userTurn === true || step.userMessage !== undefined
      ? await context.store.tx((store) => logResumed({ ...context, store }, store, step))
      : await logRequest(context, requestOf(runId, step))
  if (owner === 'caller' && answer.step === 1) await endOldest(context)
  return answer
}

async function logResumed(context: ToolContext, store: Store, step: Step) {
  const { account, runId, now } = context
  const held = await store.toolSessions.lock(account.id, runId, now())
  const run = await store.runs.find(account.id, runId, now())
  const {
    suspension,
    resumedGround,
    step: resumed,
  } = resume(held, run?.ground ?? null, step, context.encoder?.reads)
  await store.toolSessions.save(account.id, runId, suspension, expiryOf(context))
  const answer = await logRequest(context, requestOf(runId, resumed))
  return resumedGround === null ? answer : { ...answer, resumed_ground: resumedGround }
}

function requestOf(runId: string, step: Step): DriftRequest {
  return {
    runId,
    agentId: '',
    parentAgentId: null,
    step,
    tokens: null,
    overhead: null,
    pair: null,
    arm: null,
    detector: null,
    observation: null,
  }
}

function expiryOf({ now, tier }: ToolContext): number {
  return now() + tier.retention_days * dayMs
}

async function endOldest({ store, account, now }: ToolContext): Promise<void> {
  const runs = await store.runs.recent(account.id, now(), 2 * maxKeylessRuns)
  for (const { run_id } of runs.slice(maxKeylessRuns)) {
    await store.runs.end(account.id, run_id, now())
  }
}
