import { z } from 'zod'
import { nextDigest } from '../../core/alerts/digest.ts'
import { isoTime, minuteMs } from '../../core/time.ts'
import { digestJob, previewDigest, sendDigest } from '../../jobs/digest.ts'
import type { Digest } from '../../storage/digests.ts'
import type { Keyed, Service } from '../gate/context.ts'
import { badRequest, describeRefusal } from '../gate/declaration.ts'
import { okAnswer, time } from '../gate/fields.ts'
import { lenient } from '../gate/lenient.ts'
import { keyed } from '../gate/operation.ts'
import { countRate } from '../gate/rate-limit.ts'
import { Refusal } from '../gate/refusal.ts'
import { invalidWebhook, requireWebhookUrl } from '../gate/webhook-url.ts'

const paid = {
  flag: 'digest',
  detail: 'Digests begin with the solo tier; the check and drift history stay free.',
} as const
const testsPerMinute = 10
const oneAtATime = describeRefusal(
  409,
  'conflict',
  'Another test or preview of this digest is in flight on this server.',
)
const monday = 1

const cadence = z.enum(['daily', 'weekly'], 'send daily or weekly')
const channel = z.enum(['email', 'webhook'], 'send email or webhook')
const hour = z.int('send a whole hour from 0 to 23').min(0, 'send 0 to 23').max(23, 'send 0 to 23')
const weekday = z
  .int('send 0 for Sunday to 6 for Saturday')
  .min(0, 'send 0 for Sunday to 6 for Saturday')
  .max(6, 'send 0 for Sunday to 6 for Saturday')

const digestSchema = z
  .strictObject({
    cadence,
    hour_utc: hour,
    weekday: weekday.optional().describe('The day of a weekly digest; 0 is Sunday.'),
    channel,
    url: z.string().optional().describe('The address of a webhook.'),
    created: time,
    next: time.describe('The time of the next digest.'),
  })
  .meta({ id: 'Digest' })

const digestBody = z
  .object({
    cadence,
    hour_utc: hour,
    weekday: weekday.default(monday).describe('The day of a weekly digest; 0 is Sunday.'),
    channel,
    url: lenient(
      z.string().describe('The address of a webhook: https on a public host.'),
    ).optional(),
  })
  .meta({ id: 'DigestBody' })

/** Returns the digest settings of the account. */
export const readDigest = keyed({
  name: 'digest.read',
  group: 'operating',
  summary: 'The digest of the account, or null.',
  http: { method: 'GET', path: '/v1/digest' },
  input: z.object({}),
  output: z.strictObject({ digest: digestSchema.nullable() }),
})(async ({ store, account }) => {
  const digest = await store.digests.of(account.id)
  return { digest: digest === null ? null : shownDigest(digest) }
})

/** Sets up a daily or weekly digest. */
export const setDigest = keyed({
  name: 'digest.set',
  group: 'operating',
  summary: 'Set up a daily or weekly digest, by mail or to a webhook.',
  description:
    'Replaces the previous settings. A digest reports the drift since the last one: the worst runs first, with reasons and cost, and the escalations that wait for a person.',
  http: { method: 'POST', path: '/v1/digest' },
  paid,
  input: digestBody,
  output: z.strictObject({ ok: z.literal(true), digest: digestSchema }),
  refusals: [
    badRequest,
    invalidWebhook,
    describeRefusal(
      409,
      'conflict',
      'The channel is mail, and the account has no confirmed address.',
    ),
  ],
})(async (service, { cadence, hour_utc, weekday, channel, url }) => {
  const { store, account, now, newId } = service
  const schedule = { cadence, hour_utc, weekday: cadence === 'weekly' ? weekday : null }
  const created = now()
  const digest = {
    ...schedule,
    channel,
    url: channel === 'webhook' ? requireWebhookUrl(service, url) : null,
    created,
    next: nextDigest(schedule, created),
    token: newId('digest'),
  }
  if (channel === 'email' && !(await store.emails.of(account.id)).verified) {
    throw new Refusal(409, 'conflict', {
      detail:
        'This account has no confirmed mail address. Send one with POST /v1/me/email and follow the link in the mail.',
    })
  }
  await store.tx(async ({ digests, jobs }) => {
    await digests.set(account.id, digest)
    await jobs.add(digestJob(account.id, digest.next))
  })
  return { ok: true as const, digest: shownDigest(digest) }
})

