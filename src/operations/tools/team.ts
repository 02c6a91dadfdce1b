import { z } from 'zod'
import { textField } from '../gate/fields.ts'
import { noStateField, noStateNote, type Tool, tool } from '../gate/tool.ts'
import { judgeFirstTurn, logTurn, turnAnswer } from '../steps/dialogue.ts'
import { judgeFirst } from '../steps/drift.ts'
import { learnModulated, logModulated, modulateAnswer } from '../steps/modulate.ts'

const distance = z
  .union([z.number(), z.string()])
  .optional()
  .describe('How far the task is from done: 0 is done, 10 is nothing done yet.')
const progress = z.string().optional().describe('advancing (default), stuck or circling.')
const style = {
  team: z
    .string()
    .optional()
    .describe('The name of a team, such as deep-search. GET /v1/recursion-team lists all teams.'),
  role: z.string().optional().describe('Your role in the team.'),
}

/** Logs a step and applies the policy of the caller's role to its verdict. */
export const modulateTool = tool({
  name: 'modulate',
  title: 'Check a step by the policy of your role',
  stores: true,
  description:
    'Works like check_state, and also says whether your role in a team returns to the ground now: an explorer may go far before it returns, a checker returns at the first sign. Without a team every drift returns.',
  input: z.object({
    goal: textField().describe('Your current goal, in one line.'),
    progress,
    distance,
    ...style,
  }),
  output: modulateAnswer.extend({ note: noStateField }),
})(async (context, input) => {
  const body = { ...input, run_id: context.runId }
  if (context.owner === 'nobody') {
    return { ...(await logModulated(context, body, judgeFirst)), ...noStateNote(context) }
  }
  await learnModulated(context, body)
  return logModulated(context, body)
})

/** Logs a turn of a conversation between agents. */
export const checkDialogue = tool({
  name: 'check_dialogue',
  title: 'Check whether a dialogue of agents is still on its goal',
  stores: true,
  description:
    'Report each turn of a conversation between agents: the speaker, the goal as that agent states it, and the statement. The answer says whether the dialogue advances, has left its goal, echoes itself or stalls. The first turn freezes the shared goal.',
  input: z.object({
    agent: z.string().min(1).max(200).describe('The agent that speaks.'),
    goal: textField().describe('The shared goal, as this agent states it.'),
    said: textField().optional().describe('The statement of the agent. Defaults to the goal.'),
    progress,
    distance,
    ...style,
  }),
  output: turnAnswer.extend({ note: noStateField }),
})(async (context, { said, goal, ...rest }) => {
  const body = { ...rest, goal, position: said ?? goal, conv_id: context.runId }
  if (context.owner !== 'nobody') return logTurn(context, body)
  return { ...(await judgeFirstTurn(context, body)), ...noStateNote(context) }
})

/** Clears a conversation. */
export const resetDialogue = tool({
  name: 'reset_dialogue',
  title: 'Start a new dialogue',
  description: 'Clears the conversation of this session. The next turn freezes a new shared goal.',
  hints: { destructiveHint: true, idempotentHint: true },
  input: z.object({}),
  output: z.strictObject({
    ok: z.literal(true),
    cleared: z.boolean().describe('Whether there was a conversation.'),
    note: noStateField,
  }),
})(async (context) => {
  const { store, account, runId, now, owner } = context
  if (owner === 'nobody') return { ok: true as const, cleared: false, ...noStateNote(context) }
  const turns = await store.tx(({ conversations }) => conversations.end(account.id, runId, now()))
  return { ok: true as const, cleared: turns !== null }
})

/** The tools about several agents. */
export const teamTools: readonly Tool[] = [modulateTool, checkDialogue, resetDialogue]
