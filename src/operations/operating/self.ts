import { z } from 'zod'
import { isoTime } from '../../core/time.ts'
import { logSize, type Self, type SelfEntry, selfFields } from '../../storage/selves.ts'
import { badRequest, describeRefusal } from '../gate/declaration.ts'
import { idField, okAnswer, textField, time } from '../gate/fields.ts'
import { keyed } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'

const defaultIdentity = 'default'

/** The most selves of one account. */
const maxSelves = 1_000

const selfSchema = z
  .strictObject({
    identity: z.string(),
    purpose: z.string().nullable(),
    now: z.string().nullable(),
    mind: z.string().nullable(),
    note: z.string().nullable(),
    created: time,
    updated: time,
  })
  .meta({ id: 'Self' })

const entrySchema = z
  .strictObject({
    ts: time,
    kind: z.enum(selfFields).describe('The name of the field.'),
    text: z.string(),
  })
  .meta({ id: 'SelfEntry' })

/** Returns the notes of an agent for the agent that continues its work. */
export const readSelf = keyed({
  name: 'self.read',
  group: 'operating',
  summary: 'The persisted self of an identity and its log, newest first.',
  http: { method: 'GET', path: '/v1/self' },
  input: z.object({ identity: idField().default(defaultIdentity) }),
  output: z.strictObject({
    self: selfSchema.nullable(),
    log: z.array(entrySchema).max(logSize),
  }),
  refusals: [badRequest],
})(async ({ store, account }, { identity }) => {
  const self = await store.selves.find(account.id, identity)
  const log = self === null ? [] : await store.selves.log(account.id, identity)
  return { self: self === null ? null : shownSelf(self), log: log.map(shownEntry) }
})

/** Merges the sent fields into a self and logs them. */
export const setSelf = keyed({
  name: 'self.set',
  group: 'operating',
  summary: 'Set or update the persisted self. Fields that you leave out keep their values.',
  description: `The server logs each field that you send and keeps the newest ${logSize} entries. null counts as left out. An empty text empties the field.`,
  http: { method: 'POST', path: '/v1/self' },
  input: z.object({
    identity: idField().nullish(),
    purpose: textField().nullish(),
    now: textField().nullish(),
    mind: textField().nullish(),
    note: textField().nullish(),
  }),
  output: z.strictObject({ ok: z.literal(true), self: selfSchema }),
  refusals: [
    badRequest,
    describeRefusal(409, 'conflict', `The account already has ${maxSelves} selves.`),
  ],
})(({ store, account, now }, { identity, ...sent }) =>
  store.tx(async ({ selves }) => {
    const given = Object.fromEntries(
      selfFields.flatMap((field) => {
        const text = sent[field] ?? null
        return text === null ? [] : [[field, text]]
      }),
    )
    const at = now()
    const self = await selves.merge(account.id, identity ?? defaultIdentity, given, at)
    if (self.created === at && (await selves.count(account.id)) > maxSelves) {
      throw new Refusal(409, 'conflict', {
        detail: `An account has at most ${maxSelves} selves. Erase one first with DELETE /v1/self?identity=.`,
      })
    }
    return { ok: true as const, self: shownSelf(self) }
  }),
)

/** Erases a self and its log. */
export const deleteSelf = keyed({
  name: 'self.delete',
  group: 'operating',
  summary: 'Erase the persisted self of an identity and its log.',
  http: { method: 'DELETE', path: '/v1/self' },
  input: z.object({ identity: idField().default(defaultIdentity) }),
  output: okAnswer,
  refusals: [
    badRequest,
    describeRefusal(404, 'no_self', 'The account has no self with this identity.'),
  ],
})(async ({ store, account }, { identity }) => {
  if (await store.tx(({ selves }) => selves.erase(account.id, identity))) {
    return { ok: true as const }
  }
  throw new Refusal(404, 'no_self', {
    detail: 'There is no self with this identity. POST /v1/self creates one.',
  })
})

function shownSelf(self: Self): z.infer<typeof selfSchema> {
  return { ...self, created: isoTime(self.created), updated: isoTime(self.updated) }
}

function shownEntry({ ts, kind, text }: SelfEntry): z.infer<typeof entrySchema> {
  return { ts: isoTime(ts), kind, text }
}
