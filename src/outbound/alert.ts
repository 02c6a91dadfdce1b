import { alertMessage } from '../core/alerts/alert-message.ts'
import type { OutboxEvent } from '../core/alerts/outbox.ts'
import { signatureHeaders, type WebhookRequest } from './webhook.ts'

/** An event to send to a webhook. */
export interface SentAlert {
  url: string
  account: string
  /** The same on every attempt. */
  id: string
  event: OutboxEvent
  /** Where people reach the server, without a trailing slash; null if that is not known. */
  baseUrl: string | null
  /** The signing secrets; an empty list leaves it unsigned. */
  secrets: readonly string[]
  /** Time of sending, milliseconds since 1970. */
  at: number
}

/** Builds the request for an event, in the format of its host. */
export function alertRequest(alert: SentAlert): WebhookRequest {
  const { url, account, id, event, baseUrl, secrets, at } = alert
  const { body, structured } = alertMessage(url, account, event, baseUrl)
  const timestampS = Math.floor(at / 1000)
  const headers =
    structured && secrets.length > 0 ? signatureHeaders({ id, timestampS, body, secrets }) : {}
  return { url, account, body, headers }
}
