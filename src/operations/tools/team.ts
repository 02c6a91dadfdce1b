import { z } from 'zod'
import { textField } from '../gate/fields.ts'
import { keptField, keptNote, type Tool, tool } from '../gate/tool.ts'
import { judgeFirstTurn, takeTurnOf, turnAnswer } from '../steps/dialogue.ts'
import { judgeFirst } from '../steps/drift.ts'
import { learnModulated, logModulated, modulateAnswer } from '../steps/modulate.ts'

const distance = z
  .union([z.number(), z.string()])
  .optional()
  .describe('How far from done: 0 is done, 10 is nothing done yet.')
const progress = z.string().optional().describe('advancing (default), stuck or circling.')
const style = {
  team: z
    .string()
    .optional()
    .describe('A team such as deep-search; GET /v1/recursion-team lists them.'),
  role: z.string().optional().describe('Your role in it.'),
}

/** Reports a step and tells what the caller's role makes of the verdict. */
export const modulateTool = tool({
  name: 'modulate',
  title: 'Check a step by the policy of your role',
  stores: true,
  description:
    'As check_state, and tells whether your role in a team returns to the ground now: an explorer may go far before it does, a checker returns at the first sign. Without a team every drift returns.',
  input: z.object({
    goal: textField().describe('What you are doing now, in one line.'),
    progress,
    distance,
    ...style,
  }),
  output: modulateAnswer.extend({ note: keptField }),
})(async (context, input) => {
  const body = { ...input, run_id: context.runId }
  if (context.owner === 'nobody') {
    return { ...(await logModulated(context, body, judgeFirst)), ...keptNote(context) }
  }
  await learnModulated(context, body)
  return logModulated(context, body)
})

/** Takes a turn of a conversation between agents. */
export const checkDialogue = tool({
  name: 'check_dialogue',
  title: 'Check whether a dialogue of agents is still on its goal',
  stores: true,
  description:
    'Report each turn of a conversation between agents: who spoke, the goal as that agent states it, and what was said. Answers whether the dialogue advances, left its goal, echoes itself or stalls. The first turn freezes the shared goal.',
  input: z.object({
    agent: z.string().min(1).max(200).describe('Who speaks.'),
    goal: textField().describe('The shared goal, as this agent states it.'),
    said: textField().optional().describe('What was said; the goal itself otherwise.'),
    progress,
    distance,
    ...style,
  }),
  output: turnAnswer.extend({ note: keptField }),
})(async (context, { said, goal, ...rest }) => {
  const body = { ...rest, goal, position: said ?? goal, conv_id: context.runId }
  if (context.owner !== 'nobody') return takeTurnOf(context, body)
  return { ...(await judgeFirstTurn(context, body)), ...keptNote(context) }
})

/** Clears a conversation. */
export const resetDialogue = tool({
  name: 'reset_dialogue',
  title: 'Begin a dialogue anew',
  description: 'Clears the conversation of this session; the next turn freezes a new shared goal.',
  hints: { destructiveHint: true, idempotentHint: true },
  input: z.object({}),
  output: z.strictObject({
    ok: z.literal(true),
    cleared: z.boolean().describe('Whether there was a conversation.'),
    note: keptField,
  }),
})(async (context) => {
  const { store, account, runId, now, owner } = context
  if (owner === 'nobody') return { ok: true as const, cleared: false, ...keptNote(context) }
  const turns = await store.tx(({ conversations }) => conversations.end(account.id, runId, now()))
  return { ok: true as const, cleared: turns !== null }
})

/** The tools about several agents. */
export const teamTools: readonly Tool[] = [modulateTool, checkDialogue, resetDialogue]
