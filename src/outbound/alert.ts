import { alertMessage } from '../core/alerts/alert-message.ts'
import type { OutboxEvent } from '../core/alerts/outbox.ts'
import { signatureHeaders, type WebhookRequest } from './webhook.ts'

/** An event on its way to a webhook. */
export interface SentAlert {
  url: string
  account: string
  /** Stays the same however often the event is sent. */
  id: string
  event: OutboxEvent
  /** What signs it; none leaves it unsigned. */
  secrets: readonly string[]
  /** When it is sent, milliseconds since 1970. */
  at: number
}

/** The request that tells a webhook of an event, in the form its host reads. */
export function alertRequest(alert: SentAlert): WebhookRequest {
  const { url, account, id, event, secrets, at } = alert
  const { body, structured } = alertMessage(url, account, event)
  const timestampS = Math.floor(at / 1000)
  const headers =
    structured && secrets.length > 0 ? signatureHeaders({ id, timestampS, body, secrets }) : {}
  return { url, account, body, headers }
}
