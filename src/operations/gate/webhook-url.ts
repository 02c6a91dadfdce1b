import { readWebhookUrl } from '../../core/alerts/public-url.ts'
import type { Service } from './context.ts'
import { describeRefusal } from './declaration.ts'
import { Refusal } from './refusal.ts'

/** The refusal of a webhook's url. */
export const invalidWebhook = describeRefusal(
  400,
  'invalid_webhook',
  'The url of a webhook is missing, not https, or not on a public host.',
)

/** Reads the url of a webhook. Refuses a url that events may not be sent to (400). */
export function requireWebhookUrl(service: Service, sent: unknown): string {
  return readWebhookUrl(sent, service.settings.webhookAllow) ?? refuseWebhook(service)
}

/** Refuses the url of a webhook, and logs the setting that exempts hosts. */
export function refuseWebhook({ logRefusedWebhook }: Pick<Service, 'logRefusedWebhook'>): never {
  logRefusedWebhook()
  throw new Refusal(400, 'invalid_webhook', {
    detail: 'Provide an https:// URL on a public host.',
  })
}
