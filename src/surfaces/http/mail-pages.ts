import { unsubscribePath } from '../../jobs/digest.ts'
import { confirmEmail, confirmPath, findLinkedEmail } from '../../operations/account/email.ts'
import type { Service } from '../../operations/gate/context.ts'
import { endDigest, hasDigest } from '../../operations/operating/digest.ts'
import type { Exchange } from './exchange.ts'
import { buttonPage, notePage, sendPage } from './pages.ts'
import { queryOf, type Route } from './route.ts'

const goneTitle = 'This link is no longer valid'

/**
 * The pages behind the links of mails. To follow one is to press its button: scanners open the links
 * of a mail before anybody has read it.
 */
export function mailRoutes(service: Service): Route[] {
  return [
    {
      method: 'GET',
      path: confirmPath,
      async answer(exchange) {
        const email = await findLinkedEmail(service, tokenOf(exchange))
        if (email === null) return confirmGone(exchange)
        const page = buttonPage(
          'Confirm your mail address',
          `Send your mail to ${email}?`,
          'Yes, confirm',
        )
        sendPage(exchange, 200, page)
      },
    },
    {
      method: 'POST',
      path: confirmPath,
      async answer(exchange) {
        const email = await confirmEmail(service, tokenOf(exchange))
        if (email === null) return confirmGone(exchange)
        sendPage(exchange, 200, notePage('Confirmed', `Mail goes to ${email} now.`))
      },
    },
    {
      method: 'GET',
      path: unsubscribePath,
      async answer(exchange) {
        if (!(await hasDigest(service, tokenOf(exchange)))) return digestGone(exchange)
        const page = buttonPage('No more digests', 'Stop the digest emails?', 'Stop them')
        sendPage(exchange, 200, page)
      },
    },
    {
      method: 'POST',
      path: unsubscribePath,
      async answer(exchange) {
        if (!(await endDigest(service, tokenOf(exchange)))) return digestGone(exchange)
        const note = notePage('Stopped', 'You get no more digest emails.')
        sendPage(exchange, 200, note)
      },
    },
  ]
}

function confirmGone(exchange: Exchange): void {
  const note = 'It was used already, a newer link has replaced it, or it is older than 24 hours.'
  sendPage(exchange, 404, notePage(goneTitle, note))
}

function digestGone(exchange: Exchange): void {
  const note = 'The digest emails of this link have already stopped.'
  sendPage(exchange, 404, notePage(goneTitle, note))
}

function tokenOf({ request }: Exchange): string {
  return new URLSearchParams(queryOf(request.url ?? '')).get('token') ?? ''
}
