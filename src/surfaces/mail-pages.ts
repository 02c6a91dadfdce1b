import { unsubscribePath } from '../jobs/digest.ts'
import { endDigest, hasDigest } from '../operations/digest.ts'
import { confirmEmail, confirmPath, findLinkedEmail } from '../operations/email.ts'
import type { Service } from '../operations/operation.ts'
import { type Exchange, sendText } from './exchange.ts'
import { buttonPage, htmlType, notePage } from './pages.ts'
import { queryOf, type Route } from './route.ts'

const goneTitle = 'This link is no longer good'

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
        const page = buttonPage('Confirm your mail address', `Mail to ${email}?`, 'Yes, confirm')
        sendText(exchange, 200, htmlType, page)
      },
    },
    {
      method: 'POST',
      path: confirmPath,
      async answer(exchange) {
        const email = await confirmEmail(service, tokenOf(exchange))
        if (email === null) return confirmGone(exchange)
        sendText(exchange, 200, htmlType, notePage('Confirmed', `Mail goes to ${email} now.`))
      },
    },
    {
      method: 'GET',
      path: unsubscribePath,
      async answer(exchange) {
        if (!(await hasDigest(service, tokenOf(exchange)))) return digestGone(exchange)
        const page = buttonPage('No more digests', 'Have no digest mailed any more?', 'Stop them')
        sendText(exchange, 200, htmlType, page)
      },
    },
    {
      method: 'POST',
      path: unsubscribePath,
      async answer(exchange) {
        if (!(await endDigest(service, tokenOf(exchange)))) return digestGone(exchange)
        const note = notePage('Stopped', 'No digest is mailed any more.')
        sendText(exchange, 200, htmlType, note)
      },
    },
  ]
}

function confirmGone(exchange: Exchange): void {
  const note = 'It was followed already, replaced by a newer one, or is older than 24 hours.'
  sendText(exchange, 404, htmlType, notePage(goneTitle, note))
}

function digestGone(exchange: Exchange): void {
  const note = 'No digest is mailed by it any more.'
  sendText(exchange, 404, htmlType, notePage(goneTitle, note))
}

function tokenOf({ request }: Exchange): string {
  return new URLSearchParams(queryOf(request.url ?? '')).get('token') ?? ''
}
