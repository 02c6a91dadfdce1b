import { z } from 'zod'
import { isOnErrand } from '../../core/alerts/incidents.ts'
import {
  type DialogueRequest,
  dialogueReasons,
  takeTurn as judgeTurn,
  newDialogue,
  readDialogue,
  type TurnVerdict,
} from '../../core/runs/dialogue.ts'
import { isoTime } from '../../core/time.ts'
import { expireJob } from '../../jobs/expire.ts'
import type { Conversation, TurnRow } from '../../storage/conversations.ts'
import type { Keyed } from '../gate/context.ts'
import { badRequest, describeRefusal } from '../gate/declaration.ts'
import { idField, textField, time } from '../gate/fields.ts'
import { lenient } from '../gate/lenient.ts'
import { cursorFrom, cursorOf, limitField, pageOf } from '../gate/list.ts'
import { keyed } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'
import { modulationOf, modulationSchema, styleFields } from './modulate.ts'
import { score } from './verdict.ts'

const id = idField()
const text = textField()
const reason = z.enum(dialogueReasons)

const turnBody = z
  .object({
    conv_id: id.describe('The id of the conversation. Its first turn creates it.'),
    agent: id.describe('The agent that takes the turn.'),
    position: text.describe('The agent’s statement. A blank one gets the verdict ungrammatical.'),
    distance: z
      .union([z.int().min(0).max(10), z.string()])
      .default(5)
      .optional(),
    goal: text
      .optional()
      .describe(
        'On the first turn the shared goal, which is then frozen. On later turns the goal as the agent states it.',
      ),
    ...styleFields,
    step_id: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe('An idempotency key within the conversation.'),
  })
  .meta({ id: 'DialogueTurn' })

/** The verdict on a turn. */
export const turnAnswer = z
  .strictObject({
    conv_id: z.string(),
    turn: z.int().min(1),
    reason,
    drifting: z.boolean(),
    phi: score.describe(
      '1 minus the similarity between the shared goal and the stated goal, or the position if the turn states no goal.',
    ),
    echo: score.describe(
      'How much the position repeats other agents’ statements of the last three turns.',
    ),
    self_echo: score.describe(
      'How much the position repeats its own agent’s statements of the last three turns.',
    ),
    dist: z.int().min(0).max(10),
    advice: z.string(),
    modulation: modulationSchema
      .nullable()
      .optional()
      .describe('Present only if you sent a team or role; null if either is unknown.'),
  })
  .meta({ id: 'DialogueAnswer' })

const conversationSchema = z
  .strictObject({
    conv_id: z.string(),
    goal: z.string().nullable().describe('The shared goal; null until a turn can be spelled.'),
    turns: z.int().min(1),
    last_reason: reason,
    drifting: z.boolean().describe('The verdict on the last turn.'),
    created: time,
    updated: time,
  })
  .meta({ id: 'Conversation' })

const turnSchema = z
  .strictObject({
    turn: z.int().min(1),
    ts: time,
    agent: z.string(),
    position: z.string(),
    goal: z.string().optional().describe('The goal as the turn stated it.'),
    distance: z.int().min(0).max(10),
    reason,
    drifting: z.boolean(),
    phi: score,
    echo: score,
    self_echo: score,
  })
  .meta({ id: 'ConversationTurn' })

const noConversation = describeRefusal(
  404,
  'no_conversation',
  'The account has no such conversation, or the conversation has expired.',
)

/** Judges and stores one turn of a conversation. Answers when the turn is durable. */
export const takeTurn = keyed(
  {
    name: 'dialogue.take',
    group: 'detector',
    summary: 'Submit one agent’s turn and get the verdict on the dialogue.',
    description:
      'The server judges the turns of one conversation in strict order. It keeps the turn even if the team or role is unknown.',
    http: { method: 'POST', path: '/v1/dialogue' },
    input: lenient(turnBody),
    output: turnAnswer,
    refusals: [badRequest],
  },
  { stepsOf: { field: 'conv_id', unnamed: '' } },
)(logTurn)

/** Reads a turn from a body, judges it and stores it for the account of the context; see POST /v1/dialogue. */
export async function logTurn(
  { store, account, tier, now }: Keyed,
  body: unknown,
): Promise<z.infer<typeof turnAnswer>> {
  const request = requestOf(body)
  const modulation = await modulationOf(store, account.id, body)
  const at = now()
  const taken = await store.tx(async ({ conversations, alerts }) => {
    const taken = await conversations.take(account.id, request, at, tier.retention_days)
    if (taken === 'damaged') return taken
    const { verdict, goal, previous, continues } = taken
    const { reason, phi, advice } = verdict
    // The verdict is on the dialogue, so its alerts name no agent.
    const alert = {
      account: account.id,
      run_id: request.convId,
      dialogue: true,
      agent_id: '',
      goal: request.goal ?? goal,
      reason,
      phi,
      advice,
      ts: at,
      continues,
    }
    if (verdict.drifting) await alerts.emit(alert)
    else if (previous !== null && !isOnErrand(previous) && isOnErrand(reason)) {
      await alerts.returned(alert)
    }
    return taken
  })
  if (taken === 'damaged') {
    throw new Refusal(500, 'internal', {
      detail:
        'The stored state of this conversation is damaged. Continue with another conv_id. You can still read the earlier turns.',
    })
  }
  return answerOf(request, taken.turn, taken.verdict, modulation)
}

