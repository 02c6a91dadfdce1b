import { z } from 'zod'
import {
  type AlertConfig,
  alertModeNames,
  alertModes,
  maxRenotifyMinutes,
  noWebhook,
  readAlertConfig,
  severities,
  severityOf,
  signingSecrets,
  targetOf,
} from '../../core/alerts/alerts.ts'
import { attemptEntry, isDelivered } from '../../core/alerts/delivery.ts'
import { type LogEntry, type OutboxEvent, suppressedEntry } from '../../core/alerts/outbox.ts'
import { isoTime, minuteMs } from '../../core/time.ts'
import { alertRequest } from '../../outbound/alert.ts'
import type { AlertSettings } from '../../storage/alerts/alerts.ts'
import type { Keyed } from '../gate/context.ts'
import { lenient } from '../gate/lenient.ts'
import { keyed } from '../gate/operation.ts'
import { countRate } from '../gate/rate.ts'
import { Refusal } from '../gate/refusal.ts'
import { invalidWebhook, refuseWebhook } from '../gate/webhook-url.ts'
import { score } from '../steps/verdict.ts'

const url = z.string()
const modeName = z.enum(alertModeNames)

/** How grave an event is. */
export const severitySchema = z.enum(severities)

const overrideSchema = z.strictObject({
  on: z.boolean().describe('Whether events of this mode are sent.'),
  severity: severitySchema,
  url: url.optional().describe('Where events of this mode go instead.'),
  min_phi: score.optional().describe('In place of the account’s.'),
})

const configSchema = z
  .strictObject({
    url,
    min_phi: score.describe('Events below it are not delivered.'),
    created: z.iso.datetime().describe('When it was last written.'),
    modes: z.partialRecord(modeName, overrideSchema).optional(),
    incidents: z.literal(true).optional(),
    renotify_minutes: z.int().min(1).max(maxRenotifyMinutes).optional(),
  })
  .meta({ id: 'AlertConfig' })

const configBody = z
  .object({
    url: url.describe('https on a public host.'),
    min_phi: score.default(0).optional(),
    modes: z
      .partialRecord(modeName, overrideSchema.partial())
      .optional()
      .describe('What is said of single modes; what cannot be read is left out or defaulted.'),
    incidents: z
      .boolean()
      .default(false)
      .optional()
      .describe(
        'One event when an agent begins to drift for a reason and one when it is back on its errand, instead of one for each step. The log says of the steps between that they are part of it.',
      ),
    renotify_minutes: z
      .int()
      .min(1)
      .max(maxRenotifyMinutes)
      .optional()
      .describe('With `incidents`: tell again of one that goes on for so long.'),
  })
  .meta({ id: 'AlertConfigBody' })

const logEntrySchema = z
  .strictObject({
    ts: z.iso.datetime(),
    run_id: z.string().describe('The conversation, of a dialogue; `test` for a test.'),
    reason: z.string().describe('A drift reason, or `escalation:` and the reason of one.'),
    severity: severitySchema,
    phi: score,
    delivered: z.boolean().describe('Only true when the webhook answered 2xx.'),
    status: z.int().describe('Of the webhook’s answer; 0 when there was none.'),
    detail: z.string().optional().describe('Why it was not delivered.'),
  })
  .meta({ id: 'AlertLogEntry' })

/** What the account says of alerts, and the modes it can say something of. */
export const readAlerts = keyed({
  name: 'alerts.read',
  group: 'operating',
  summary: 'Where drift is reported to, and the drift modes.',
  http: { method: 'GET', path: '/v1/alerts' },
  input: z.object({}),
  output: z.strictObject({
    alert: configSchema.nullable(),
    modes: z.array(z.strictObject({ reason: modeName, default_severity: severitySchema })),
  }),
})(async ({ store, account }) => {
  const { config } = await store.alerts.settings(account.id)
  const modes = alertModeNames.map((reason) => ({ reason, default_severity: alertModes[reason] }))
  return { alert: config, modes }
})

/** Sets the webhook that drift is reported to. */
export const setAlerts = keyed({
  name: 'alerts.set',
  group: 'operating',
  summary: 'Set the webhook that drift is reported to.',
  description:
    'Replaces what was set before; what is left out goes back to its default. Events that wait go where this says.',
  http: { method: 'POST', path: '/v1/alerts' },
  paid: {
    flag: 'alerts',
    detail: 'Alerts are a group feature; the check and drift history stay free.',
  },
  input: lenient(configBody),
  output: z.strictObject({ ok: z.literal(true), alert: configSchema }),
  refusals: [invalidWebhook],
})(async (service, body) => {
  const { store, account, now, settings } = service
  const at = now()
  const alert = readAlertConfig(body, at, settings.webhookAllow) ?? refuseWebhook(service)
  await store.tx(({ alerts }) => alerts.setConfig(account.id, alert, at))
  return { ok: true as const, alert }
})

