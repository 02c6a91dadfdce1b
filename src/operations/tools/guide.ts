import { z } from 'zod'
import { type GuidedRun, guideByRules, guideMessages } from '../../core/guidance/guide.ts'
import { textField } from '../gate/fields.ts'
import { mayAskGuide } from '../gate/keyless-limits.ts'
import { type Tool, type ToolContext, tool } from '../gate/tool.ts'

const newestGoals = 5

/** Gives guidance in a situation. */
export const askAlice: Tool = tool({
  name: 'ask_alice',
  title: 'Ask for guidance',
  description:
    'Describe a situation in a few sentences and get guidance that takes the state of your task into account: whether to go on, return, declare a sub-task, or ask the user. source says whether a model or the built-in rules answered.',
  hints: { readOnlyHint: true, openWorldHint: true },
  input: z.object({
    situation: textField()
      .refine((text) => text.trim() !== '', 'send a few words on the situation')
      .describe('The situation, and the question you are unsure about.'),
  }),
  output: z.strictObject({
    guidance: z.string(),
    source: z.enum(['model', 'rules']),
    note: z.string().optional().describe('Why the configured model did not answer.'),
  }),
})(async (context, { situation }) => {
  const run = await guidedRun(context)
  const reply = await askModel(context, situation, run)
  if ('text' in reply) return { guidance: reply.text, source: 'model' as const }
  return { guidance: guideByRules(situation, run), source: 'rules' as const, ...reply }
})

/** Asks the model. Returns its text, or a note why there is none, or {} if no model is configured. */
async function askModel(
  context: ToolContext,
  situation: string,
  run: GuidedRun | null,
): Promise<{ text: string } | { note?: string }> {
  const { guide, owner, gone } = context
  if (guide === null) return {}
  if (owner !== 'account' && !(await mayAskGuide(context))) {
    return {
      note: 'The server did not ask the model endpoint: callers without a key have used up its limit for today (UTC). Send a key to use the model.',
    }
  }
  const reply = await guide.ask(guideMessages(situation, run), gone())
  return 'text' in reply ? reply : { note: `The model endpoint was asked, but ${reply.failure}.` }
}

async function guidedRun(context: ToolContext): Promise<GuidedRun | null> {
  const { store, account, runId, now, owner } = context
  const run = owner === 'nobody' ? null : await store.runs.find(account.id, runId, now())
  if (run === null) return null
  const after = Math.max(0, run.steps - newestGoals)
  const trace = await store.runs.trace(account.id, runId, after, newestGoals)
  const { ground, steps, drifting_steps, last_reason, drifting, phi } = run
  const goals = trace.map(({ goal }) => goal)
  return { ground, steps, drifting_steps, last_reason, drifting, phi, goals }
}
