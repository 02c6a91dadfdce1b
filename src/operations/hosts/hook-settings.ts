import { z } from 'zod'
import { hookModes } from '../../core/hosts/hook-settings.ts'
import { mostUnknownEvents } from '../../core/hosts/unknown-events.ts'
import { dayMs, isoTime } from '../../core/time.ts'
import { mostTimes } from '../gate/answer-times.ts'
import { badRequest } from '../gate/declaration.ts'
import { idField, time } from '../gate/fields.ts'
import { keyed } from '../gate/operation.ts'

const mode = z.enum(hookModes, `send ${hookModes.join(', ')}, or null`)

const settings = z
  .strictObject({
    mode: z
      .enum(hookModes)
      .describe(
        'observe tells the agent nothing; advise tells it a fact when the run has left its errand; gate also holds commands that cannot be undone while it has.',
      ),
    remind: z.boolean().describe('Whether the errand is told again after a compaction.'),
  })
  .meta({ id: 'HookSettings' })

const runId = idField().optional().describe('The settings of one run, not of the account.')

/** Returns how hooks are answered, and which of their events nobody understood. */
export const readHookSettings = keyed({
  name: 'hooks.read-settings',
  group: 'detector',
  summary: 'How the hooks of hosts are answered.',
  http: { method: 'GET', path: '/v1/hooks' },
  input: z.object({ run_id: runId }),
  output: z.strictObject({
    hooks: settings,
    not_understood: z
      .array(
        z.strictObject({
          host: z.string(),
          name: z.string().describe('The name of the event; nothing of what it held is kept.'),
          count: z.int().min(1),
          last: time,
        }),
      )
      .describe(
        `The events of the account that no reader understood, by host and name: at most ${mostUnknownEvents} names of a host.`,
      ),
    answered: z
      .array(
        z.strictObject({
          host: z.string(),
          answers: z.int().min(1),
          p50_ms: z.number().min(0),
          p99_ms: z.number().min(0),
          last: time.describe('When the newest one was given.'),
        }),
      )
      .describe(
        `How long hooks waited for their answers on this node, by host: half of them, and 99 of 100, at most so long. Of the newest ${mostTimes} answers since the start.`,
      ),
  }),
  refusals: [badRequest],
})(async ({ store, account, answerTimes }, { run_id }) => {
  const unknown = await store.unknownEvents.list(account.id)
  return {
    hooks: await store.hookSettings.of(account.id, run_id ?? ''),
    answered: answerTimes.of(account.id).map((each) => ({ ...each, last: isoTime(each.last) })),
    not_understood: unknown.map((each) => ({ ...each, last: isoTime(each.last) })),
  }
})

/** Changes how hooks are answered. */
export const changeHookSettings = keyed({
  name: 'hooks.change-settings',
  group: 'detector',
  summary: 'Change how the hooks of hosts are answered.',
  description:
    'A field that you leave out keeps its value; null takes it away, so that the account’s or the built-in value counts: mode observe, remind true.',
  http: { method: 'POST', path: '/v1/hooks' },
  input: z.object({
    run_id: runId,
    mode: mode.nullish(),
    remind: z.boolean('send true, false or null').nullish(),
  }),
  output: z.strictObject({ ok: z.literal(true), hooks: settings }),
  refusals: [badRequest],
})(async ({ store, account, tier, now }, { run_id, mode, remind }) => {
  const run = run_id ?? ''
  await store.hookSettings.change(
    account.id,
    run,
    { mode, remind },
    now() + tier.retention_days * dayMs,
  )
  return { ok: true as const, hooks: await store.hookSettings.of(account.id, run) }
})