/** Deletes the digest. */
export const deleteDigest = keyed({
  name: 'digest.delete',
  group: 'operating',
  summary: 'Delete the digest.',
  http: { method: 'DELETE', path: '/v1/digest' },
  input: z.object({}),
  output: okAnswer,
})(async ({ store, account }) => {
  await store.tx(({ digests }) => digests.delete(account.id))
  return { ok: true as const }
})

/** Sends the digest now. */
export const testDigest = keyed({
  name: 'digest.test',
  group: 'operating',
  summary: 'Send the digest now and report the result.',
  description: `It covers the day or week so far and does not change the next digest. At most ${testsPerMinute} tests and previews a minute.`,
  http: { method: 'POST', path: '/v1/digest/test' },
  paid,
  input: lenient(z.object({})),
  output: z.strictObject({
    ok: z.literal(true).describe('Says only that the server tried to send it.'),
    delivered: z.boolean(),
    detail: z.string().describe('Empty if the digest was delivered.'),
  }),
  refusals: [describeRefusal(400, 'no_config', 'No digest is set.'), oneAtATime],
})(async (service) => {
  const { account, now, settings } = service
  const digest = await service.store.digests.of(account.id)
  if (digest === null) {
    throw new Refusal(400, 'no_config', {
      detail: 'Set a digest first: POST /v1/digest { cadence, hour_utc, channel }',
    })
  }
  return {
    outside: (store) =>
      alone(service, async () => {
        const parts = { ...service, ...settings, store }
        const { sendTest } = service.webhooks
        const wholePeriod = { ...digest, sent_until: null }
        const outcome = await sendDigest(parts, sendTest, account.id, wholePeriod, now())
        return { ok: true as const, ...outcome }
      }),
  }
})

/** Does what reads all runs of the account, not too often (429) and not twice at once (409). */
async function alone<T>(service: Keyed, work: () => Promise<T>): Promise<T> {
  const { account, digestTests } = service
  await countRate(service, {
    counter: `digest-tests:${account.id}`,
    limit: testsPerMinute,
    windowMs: minuteMs,
    what: 'tests and previews a minute',
  })
  const end = digestTests.begin(account.id)
  if (end === null) {
    throw new Refusal(409, 'conflict', {
      detail: 'A test or preview of this digest is in flight; wait for its answer.',
    })
  }
  try {
    return await work()
  } finally {
    end()
  }
}

/** Shows what a digest would say that is sent now. */
export const showDigest = keyed({
  name: 'digest.preview',
  group: 'operating',
  summary: 'What a digest would say that is sent now.',
  description: `In the words of the mail, of the day or week up to now. No digest has to be set, and nothing is sent. At most ${testsPerMinute} tests and previews a minute.`,
  http: { method: 'GET', path: '/v1/digest/preview' },
  input: z.object({
    cadence: cadence.optional().describe('That of the digest unless named, or daily.'),
  }),
  output: z.strictObject({ subject: z.string(), text: z.string() }),
  refusals: [badRequest, oneAtATime],
})(async (service, { cadence }) => {
  const { account, now, settings } = service
  return {
    outside: (store) =>
      alone(service, async () => {
        const wanted = cadence ?? (await store.digests.of(account.id))?.cadence ?? 'daily'
        const parts = { ...settings, store }
        const { subject, text } = await previewDigest(parts, account.id, wanted, now())
        return { subject, text }
      }),
  }
})

/** Whether the token is that of a digest's mails. */
export async function hasDigest({ store }: Service, token: string): Promise<boolean> {
  return (await store.digests.accountOf(token)) !== null
}

/** Deletes the digest whose mails carry this token. Returns whether there was one. */
export function endDigest({ store }: Service, token: string): Promise<boolean> {
  return store.tx(async ({ digests }) => {
    const account = await digests.accountOf(token)
    if (account !== null) await digests.delete(account)
    return account !== null
  })
}

function shownDigest(digest: Omit<Digest, 'sent_until'>): z.infer<typeof digestSchema> {
  const { cadence, hour_utc, weekday, channel, url, created, next } = digest
  return {
    cadence,
    hour_utc,
    ...(weekday === null ? {} : { weekday }),
    channel,
    ...(url === null ? {} : { url }),
    created: isoTime(created),
    next: isoTime(next),
  }
}
