import { z } from 'zod'
import { confirmationMail } from '../../core/alerts/confirmation.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import type { Service } from '../gate/context.ts'
import type { DescribedRefusal } from '../gate/declaration.ts'
import { badRequest, describeRefusal } from '../gate/declaration.ts'
import { keyed } from '../gate/operation.ts'
import { countRate } from '../gate/rate-limit.ts'
import { Refusal } from '../gate/refusal.ts'
import { emailField } from './accounts.ts'

/** The path of the link that confirms a mail address. */
export const confirmPath = '/email/confirm'

const linkMs = 24 * hourMs
const linksPerAccount = 10
const linksPerAddress = 5
const retryAfterSeconds = 60

const notConfigured = describeRefusal(
  501,
  'not_configured',
  'Mail is not configured on this server.',
)

const mailNotSent: DescribedRefusal = {
  status: 503,
  words: ['unavailable'],
  when: 'The mail server did not accept the mail.',
  fields: { detail: z.string(), retry_after_s: z.int() },
}

/** Sets or removes the mail address of the account. */
export const setEmail = keyed({
  name: 'me.set-email',
  group: 'account',
  summary: 'Set the mail address of the account, or remove it.',
  description:
    'The server sends a link to a new address. The link is valid for 24 hours, and the address gets no other mail until somebody follows it. To get a new link, send the unconfirmed address again.',
  http: { method: 'POST', path: '/v1/me/email' },
  input: z.object({ email: emailField.nullable().describe('null removes the address.') }),
  output: z.strictObject({
    ok: z.literal(true),
    email: z.string().nullable(),
    verified: z.boolean().describe('Whether somebody has followed the link in the mail.'),
  }),
  refusals: [badRequest, notConfigured, mailNotSent],
})(async (service, { email }) => {
  const { store, account, mail, now } = service
  if (mail === null) {
    throw new Refusal(501, 'not_configured', {
      detail:
        'Mail is not configured. The operator must set PLUMBLINE_SMTP_URL and PLUMBLINE_MAIL_FROM.',
    })
  }
  const answer = (verified: boolean) => ({ ok: true as const, email, verified })
  if (email === null) {
    await store.tx(({ emails }) => emails.set(account.id, null))
    return answer(false)
  }
  const current = await store.emails.of(account.id)
  if (current.verified && current.email === email) return answer(true)
  return {
    outside: async (store) => {
      await countLink(service, email)
      const token = service.newId('confirm')
      await store.tx(async ({ emails, digests }) => {
        await emails.set(account.id, email)
        // With the old token, readers of the old address could stop the mails to the new one.
        if (current.email !== email) await digests.renewToken(account.id, service.newId('digest'))
        const expires = now() + linkMs
        await emails.addLink({ hash: service.hash(token), account: account.id, email, expires })
      })
      const link = `${service.settings.baseUrl()}${confirmPath}?token=${token}`
      const failure = await mail.send({ to: email, ...confirmationMail(link) })
      if (failure === null) return answer(false)
      throw new Refusal(
        503,
        'unavailable',
        {
          detail: `The link was not sent: ${failure}. Send the address again later.`,
          retry_after_s: retryAfterSeconds,
        },
        { 'retry-after': String(retryAfterSeconds) },
      )
    },
  }
})

/** Finds the address that the link with this token confirms; null if the link is not valid any more. */
export function findLinkedEmail({ store, hash, now }: Service, token: string) {
  return store.emails.linked(hash(token), now())
}

/** Confirms the address of a link and returns it; null if the link is not valid any more. */
export function confirmEmail({ store, hash, now }: Service, token: string) {
  return store.tx(({ emails }) => emails.confirm(hash(token), now()))
}

/** Limits the links, so that no caller can use this server to send mails to strangers again and again. */
async function countLink(
  service: Service & { account: { id: string } },
  email: string,
): Promise<void> {
  const { account, hash } = service
  const countIn = (counter: string, limit: number) =>
    countRate(service, { counter, limit, windowMs: dayMs, what: 'links of this kind a day' })
  await countIn(`email-links:${account.id}`, linksPerAccount)
  await countIn(`email-links-to:${hash(email.toLowerCase())}`, linksPerAddress)
}
