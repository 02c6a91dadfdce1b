import { z } from 'zod'
import {
  type AlertConfig,
  alertModeNames,
  alertModes,
  maxRenotifyMinutes,
  maxUnattended,
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
import { describeRefusal } from '../gate/declaration.ts'
import { okAnswer, time } from '../gate/fields.ts'
import { lenient } from '../gate/lenient.ts'
import { keyed } from '../gate/operation.ts'
import { countRate } from '../gate/rate-limit.ts'
import { Refusal } from '../gate/refusal.ts'
import { invalidWebhook, refuseWebhook } from '../gate/webhook-url.ts'
import { score } from '../steps/verdict.ts'

const url = z.string()
const modeName = z.enum(alertModeNames)

/** The severity of an event. */
export const severitySchema = z.enum(severities)

const overrideSchema = z.strictObject({
  on: z.boolean().describe('Whether the server sends events of this mode.'),
  severity: severitySchema,
  url: url.optional().describe('Another address for events of this mode.'),
  min_phi: score.optional().describe('The floor of this mode, in place of the account’s.'),
})

const aloneLimit = {
  minutes: z
    .int()
    .min(1)
    .max(maxUnattended.minutes)
    .describe('Minutes without a person, as `last_person_at` of the run tells it.'),
  acts: z
    .int()
    .min(1)
    .max(maxUnattended.acts)
    .describe('Acts since then; a step of which no host shows the acts counts as one.'),
}

const configSchema = z
  .strictObject({
    url,
    min_phi: score.describe('The floor. The server does not deliver events with a lower phi.'),
    created: time.describe('When the settings were last written.'),
    modes: z.partialRecord(modeName, overrideSchema).optional(),
    incidents: z.literal(true).optional(),
    renotify_minutes: z.int().min(1).max(maxRenotifyMinutes).optional(),
    unattended: z.strictObject(aloneLimit).optional(),
  })
  .meta({ id: 'AlertConfig' })

const configBody = z
  .object({
    url: url.describe('An https address on a public host.'),
    min_phi: score.default(0).optional(),
    modes: z
      .partialRecord(modeName, overrideSchema.partial())
      .optional()
      .describe(
        'Overrides for single modes. The server drops unreadable fields or sets them to their defaults.',
      ),
    incidents: z
      .boolean()
      .default(false)
      .optional()
      .describe(
        'Sends one event when an agent begins to drift for a reason and one when it is back on its errand, instead of one for each step. The log marks the steps between them as part of the incident.',
      ),
    renotify_minutes: z
      .int()
      .min(1)
      .max(maxRenotifyMinutes)
      .optional()
      .describe(
        'With `incidents`: the server sends another event when the incident goes on for this many minutes after the last one.',
      ),
    unattended: z
      .object({ ...aloneLimit, acts: aloneLimit.acts.default(1).optional() })
      .optional()
      .describe(
        'Sends one event with the reason `unattended` when a step has reached both numbers, and none again until a person was there. Without it there is no such event.',
      ),
  })
  .meta({ id: 'AlertConfigBody' })

const logEntrySchema = z
  .strictObject({
    ts: time,
    run_id: z
      .string()
      .describe('The run, or for a dialogue its conversation; `test` for a test event.'),
    reason: z
      .string()
      .describe('A drift reason, or `escalation:` and the reason of the escalation.'),
    severity: severitySchema,
    phi: score,
    delivered: z.boolean().describe('True only if the webhook answered 2xx.'),
    status: z.int().describe('The status of the webhook’s answer; 0 if there was none.'),
    detail: z.string().optional().describe('Why the event was not delivered.'),
  })
  .meta({ id: 'AlertLogEntry' })

/** Returns the alert settings of the account, and the drift modes. */
export const readAlerts = keyed({
  name: 'alerts.read',
  group: 'operating',
  summary: 'The webhook that receives drift alerts, and the drift modes.',
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

/** Sets the webhook for drift alerts. */
export const setAlerts = keyed({
  name: 'alerts.set',
  group: 'operating',
  summary: 'Set the webhook that receives drift alerts.',
  description:
    'Replaces the previous settings. A field that you leave out goes back to its default. Waiting events go to the new address. An event says in `state` whether its drift `opened`, `continues` or is `closed`; one that is closed comes only with `incidents`. If PLUMBLINE_BASE_URL is set, `url` is the address of its run in the dashboard.',
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

/** Deletes the webhook for drift alerts. */
export const deleteAlerts = keyed({
  name: 'alerts.delete',
  group: 'operating',
  summary: 'Stop drift alerts.',
  description: 'The server does not send the waiting events any more. The log stays.',
  http: { method: 'DELETE', path: '/v1/alerts' },
  input: z.object({}),
  output: okAnswer,
})(async ({ store, account, now }) => {
  await store.tx(({ alerts }) => alerts.setConfig(account.id, null, now()))
  return { ok: true as const }
})

/** Returns the log of the last events. */
export const readAlertLog = keyed({
  name: 'alerts.log',
  group: 'operating',
  summary: 'The last 50 attempts and suppressions of the last 30 days, newest first.',
  http: { method: 'GET', path: '/v1/alerts/log' },
  input: z.object({}),
  output: z.strictObject({ log: z.array(logEntrySchema) }),
})(async ({ store, account, now }) => {
  const log = await store.alerts.log(account.id, now())
  return { log: log.map(shownEntry) }
})

/** Sends a test event and waits for the result. */
export const testAlerts = keyed({
  name: 'alerts.test',
  group: 'operating',
  summary: 'Send a test event and report the result.',
  description:
    'One attempt of at most 5 seconds; at most 30 tests a minute. The test ignores a muted `stalled` mode and `min_phi`.',
  http: { method: 'POST', path: '/v1/alerts/test' },
  paid: { flag: 'alerts', detail: 'Alerts are a group feature.' },
  input: lenient(z.object({})),
  output: z.strictObject({
    ok: z.literal(true).describe('Says only that the server made the test.'),
    delivered: z.boolean(),
    status: z.int(),
    detail: z.string().describe('Empty if the event was delivered.'),
    latency_ms: z
      .int()
      .min(0)
      .describe('Milliseconds until the webhook answered or the attempt failed.'),
    body: z
      .string()
      .nullable()
      .describe('The body of the request, as it was sent; null if no webhook is valid.'),
  }),
  refusals: [describeRefusal(400, 'no_config', 'No webhook is set.')],
})(async (context) => {
  const { config, ...settings } = await context.store.alerts.settings(context.account.id)
  if (config === null) {
    throw new Refusal(400, 'no_config', {
      detail: 'Set a webhook first: POST /v1/alerts { url }',
    })
  }
  return {
    outside: async (store) => {
      // A test sends a request to any public address that the caller chooses.
      await countRate(context, {
        counter: `alert-tests:${context.account.id}`,
        limit: testsPerMinute,
        windowMs: minuteMs,
        what: 'tests a minute',
      })
      const { entry, latency_ms, body } = await attemptTest(context, { ...settings, config })
      await store.tx(({ alerts }) => alerts.addToLog(context.account.id, entry))
      const { delivered, status, detail } = entry
      return { ok: true as const, delivered, status, detail: detail ?? '', latency_ms, body }
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
    state: 'opened',
    about: null,
  }
}

/** A test attempt: its log entry, and the body of its request, null if there was none to send. */
interface TestAttempt {
  entry: LogEntry
  latency_ms: number
  body: string | null
}

async function attemptTest(
  { account, settings, webhooks, newId, now }: Keyed,
  { config, secrets }: AlertSettings & { config: AlertConfig },
): Promise<TestAttempt> {
  const at = now()
  const event = testEvent(config, at)
  const target = targetOf(config, testedReason, settings.webhookAllow)
  if (target === null) {
    return { entry: suppressedEntry(event, at, noWebhook), latency_ms: 0, body: null }
  }
  const request = alertRequest({
    url: target,
    account: account.id,
    id: newId('msg'),
    event,
    // The event is of no run that the dashboard could show.
    baseUrl: null,
    secrets: signingSecrets(secrets, at),
    at,
  })
  const answer = await webhooks.sendTest(request)
  const { body } = request
  return { entry: attemptEntry(event, at, answer), latency_ms: answer.latencyMs, body }
}

function shownEntry({ ts, detail, ...entry }: LogEntry): z.infer<typeof logEntrySchema> {
  return {
    ts: isoTime(ts),
    ...entry,
    ...(detail === null || isDelivered(entry.status) ? {} : { detail }),
  }
}
