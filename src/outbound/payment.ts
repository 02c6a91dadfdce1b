import type { Stripe } from 'stripe'

/** The account of this server at Stripe. */
export interface PaymentSettings {
  /** The secret key of the API. */
  key: string
  /** The secret that signs events. */
  webhookSecret: string
  /** The address of a stand-in for Stripe's API; null for Stripe. */
  url: string | null
}

/** One wish to pay for a tier by the month. */
export interface Order {
  account: string
  tier: string
  /** The id of the price at Stripe. */
  price: string
  email: string | null
  /** The customer that the account is at Stripe; null for a new one. */
  customer: string | null
  /** The page to which the person comes back. */
  returnUrl: string
}

/** The payment provider. No method throws. */
export interface Payment {
  /** Returns the address at which a person pays; null if the provider makes none. */
  checkout(order: Order): Promise<string | null>
  /** Returns the address at which a customer changes or ends a subscription; null if the provider makes none. */
  portal(customer: string, returnUrl: string): Promise<string | null>
  /** Returns an event whose signature is right and at most 5 minutes old; null for any other bytes. */
  readEvent(body: Uint8Array, signature: string): Promise<{ id: string } | null>
}

/** Time, and the log of failures, whose reasons hold no secret. */
export interface PaymentWorld {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
  failed(reason: string): void
}

const timeoutMs = 8_000
const retries = 1
const toleranceS = 300

/** Creates the client of Stripe. */
export function createPayment(
  { key, webhookSecret, url }: PaymentSettings,
  { now, failed }: PaymentWorld,
): Payment {
  let client: Promise<Stripe> | null = null

  /** The library takes half a second to load, which only a server that sells tiers should wait for. */
  function load(): Promise<Stripe> {
    client ??= import('stripe').then(
      ({ Stripe }) =>
        new Stripe(key, {
          timeout: timeoutMs,
          maxNetworkRetries: retries,
          telemetry: false,
          ...(url === null ? {} : placeOf(new URL(url))),
        }),
    )
    return client
  }

  async function addressOf(
    ask: (stripe: Stripe) => Promise<{ url: string | null }>,
  ): Promise<string | null> {
    try {
      return (await ask(await load())).url
    } catch (error) {
      failed(reasonOf(error))
      return null
    }
  }

  return {
    checkout: ({ account, tier, price, email, customer, returnUrl }) =>
      addressOf((stripe) =>
        stripe.checkout.sessions.create({
          mode: 'subscription',
          line_items: [{ price, quantity: 1 }],
          client_reference_id: account,
          metadata: { account, tier },
          subscription_data: { metadata: { account, tier } },
          success_url: returnUrl,
          cancel_url: returnUrl,
          ...(customer !== null ? { customer } : email !== null ? { customer_email: email } : {}),
        }),
      ),
    portal: (customer, returnUrl) =>
      addressOf((stripe) =>
        stripe.billingPortal.sessions.create({ customer, return_url: returnUrl }),
      ),
    async readEvent(body, signature) {
      try {
        const { webhooks } = await load()
        const bytes = Buffer.from(body)
        return webhooks.constructEvent(
          bytes,
          signature,
          webhookSecret,
          toleranceS,
          undefined,
          now(),
        )
      } catch {
        return null
      }
    },
  }
}

function placeOf({ protocol, hostname, port }: URL) {
  const isHttps = protocol === 'https:'
  return {
    protocol: isHttps ? ('https' as const) : ('http' as const),
    host: hostname,
    port: port === '' ? (isHttps ? 443 : 80) : Number(port),
  }
}

/** Stripe's messages may repeat parts of the key and of what was sent. */
function reasonOf(error: unknown): string {
  const { type, code, statusCode } = error as Record<string, unknown>
  const words = [type, code, statusCode].filter((word) => word !== undefined && word !== null)
  return words.length === 0 ? 'the payment provider failed' : words.join(' ')
}
