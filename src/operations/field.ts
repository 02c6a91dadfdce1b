import { z } from 'zod'
import {
  describeChange,
  emotions,
  hear,
  readUtterance,
  seasons,
  signalAt,
  vocabulary,
  wordsRequired,
} from '../core/field.ts'
import { parseJson, wellFormed } from '../core/text.ts'
import { dayMs } from '../core/time.ts'
import type { Service } from './gate/context.ts'
import type { AddressLimit } from './gate/declaration.ts'
import { badRequest, maxBodyBytes } from './gate/declaration.ts'
import { share, time } from './gate/fields.ts'
import { lenient } from './gate/lenient.ts'
import { limitField } from './gate/list.ts'
import { perAddress } from './gate/operation.ts'
import { Refusal } from './gate/refusal.ts'

/** The daily limit of an address on the field: as many calls as on the stateless check, counted apart. */
export const fieldLimit: AddressLimit = {
  counter: 'field',
  setting: 'PLUMBLINE_CHECK_PER_DAY',
  perDay: ({ checkPerDay }) => checkPerDay,
}

const samplesADay = 1440

/** The field at one time. */
export const signalSchema = z
  .strictObject({
    T: share.describe('Heat.'),
    Q: share.describe('Moisture.'),
    R: share.describe('Rain.'),
    V: share.describe('Vitality.'),
    S: share.describe('Stress.'),
    rotation: z.number().min(-1).max(1),
    emotion: z.enum(Object.keys(emotions) as [keyof typeof emotions, ...(keyof typeof emotions)[]]),
    season: z.enum(seasons),
    hub_signal: share.describe('How lively and at ease the field is.'),
    field_sig: z
      .string()
      .describe('A signature of the weather. Equal weather has equal signatures.'),
    n_nodes: z.int().min(0).describe('The number of speakers in the last 24 hours.'),
    ts: time,
  })
  .meta({ id: 'Signal' })

/** Returns the current signal. */
export const readSignal = perAddress(fieldLimit, {
  name: 'field.signal',
  group: 'field',
  summary: 'The current signal of the shared field.',
  http: { method: 'GET', path: '/v1/signal' },
  input: z.object({}),
  output: signalSchema,
})((service) => currentSignal(service))

/** Returns the signal of the last day. */
export const readHistory = perAddress(fieldLimit, {
  name: 'field.history',
  group: 'field',
  summary: 'The signal of the last day, one sample a minute, oldest first.',
  http: { method: 'GET', path: '/v1/history' },
  input: z.object({
    limit: limitField(samplesADay, 60).describe('The number of samples; the newest ones.'),
  }),
  output: z.strictObject({ series: z.array(signalSchema) }),
  refusals: [badRequest],
})(async ({ store, now }, { limit }) => ({
  series: await store.field.samples(now() - dayMs, limit),
}))

const utterance = z.object({
  words: z
    .union([z.array(z.string()).length(wordsRequired), z.string()])
    .describe(`${wordsRequired} words of: ${Object.values(vocabulary).flat().join(' ')}.`),
  agent: z
    .string()
    .max(200)
    .optional()
    .describe('The name of the speaker. Defaults to the caller’s address.'),
})

/** Speaks eight words into the field. */
export const hearWords = perAddress(fieldLimit, {
  name: 'field.hear',
  group: 'field',
  summary: 'Speak eight vocabulary words into the field.',
  description: 'Send JSON, or the words alone as text/plain.',
  http: { method: 'POST', path: '/v1/hear' },
  input: lenient(utterance) as z.ZodType<Spoken, z.input<typeof utterance>>,
  output: z.strictObject({ reply: z.string(), signal: signalSchema }),
  refusals: [badRequest],
  async read({ readBody, address }) {
    const body = await readBody(maxBodyBytes)
    const sent: Spoken = { body: sentWords(body), address }
    return { body, sent }
  },
})(async (service, { body, address }) => {
  const { words, agent } = (body ?? {}) as { words?: unknown; agent?: unknown }
  const name =
    typeof agent === 'string' && agent.trim() !== '' ? wellFormed(agent).slice(0, 200) : null
  return speak(service, words, name === null ? `address ${address}` : `agent ${name}`)
})

/** Reads a JSON object, whatever its content type, or the words alone. */
function sentWords(body: string): object {
  const sent = parseJson(body)
  return typeof sent === 'object' && sent !== null ? sent : { words: sent ?? body }
}

/** An utterance before it is read, with the address of its caller. */
export interface Spoken {
  body: unknown
  address: string
}

/** Computes the current signal. Changes nothing. */
export async function currentSignal({ store, now, newId }: Service) {
  const { field, seed } = await store.field.read(now(), newId('seed'))
  return signalAt(field, now(), seed)
}

/** Speaks words into the field for `speaker`. Refuses anything but eight words of the vocabulary (400). */
export async function speak({ store, now, newId, hash }: Service, value: unknown, speaker: string) {
  const words = readUtterance(value)
  if ('fault' in words) throw new Refusal(400, 'bad_request', { detail: words.fault })
  return store.tx(async ({ field: stored }) => {
    const at = now()
    const { field, seed } = await stored.lock(at, newId('seed'))
    const after = hear(field, words, hash(speaker).slice(0, 16), at, seed)
    await stored.save(after)
    const signal = signalAt(after, at, seed)
    return { reply: describeChange(signalAt(field, at, seed), signal), signal }
  })
}
