import assert from 'node:assert/strict'
import type { TierName } from '../src/core/accounts/tiers.ts'
import type { Answer, App, Holder } from './harness.ts'

/** An account, asking one node. */
export interface Caller extends Holder {
  /** The node it asks. */
  readonly app: App
  request(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
  get(path: string): Promise<Answer>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  /** The verdict on a step that is in order. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  log(step: object): Promise<any>
  /** The verdicts on steps that are in order, logged in batches of one request each. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  logAll(steps: readonly object[]): Promise<any[]>
  /** A run that is there, with its trace. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  read(runId: string): Promise<any>
  /** The same account, asking another node. */
  at(app: App): Caller
}

/** A new account of a service, of tier `enterprise` unless named. */
export async function newCaller(app: App, tier?: TierName): Promise<Caller> {
  return callerOf(app, await app.newAccount(tier))
}

function callerOf(app: App, holder: Holder): Caller {
  const caller: Caller = {
    ...holder,
    app,
    request: (method, path, body, headers = {}) =>
      app.request(method, path, {
        headers: { ...holder.headers, ...headers },
        ...(body === undefined ? {} : { body: textOf(body) }),
      }),
    get: (path) => caller.request('GET', path),
    post: (path, body, headers) => caller.request('POST', path, body, headers),
    async log(step) {
      const answer = await caller.post('/v1/drift', step)
      assert.equal(answer.status, 200, answer.text)
      return answer.body
    },
    async logAll(steps) {
      const results = []
      for (let at = 0; at < steps.length; at += 500) {
        const answer = await caller.post('/v1/drift/batch', { steps: steps.slice(at, at + 500) })
        assert.equal(answer.status, 200, answer.text)
        results.push(...answer.body.results)
      }
      return results
    },
    async read(runId) {
      const answer = await caller.get(
        `/v1/drift/run?limit=10000&run_id=${encodeURIComponent(runId)}`,
      )
      assert.equal(answer.status, 200, answer.text)
      return answer.body
    },
    at: (other) => callerOf(other, holder),
  }
  return caller
}

/** A body as it is sent: text as it is, anything else as JSON. */
function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}
