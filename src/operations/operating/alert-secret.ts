import { z } from 'zod'
import { dayMs, isoTime } from '../../core/time.ts'
import { okAnswer, time } from '../gate/fields.ts'
import { lenient } from '../gate/lenient.ts'
import { keyed } from '../gate/operation.ts'

/** How long the previous secret still signs. */
const oldSecretMs = dayMs

/** Creates or replaces the secret that signs events. */
export const rotateAlertSecret = keyed({
  name: 'alerts.rotate-secret',
  group: 'operating',
  summary: 'Create or replace the secret that signs events.',
  description:
    'From then on structured events carry `webhook-id`, `webhook-timestamp` and `webhook-signature` (Standard Webhooks). Texts for chats do not. Only this answer shows the secret. For 24 hours the server also signs events with the previous secret.',
  http: { method: 'POST', path: '/v1/alerts/secret' },
  input: lenient(z.object({})),
  output: z.strictObject({
    ok: z.literal(true),
    secret: z.string().describe('`whsec_` and the base64 of 32 random bytes.'),
    old_secret_until: time.nullable().describe('Null if there was no previous secret.'),
  }),
  secret: true,
})(async ({ store, account, now, newWebhookSecret }) => {
  const until = now() + oldSecretMs
  const secret = newWebhookSecret()
  const old_secret_until = await store.tx(async ({ accounts, alerts }) => {
    // Of two concurrent calls, the second must see the secret of the first as the old one.
    await accounts.lock(account.id)
    const { secrets } = await alerts.settings(account.id)
    const old = secrets === null ? null : secrets.secret
    const next = { secret, old_secret: old, old_secret_until: old === null ? null : until }
    await alerts.setSecrets(account.id, next)
    return next.old_secret_until
  })
  const shown = old_secret_until === null ? null : isoTime(old_secret_until)
  return { ok: true as const, secret, old_secret_until: shown }
})

/** Deletes the secret, so that events are unsigned again. */
export const deleteAlertSecret = keyed({
  name: 'alerts.delete-secret',
  group: 'operating',
  summary: 'Delete the secret and send events unsigned again.',
  http: { method: 'DELETE', path: '/v1/alerts/secret' },
  input: z.object({}),
  output: okAnswer,
})(async ({ store, account }) => {
  await store.tx(({ alerts }) => alerts.setSecrets(account.id, null))
  return { ok: true as const }
})
