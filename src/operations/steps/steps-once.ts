import { type DriftRequest, readDrift } from '../../core/runs/step-request.ts'
import {
  bodyHashOf,
  type Claim,
  isSameBody,
  keyOfClaim,
} from '../../storage/database/idempotency.ts'
import type { Keyed } from '../gate/context.ts'
import { checkedKey, conflict, scopeOfSteps } from '../gate/idempotency.ts'
import type { Refusal } from '../gate/refusal.ts'

/** The route of single steps. Entries of a batch share the scope of its `step_id`s. */
export const stepRoute = '/v1/drift'

/** A parsed entry of a batch. */
export interface BatchEntry {
  request: DriftRequest
  /** The claim on its `step_id`; null without one. */
  claim: Claim | null
}

/** The parsed fields of a step as canonical JSON, so that two spellings compare equal; null if the body is invalid. */
export function contentOf(body: unknown): string | null {
  const request = readDrift(body)
  return 'fault' in request ? null : JSON.stringify(request)
}

/** Returns the claim of an entry on its `step_id`, or null without one. Refuses an empty or too long key (400). */
export function claimOf(
  { account, hash, now }: Keyed,
  request: DriftRequest,
  sent: unknown,
  place: string,
): Claim | null {
  const { step_id } = sent as { step_id?: unknown }
  if (typeof step_id !== 'string') return null
  return {
    account: account.id,
    scope: scopeOfSteps(stepRoute, request.runId),
    key: checkedKey(step_id, `${place}: step_id`),
    bodyHash: bodyHashOf(null, hash(JSON.stringify(request))),
    at: now(),
  }
}

/**
 * Answers the entries in their order. An entry whose `step_id` was used within 24 hours gets the stored
 * answer; `log` logs the others in the same transaction. Entries with the same `step_id` are logged once. If
 * their bodies differ from each other or from the stored one, the whole batch is refused (409).
 */
export async function logEachOnce<Answer>(
  { store }: Keyed,
  batch: readonly BatchEntry[],
  log: (store: Keyed['store'], requests: readonly DriftRequest[]) => Promise<Answer[]>,
): Promise<Answer[]> {
  const claims = new Map<string, Claim>()
  for (const [index, { claim }] of batch.entries()) {
    if (claim === null) continue
    const key = keyOfClaim(claim)
    const first = claims.get(key) ?? claim
    if (!isSameBody(first.bodyHash, claim.bodyHash)) throw usedOtherwise(index)
    claims.set(key, first)
  }
  return store.tx(async (tx) => {
    const earlier = await tx.idempotency.claim([...claims.values()])
    const answers = new Map<string, Answer>()
    for (const [index, { claim }] of batch.entries()) {
      const kept = claim === null ? undefined : earlier.get(keyOfClaim(claim))
      if (claim === null || kept === undefined) continue
      if (!isSameBody(kept.bodyHash, claim.bodyHash)) throw usedOtherwise(index)
      answers.set(keyOfClaim(claim), JSON.parse(kept.answer))
    }
    const fresh = batch.filter(({ claim }) => {
      if (claim === null) return true
      const key = keyOfClaim(claim)
      return claims.get(key) === claim && !earlier.has(key)
    })
    const logged = await log(
      tx,
      fresh.map(({ request }) => request),
    )
    const own = new Map(fresh.map((entry, place) => [entry, logged[place]]))
    const kept = []
    for (const [{ claim }, answer] of own) {
      if (claim === null || answer === undefined) continue
      answers.set(keyOfClaim(claim), answer)
      kept.push({ claim, status: 200, answer: JSON.stringify(answer) })
    }
    await tx.idempotency.keep(kept)
    return batch.map((entry) => {
      const answer = entry.claim === null ? own.get(entry) : answers.get(keyOfClaim(entry.claim))
      if (answer === undefined) throw new Error('an entry without its answer')
      return answer
    })
  })
}

function usedOtherwise(index: number): Refusal {
  return conflict(
    `steps[${index}]: this step_id was used with another body in its run; send a new one for a new step.`,
  )
}