/** Judges a turn as the first of a conversation. Stores nothing. */
export async function judgeFirstTurn(
  { store, account }: Keyed,
  body: unknown,
): Promise<z.infer<typeof turnAnswer>> {
  const request = requestOf(body)
  const modulation = await modulationOf(store, account.id, body)
  return answerOf(request, 1, judgeTurn(newDialogue(), request).verdict, modulation)
}

function requestOf(body: unknown): DialogueRequest {
  const request = readDialogue(body)
  if ('fault' in request) throw new Refusal(400, 'bad_request', { detail: request.fault })
  return request
}

function answerOf(
  { convId }: DialogueRequest,
  turn: number,
  verdict: TurnVerdict,
  modulation: Awaited<ReturnType<typeof modulationOf>>,
): z.infer<typeof turnAnswer> {
  return {
    conv_id: convId,
    turn,
    ...verdict,
    ...(modulation === undefined ? {} : { modulation: modulation(verdict) }),
  }
}

/** Lists the conversations of the account, or returns one of them with its turns. */
export const readDialogues = keyed({
  name: 'dialogue.read',
  group: 'detector',
  summary:
    'The conversations by their last turn, newest first, or one conversation with its turns.',
  http: { method: 'GET', path: '/v1/dialogue' },
  input: z.object({
    conv_id: idField().optional().describe('One conversation, with its turns oldest first.'),
    limit: z
      .string()
      .optional()
      .describe('1–200 conversations (50 unless given), or 1–10,000 turns (1,000 unless given).'),
    cursor: z.string().optional(),
  }),
  output: z.union([
    z.strictObject({
      conversations: z.array(conversationSchema),
      next_cursor: z.string().nullable(),
    }),
    z.strictObject({
      conversation: conversationSchema,
      turns: z.array(turnSchema),
      next_cursor: z.string().nullable(),
    }),
  ]),
  refusals: [badRequest, noConversation],
})(async ({ store, account, now }, { conv_id, limit, cursor }) => {
  if (conv_id === undefined) {
    const most = limitFrom(limit, 200, 50)
    const after = cursorFrom(cursor, z.object({ updated: z.int(), conv_id: z.string() }))
    const found = await store.conversations.list(account.id, now(), most + 1, after)
    const { page, next_cursor } = pageOf(found, most, ({ updated, conv_id }) => ({
      updated,
      conv_id,
    }))
    return { conversations: page.map(shownConversation), next_cursor }
  }
  const most = limitFrom(limit, 10_000, 1_000)
  const { after } = cursorFrom(cursor, z.object({ after: z.int().min(0) })) ?? { after: 0 }
  const conversation = await store.conversations.find(account.id, conv_id, now())
  if (conversation === null) throw unknownConversation()
  const turns = await store.conversations.turns(account.id, conv_id, after, most)
  const last = turns.at(-1)?.turn ?? conversation.turns
  return {
    conversation: shownConversation(conversation),
    turns: turns.map(shownTurn),
    next_cursor:
      last < conversation.turns && turns.length === most ? cursorOf({ after: last }) : null,
  }
})

/** Deletes a conversation with all its turns. */
export const deleteDialogue = keyed({
  name: 'dialogue.delete',
  group: 'detector',
  summary: 'Delete a conversation with its turns and its events.',
  http: { method: 'DELETE', path: '/v1/dialogue' },
  input: z.object({ conv_id: idField() }),
  output: z.strictObject({
    ok: z.literal(true),
    deleted: z.int().min(1).describe('The number of deleted turns.'),
  }),
  refusals: [badRequest, noConversation],
})(async ({ store, account, now }, { conv_id }) => {
  const at = now()
  const deleted = await store.tx(async ({ conversations, jobs }) => {
    const turns = await conversations.end(account.id, conv_id, at)
    // The job deletes the rows now, not at the next full hour.
    if (turns !== null) await jobs.add(expireJob(at))
    return turns
  })
  if (deleted === null) throw unknownConversation()
  return { ok: true as const, deleted }
})

function unknownConversation(): Refusal {
  return new Refusal(404, 'no_conversation', {
    detail: 'There is no such conversation. GET /v1/dialogue lists all conversations.',
  })
}

function limitFrom(limit: string | undefined, max: number, fallback: number): number {
  const read = limitField(max, fallback).safeParse(limit)
  if (read.success) return read.data
  throw new Refusal(400, 'bad_request', {
    detail: `limit: ${read.error.issues[0]?.message ?? 'send a whole number'}`,
  })
}

function shownConversation({
  created,
  updated,
  ...rest
}: Conversation): z.infer<typeof conversationSchema> {
  return { ...rest, created: isoTime(created), updated: isoTime(updated) }
}

function shownTurn({ ts, goal, drifting, ...rest }: TurnRow): z.infer<typeof turnSchema> {
  return {
    ...rest,
    ts: isoTime(ts),
    ...(goal === null ? {} : { goal }),
    drifting: drifting === 1,
  }
}
