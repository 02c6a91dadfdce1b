import { z } from 'zod'
import { readWebhookUrl } from '../../core/alerts/public-url.ts'
import type { Service } from './context.ts'
import type { DescribedRefusal } from './declaration.ts'
import { Refusal } from './refusal.ts'

/** Of an address that events may not be sent to. */
export const invalidWebhook: DescribedRefusal = {
  status: 400,
  words: ['invalid_webhook'],
  when: 'The url of a webhook is missing, not https, or not on a public host.',
  fields: { detail: z.string() },
}

/** The address of a webhook as it was sent; refuses any that `invalidWebhook` speaks of. */
export function requireWebhookUrl(service: Service, sent: unknown): string {
  return readWebhookUrl(sent, service.settings.webhookAllow) ?? refuseWebhook(service)
}

/** Refuses an address, and has the log name the setting that would exempt it. */
export function refuseWebhook({ noteRefusedWebhook }: Pick<Service, 'noteRefusedWebhook'>): never {
  noteRefusedWebhook()
  throw new Refusal(400, 'invalid_webhook', {
    detail: 'Provide an https:// URL on a public host.',
  })
}
