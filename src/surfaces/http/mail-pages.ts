import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { unsubscribePath } from '../../jobs/digest.ts'
import { confirmEmail, confirmPath, findLinkedEmail } from '../../operations/account/email.ts'
import type { Service } from '../../operations/gate/context.ts'
import { endDigest, hasDigest } from '../../operations/operating/digest.ts'
import { buttonPage, notePage, sendPage } from './pages.ts'

const goneTitle = 'This link is no longer valid'

/**
 * Serves the pages behind the links of mails. To follow one is to press its button: scanners open the
 * links of a mail before anybody has read it.
 */
export async function mailPages(
  app: FastifyInstance,
  { service }: { service: Service },
): Promise<void> {
  app.get(confirmPath, async (request, reply) => {
    const email = await findLinkedEmail(service, tokenOf(request))
    if (email === null) return confirmGone(reply)
    const question = `Send your mail to ${email}?`
    return sendPage(reply, buttonPage('Confirm your mail address', question, 'Yes, confirm'))
  })
  app.post(confirmPath, async (request, reply) => {
    const email = await confirmEmail(service, tokenOf(request))
    if (email === null) return confirmGone(reply)
    return sendPage(reply, notePage('Confirmed', `Mail goes to ${email} now.`))
  })
  app.get(unsubscribePath, async (request, reply) => {
    if (!(await hasDigest(service, tokenOf(request)))) return digestGone(reply)
    return sendPage(reply, buttonPage('No more digests', 'Stop the digest emails?', 'Stop them'))
  })
  app.post(unsubscribePath, async (request, reply) => {
    if (!(await endDigest(service, tokenOf(request)))) return digestGone(reply)
    return sendPage(reply, notePage('Stopped', 'You get no more digest emails.'))
  })
}

function confirmGone(reply: FastifyReply): FastifyReply {
  const note = 'It was used already, a newer link has replaced it, or it is older than 24 hours.'
  return sendPage(reply.code(404), notePage(goneTitle, note))
}

function digestGone(reply: FastifyReply): FastifyReply {
  const note = 'The digest emails of this link have already stopped.'
  return sendPage(reply.code(404), notePage(goneTitle, note))
}

function tokenOf({ query }: FastifyRequest): string {
  const { token } = query as { token?: string | string[] }
  return typeof token === 'string' ? token : ''
}
