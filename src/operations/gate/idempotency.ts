import type { LoggedStep } from '../../core/runs/batch.ts'
import type { Entry } from '../../core/runs/entry.ts'
import { maxIdLength } from '../../core/runs/field-reader.ts'
import { defaultRunId } from '../../core/runs/step-request.ts'
import { parseJson, wellFormed } from '../../core/text.ts'
import { commitUnknown, isUnavailable } from '../../storage/database/database.ts'
import {
  bodyHashOf,
  isSameBody,
  keyOfClaim,
  type StoredAnswer,
} from '../../storage/database/idempotency.ts'
import type { Store } from '../../storage/store.ts'
import type { Service } from './context.ts'
import type { Answer, Call, Operation, Outside, ReadRequest, Repeats } from './declaration.ts'
import { Refusal } from './refusal.ts'

const longestKey = 255

/** The owner of a `step_id` by default: the run. */
const ofRun: NonNullable<Repeats['stepsOf']> = { field: 'run_id', unnamed: defaultRunId }

/** The pause between two looks for the answer of the first request in flight, and the number of looks. */
const askEveryMs = 100
const asksAtMost = 100

/**
 * Does the work of a POST once for each idempotency key of its account and route. A `step_id` in the body is
 * such a key within its account and run, or within the owner that `stepsOf` names. For 24 hours the same key
 * and body get the same bytes; another body gets a 409. One transaction does the work and stores its answer.
 * Refusals are not stored. A second request with the key waits while the first is in flight.
 *
 * Work that only logs steps shares a transaction with other requests. Work that continues outside of
 * transactions claims its key in one transaction and stores its answer in another. If the process dies in
 * between, the key is free after a minute. An answer with a secret is stored sealed, so that a reader of the
 * database cannot see it.
 */
export async function replayable(
  service: Service,
  call: Call,
  account: string,
  operation: Pick<Operation, 'http' | 'secret' | 'read'> & Repeats,
  received: ReadRequest,
  work: (store: Store) => Promise<Answer | Outside<Answer>>,
): Promise<Answer> {
  const { secret, logs } = operation
  const key = call.method === 'POST' ? keyOf(call, operation, received) : null
  if (key === null) return settled(await work(service.store), service.store)
  // For some operations the parameters decide how the body is read, so the hash covers both.
  const { content, ...named } = key
  const bytes = service.hash(JSON.stringify(call.query) + received.body)
  const bodyHash = bodyHashOf(bytes, content === null ? null : service.hash(content))
  const seal =
    secret === undefined ? undefined : (call.credential ?? call.browser?.().session ?? undefined)
  const claim = { account, ...named, bodyHash, at: service.now() }

  async function keep(store: Store, answer: Answer): Promise<Answer> {
    const json = JSON.stringify(answer.body)
    const kept = seal === undefined ? json : service.seal(json, seal)
    await store.idempotency.keep([{ claim, status: answer.status, answer: kept }])
    return { ...answer, json }
  }

  function replay(earlier: StoredAnswer): Answer {
    if (!isSameBody(earlier.bodyHash, bodyHash)) {
      throw conflict(
        'This idempotency key was used with another body; send a new key for a new request.',
      )
    }
    const json = seal === undefined ? earlier.answer : service.unseal(earlier.answer, seal)
    if (json === null) {
      throw conflict(
        'This idempotency key was used with another credential. Its answer holds a secret, which the server shows to that credential only.',
      )
    }
    call.headers['idempotent-replayed'] = 'true'
    return { status: earlier.status, body: null, json }
  }

  /**
   * Runs the work until it logs, hands its steps to the queue of steps, and finishes the answer inside the
   * transaction of the queue. Returns null if the work needs a transaction of its own.
   */
  async function logWithOthers(): Promise<Answer | null> {
    let own: Answer | null = null
    let hasLogged = false
    const ended = await new Promise<StoredAnswer | 'worked' | 'apart'>((resolve, reject) => {
      const log = (entries: readonly Entry[]) =>
        new Promise<LoggedStep[]>((goOn) => {
          const answer = (logged: readonly LoggedStep[]) => {
            goOn([...logged])
            return answered
          }
          hasLogged = true
          service.store.logOnce(entries, { claim, answer }).then(resolve, reject)
        })
      // A work that calls `tx` fails here. It runs again, in a transaction of its own.
      const tx = () => Promise.reject(new Error('a work that needs a transaction of its own'))
      const answered = work({ ...service.store, log, tx }).then((answer) => {
        if ('outside' in answer) throw new Error('a work that logs steps goes on outside')
        if (!hasLogged) reject(new Error('a work that declares that it logs steps has logged none'))
        const json = JSON.stringify(answer.body)
        own = { ...answer, json }
        return { status: answer.status, answer: json }
      })
      // A refusal before the first log may stand against a stored answer of this key, so look for it first.
      answered.catch(() => resolve('apart'))
    })
    if (ended === 'apart') return null
    return ended === 'worked' ? own : replay(ended)
  }

  if (logs === true) {
    const answer = await logWithOthers()
    if (answer !== null) return answer
  }
  for (let asked = 0; asked < asksAtMost; asked++) {
    const worked = await service.store.tx(async (store) => {
      const claims = [{ ...claim, at: service.now() }]
      const earlier = (await store.idempotency.claim(claims)).get(keyOfClaim(claim))
      if (earlier === undefined) {
        const answer = await work(store)
        return 'outside' in answer ? answer : keep(store, answer)
      }
      return earlier.status === 0 && isSameBody(earlier.bodyHash, bodyHash) ? null : replay(earlier)
    })
    if (worked !== null && !('outside' in worked)) return worked
    if (worked !== null) return finishOutside(worked)
    await new Promise((next) => setTimeout(next, askEveryMs))
  }
  throw conflict('The first request with this idempotency key is still in flight; try again later.')

  async function finishOutside({ outside }: Outside<Answer>): Promise<Answer> {
    try {
      const answer = await afterCommit(outside(service.store))
      return await afterCommit(service.store.tx((store) => keep(store, answer)))
    } catch (error) {
      // If releasing the key fails, it is free again after a minute.
      await service.store.tx(({ idempotency }) => idempotency.release(claim)).catch(() => {})
      throw error
    }
  }
}

