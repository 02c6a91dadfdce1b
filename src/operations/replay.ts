import { defaultRunId, maxIdLength } from '../core/drift.ts'
import { parseJson } from '../core/text.ts'
import type { Store } from '../storage/store.ts'
import type { Answer, Call, Operation, Service } from './operation.ts'
import { Refusal } from './refusal.ts'

const longestKey = 255

/**
 * Works a POST once for each idempotency key of its account and route (a body's `step_id`: of its
 * account and run): the same key and body within 24 hours answers the same bytes, another body is a
 * 409. The work and the record of its answer are one transaction; only good answers are recorded. A
 * second use while the first is under way waits for it. Without a key the work is done as it is.
 * An answer that holds a secret is kept sealed, since nothing stored may give a key away.
 */
export async function replayable(
  service: Service,
  call: Call,
  account: string,
  { http, secret }: Pick<Operation, 'http' | 'secret'>,
  body: string,
  work: (store: Store) => Promise<Answer>,
): Promise<Answer> {
  const key = call.method === 'POST' ? keyOf(call, http.path, body) : null
  if (key === null) return work(service.store)
  // Some bodies are read by what the parameters say of them, so those are part of the request.
  const bodyHash = service.hash(JSON.stringify(call.query) + body)
  const seal = secret === undefined ? undefined : call.credential
  return service.store.tx(async (store) => {
    const claim = { account, ...key, bodyHash, at: service.now() }
    const earlier = await store.idempotency.claim(claim)
    if (earlier === null) {
      const answer = await work(store)
      const json = JSON.stringify(answer.body)
      const kept = seal === undefined ? json : service.seal(json, seal)
      await store.idempotency.keep(claim, answer.status, kept)
      return { ...answer, json }
    }
    if (earlier.bodyHash !== bodyHash) {
      throw conflict(
        'This idempotency key was used with another body; send a new key for a new request.',
      )
    }
    const json = seal === undefined ? earlier.answer : service.unseal(earlier.answer, seal)
    if (json === null) {
      throw conflict(
        'This idempotency key was used with another credential, and only that one is shown the secret it was answered.',
      )
    }
    call.headers['idempotent-replayed'] = 'true'
    return { status: earlier.status, body: null, json }
  })
}

function conflict(detail: string): Refusal {
  return new Refusal(409, 'idempotency_conflict', { detail })
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
  const run = typeof fields.run_id === 'string' ? fields.run_id : defaultRunId
  // A longer id is refused by the work; before that it would not fit PostgreSQL's index.
  const scope = `${route} ${run.slice(0, maxIdLength)}`
  return { scope, key: checked(fields.step_id, 'step_id') }
}

function checked(key: string, name: string): string {
  if (key !== '' && key.length <= longestKey) return key
  throw new Refusal(400, 'bad_request', {
    detail: `${name} has ${key.length} characters; send 1 to ${longestKey}.`,
  })
}