/** Has drift reported nowhere. */
export const deleteAlerts = keyed({
  name: 'alerts.delete',
  group: 'operating',
  summary: 'Stop reporting drift.',
  description: 'Events that wait are not sent any more. The log stays.',
  http: { method: 'DELETE', path: '/v1/alerts' },
  input: z.object({}),
  output: z.strictObject({ ok: z.literal(true) }),
})(async ({ store, account, now }) => {
  await store.tx(({ alerts }) => alerts.setConfig(account.id, null, now()))
  return { ok: true as const }
})

/** What became of the last events. */
export const readAlertLog = keyed({
  name: 'alerts.log',
  group: 'operating',
  summary: 'The last 50 attempts and suppressions of 30 days, newest first.',
  http: { method: 'GET', path: '/v1/alerts/log' },
  input: z.object({}),
  output: z.strictObject({ log: z.array(logEntrySchema) }),
})(async ({ store, account, now }) => {
  const log = await store.alerts.log(account.id, now())
  return { log: log.map(shownEntry) }
})

/** Sends a test event and waits for what becomes of it. */
export const testAlerts = keyed({
  name: 'alerts.test',
  group: 'operating',
  summary: 'Send a test event and tell what became of it.',
  description:
    'One attempt, at most 5 seconds, 30 tests a minute. It passes what mutes the mode `stalled` and what its phi would hold back.',
  http: { method: 'POST', path: '/v1/alerts/test' },
  paid: { flag: 'alerts', detail: 'Alerts are a group feature.' },
  input: lenient(z.object({})),
  output: z.strictObject({
    ok: z.literal(true).describe('Only says that the test was made.'),
    delivered: z.boolean(),
    status: z.int(),
    detail: z.string().describe('Empty when it was delivered.'),
  }),
  refusals: [
    {
      status: 400,
      words: ['no_config'],
      when: 'No webhook is set.',
      fields: { detail: z.string() },
    },
  ],
})(async (context) => {
  const { config, ...settings } = await context.store.alerts.settings(context.account.id)
  if (config === null) {
    throw new Refusal(400, 'no_config', {
      detail: 'Set a webhook first: POST /v1/alerts { url }',
    })
  }
  // A test makes this server send a request wherever the caller wants.
  await countRate(context, {
    counter: `alert-tests:${context.account.id}`,
    most: testsPerMinute,
    perMs: minuteMs,
    what: 'tests a minute',
  })
  return {
    outside: async (store) => {
      const entry = await attemptTest(context, { ...settings, config })
      await store.tx(({ alerts }) => alerts.addToLog(context.account.id, entry))
      const { delivered, status, detail } = entry
      return { ok: true as const, delivered, status, detail: detail ?? '' }
    },
  }
})

const testsPerMinute = 30

const testedReason = 'stalled'

function testEvent(config: AlertConfig, ts: number): OutboxEvent {
  return {
    ts,
    run_id: 'test',
    goal: 'test alert',
    reason: testedReason,
    severity: severityOf(config, testedReason),
    phi: 0.62,
    advice: 'The webhook is wired: alerts of drift will arrive here.',
    incident: null,
  }
}

async function attemptTest(
  { account, settings, webhooks, newId, now }: Keyed,
  { config, secrets }: AlertSettings & { config: AlertConfig },
): Promise<LogEntry> {
  const at = now()
  const event = testEvent(config, at)
  const target = targetOf(config, testedReason, settings.webhookAllow)
  if (target === null) return suppressedEntry(event, at, noWebhook)
  const request = alertRequest({
    url: target,
    account: account.id,
    id: newId('msg'),
    event,
    secrets: signingSecrets(secrets, at),
    at,
  })
  const answer = await webhooks.sendTest(request)
  return attemptEntry(event, at, answer)
}

function shownEntry({ ts, detail, ...entry }: LogEntry): z.infer<typeof logEntrySchema> {
  return {
    ts: isoTime(ts),
    ...entry,
    ...(detail === null || isDelivered(entry.status) ? {} : { detail }),
  }
}
