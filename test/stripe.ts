import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { Stripe } from 'stripe'
import type { Answer, App } from './harness.ts'

/** A stand-in for Stripe: its API on a free loopback port, and the sender of its events. */
export interface StandIn {
  /** The settings of a service that sells by it. */
  readonly env: Record<string, string>
  /** What the API was asked, oldest first: the path and the fields of the form. */
  readonly asked: { path: string; key: string | null; fields: Record<string, string> }[]
  /** The status of the API's answers from now on. */
  status: number
  /** Sends an event to a service as Stripe does. */
  send(app: App, event: object, change?: { secret?: string; ageS?: number }): Promise<Answer>
}

const webhookSecret = 'whsec_the-secret-of-the-endpoint'
const apiKey = 'sk_test_the-key-of-the-account'

/** Starts a stand-in for one test. */
export async function startStripe(t: TestContext): Promise<StandIn> {
  const asked: StandIn['asked'] = []
  const server = createServer(async (request, response) => {
    const fields = Object.fromEntries(new URLSearchParams(await text(request)))
    const path = request.url ?? ''
    asked.push({ path, key: request.headers.authorization ?? null, fields })
    const isGood = standIn.status === 200
    const error = { type: 'invalid_request_error', message: `No such key: ${apiKey}` }
    response.writeHead(standIn.status, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify(
        isGood
          ? { id: `s_${asked.length}`, url: `https://pay.example${path}/${asked.length}` }
          : { error },
      ),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const standIn: StandIn = {
    env: {
      PLUMBLINE_STRIPE_KEY: apiKey,
      PLUMBLINE_STRIPE_WEBHOOK_SECRET: webhookSecret,
      PLUMBLINE_STRIPE_PRICES: '{"solo":"price_solo","group":"price_group","pro":"price_pro"}',
      PLUMBLINE_STRIPE_URL: `http://127.0.0.1:${port}`,
    },
    asked,
    status: 200,
    send(app, event, { secret = webhookSecret, ageS = 0 } = {}) {
      const payload = JSON.stringify(event)
      const timestamp = Math.floor(app.running.service.now() / 1000) - ageS
      const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })
      const headers = { 'stripe-signature': signature, 'content-type': 'application/json' }
      return app.request('POST', '/v1/stripe/webhook', { body: payload, headers })
    },
  }
  return standIn
}

let events = 0

/** An event about the checkout of a subscription. */
export function checkedOut(
  account: string,
  tier: string,
  { subscription = 'sub_1', at = 100, paid = 'paid' } = {},
): object {
  return {
    id: `evt_${++events}`,
    object: 'event',
    type: 'checkout.session.completed',
    created: at,
    data: {
      object: {
        object: 'checkout.session',
        mode: 'subscription',
        client_reference_id: account,
        customer: `cus_${account}`,
        subscription,
        payment_status: paid,
        metadata: { account, tier },
      },
    },
  }
}

/** An event about a subscription itself. */
export function subscribed(
  account: string,
  price: string,
  {
    subscription = 'sub_1',
    at = 200,
    status = 'active',
    kind = 'updated',
    ending = false,
    tier = undefined as string | undefined,
  } = {},
): object {
  return {
    id: `evt_${++events}`,
    object: 'event',
    type: `customer.subscription.${kind}`,
    created: at,
    data: {
      object: {
        id: subscription,
        object: 'subscription',
        customer: `cus_${account}`,
        status,
        cancel_at_period_end: ending,
        metadata: { account, ...(tier === undefined ? {} : { tier }) },
        items: { data: [{ price: { id: price } }] },
      },
    },
  }
}
