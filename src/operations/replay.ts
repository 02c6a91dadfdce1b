import { parseJson } from '../core/text.ts'
import type { Account } from '../storage/accounts.ts'
import type { Store } from '../storage/store.ts'
import type { Answer, Call, Service } from './operation.ts'
import { Refusal } from './refusal.ts'

const longestKey = 255

/**
 * Works a POST once for each idempotency key of its account and route (a body's `step_id`: of its
 * account and run): the same key and body within 24 hours answers the same bytes, another body is a
 * 409. The work and the record of its answer are one transaction; only good answers are recorded. A
 * second use while the first is under way waits for it. Without a key the work is done as it is.
 */
export async function replayable(
  service: Service,
  call: Call,
  account: Account,
  route: string,
  body: string,
  work: (store: Store) => Promise<Answer>,
): Promise<Answer> {
  const key = call.method === 'POST' ? keyOf(call, route, body) : null
  if (key === null) return work(service.store)
  const bodyHash = service.hash(body)
  return service.store.tx(async (store) => {
    const claim = { account: account.id, ...key, bodyHash, at: service.now() }
    const earlier = await store.idempotency.claim(claim)
    if (earlier === null) {
      const answer = await work(store)
      const json = JSON.stringify(answer.body)
      await store.idempotency.keep(claim, answer.status, json)
      return { ...answer, json }
    }
    if (earlier.bodyHash !== bodyHash) {
      throw new Refusal(409, 'idempotency_conflict', {
        detail:
          'This idempotency key was used with another body; send a new key for a new request.',
      })
    }
    call.headers['idempotent-replayed'] = 'true'
    return { status: earlier.status, body: null, json: earlier.answer }
  })
}

function keyOf(
  { idempotencyKey }: Call,
  route: string,
  body: string,
): { scope: string; key: string } | null {
  if (idempotencyKey !== undefined) {
    return { scope: route, key: checked(idempotencyKey, 'the header Idempotency-Key') }
  }
  if (!body.includes('"step_id"')) return null
  const fields = parseJson(body) as { step_id?: unknown; run_id?: unknown } | null | undefined
  if (typeof fields?.step_id !== 'string') return null
  const run = typeof fields.run_id === 'string' ? fields.run_id : ''
  return { scope: `${route} ${run}`, key: checked(fields.step_id, 'step_id') }
}

function checked(key: string, name: string): string {
  if (key !== '' && key.length <= longestKey) return key
  throw new Refusal(400, 'bad_request', {
    detail: `${name} has ${key.length} characters; send 1 to ${longestKey}.`,
  })
}
