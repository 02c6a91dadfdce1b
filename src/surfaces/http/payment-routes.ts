import type { FastifyInstance } from 'fastify'
import { takePaymentEvent } from '../../operations/account/payment-events.ts'
import type { Service } from '../../operations/gate/context.ts'
import { type AddressSettings, addressBucket } from './address.ts'
import { readBinary } from './body.ts'
import { type DescribedRoute, errorBody } from './openapi.ts'

/** The parts of the route. */
export interface PaymentRoutesParts {
  service: Service
  addresses: AddressSettings
}

const path = '/v1/stripe/webhook'
const maxBytes = 1024 * 1024

/** The route as the description shows it. */
export const paymentRouteDescribed: DescribedRoute = {
  method: 'post',
  path,
  operationId: 'upgrade.event',
  tag: 'account',
  summary: 'Take an event of Stripe, which moves the tier of an account.',
  description:
    'Register this address at Stripe for checkout.session.completed, checkout.session.async_payment_succeeded and customer.subscription.created, updated and deleted. Each event counts once, and a late one changes nothing.',
  access: 'open',
  parameters: [
    {
      name: 'stripe-signature',
      in: 'header',
      required: true,
      description: 'Signs the bytes of the body; at most 5 minutes old.',
      schema: { type: 'string' },
    },
  ],
  body: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
  answers: {
    200: {
      description: 'Taken.',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['received'],
            properties: { received: { type: 'boolean', const: true } },
          },
        },
      },
    },
    400: {
      description: 'The signature is missing, wrong or old (bad_signature).',
      content: errorBody,
    },
    501: {
      description: 'No payment provider is configured (not_configured).',
      content: errorBody,
    },
    503: {
      description: 'The database cannot be reached. Stripe sends the event again.',
      content: errorBody,
    },
  },
}

/** Serves the route to which the payment provider reports. The signature covers the bytes, so they are read as they come. */
export async function paymentRoutes(
  app: FastifyInstance,
  { service, addresses }: PaymentRoutesParts,
): Promise<void> {
  app.post(path, async (request, reply) => {
    const signature = request.headers['stripe-signature']
    const body = await readBinary(request.raw, reply.raw, maxBytes)
    await takePaymentEvent(service, body, typeof signature === 'string' ? signature : '', {
      request_id: request.id,
      address: addressBucket(addresses, request.raw, request.ip),
    })
    return { received: true }
  })
}
