import { z } from 'zod'
import type { DescribedRefusal } from './declaration.ts'
import { describeRefusal } from './declaration.ts'

/** The refusal of a call beyond a daily limit. */
export const rateLimitRefusal: DescribedRefusal = {
  status: 429,
  words: ['rate_limit'],
  when: 'The daily limit is used up.',
  fields: { detail: z.string(), retry_after_s: z.int().min(0) },
}

/** The refusal of a call without a valid key. */
export const keyRefusal: DescribedRefusal = {
  status: 401,
  words: ['no_key', 'bad_key'],
  when: 'The request has no key, or its key is unknown, revoked or expired.',
  fields: { detail: z.string().optional() },
}

/** The refusal of a call with a key that may only report events of hooks. */
export const scopeRefusal = describeRefusal(
  403,
  'forbidden',
  'The key may only report events of hooks.',
)

/** The refusal of a change that a page of another origin may have made a browser send. */
export const csrfRefusal = describeRefusal(
  403,
  'csrf',
  'The session of a browser sends the change without its x-plumbline-csrf, or from another origin.',
)

/** The refusal of a call without the operator’s credential. */
export const adminRefusal: DescribedRefusal = {
  ...keyRefusal,
  when: 'The request has no credential, or one that is not the operator’s.',
}

/** The refusal of an idempotency key that another body has used. */
export const replayRefusal = describeRefusal(
  409,
  'idempotency_conflict',
  'An earlier request used the idempotency key with another body.',
)

/** The refusal of a feature that the account’s tier does not include. */
export const paidRefusal: DescribedRefusal = {
  status: 402,
  words: ['upgrade_required'],
  when: 'The tier of the account does not include this feature. In the built-in table that is the tier `ground`.',
  fields: { detail: z.string(), upgrade: z.string() },
}