/** Resolves to the answer of a work after its part outside of transactions, if it has one. */
export function settled(worked: Answer | Outside<Answer>, store: Store): Promise<Answer> | Answer {
  return 'outside' in worked ? afterCommit(worked.outside(store)) : worked
}

/** Awaits work that follows a commit. If the database becomes unavailable, the error says that data may be stored. */
async function afterCommit<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw isUnavailable(error) ? commitUnknown(error) : error
  }
}

/** The refusal of a key that was used with another body or credential, or is still in flight. */
export function conflict(detail: string): Refusal {
  return new Refusal(409, 'idempotency_conflict', { detail })
}

/** Returns the idempotency key of a request, from its header or the `step_id` of its body; null without one. */
function keyOf(
  { idempotencyKey }: Call,
  { http, read, stepsOf = ofRun, contentOf }: Pick<Operation, 'http' | 'read'> & Repeats,
  { body, sent }: ReadRequest,
): { scope: string; key: string; content: string | null } | null {
  if (idempotencyKey !== undefined) {
    const key = checkedKey(idempotencyKey, 'the header Idempotency-Key')
    return { scope: http.path, key, content: null }
  }
  // An operation with its own `read` may have dropped the field, so parse the body again.
  const json = read === undefined ? sent : parseJson(body)
  const fields = json as Record<string, unknown> | null | undefined
  if (typeof fields?.step_id !== 'string') return null
  const { field, unnamed } = stepsOf
  const name = fields[field]
  const owner = typeof name === 'string' ? name : unnamed
  // The work refuses a longer id later, but the claim comes first, and PostgreSQL's index cannot hold it.
  const scope = scopeOfSteps(http.path, owner.slice(0, maxIdLength))
  return { scope, key: checkedKey(fields.step_id, 'step_id'), content: contentOf?.(fields) ?? null }
}

/** The scope in which the `step_id`s of a run, or of another owner, are unique. */
export function scopeOfSteps(route: string, owner: string): string {
  return wellFormed(`${route} ${owner}`)
}

/** Returns a key of 1 to 255 characters in its stored form. Refuses any other key (400). */
export function checkedKey(key: string, name: string): string {
  if (key !== '' && key.length <= longestKey) return wellFormed(key)
  throw new Refusal(400, 'bad_request', {
    detail: `${name} has ${key.length} characters; send 1 to ${longestKey}.`,
  })
}
