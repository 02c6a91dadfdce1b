import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { operations } from '../src/operations/all.ts'
import type { ClientOptions, ServiceError } from '../src/surfaces/client/calls.ts'
import { type Client, createClient, isServiceError } from '../src/surfaces/client/client.ts'
import { start } from './harness.ts'

const errand = 'refund order 1041'
const other = 'refund order 2093'
/** For tests that are not about the budget: a verdict comes, however busy the machine. */
const patient = { ground: errand, budgetMs: 20_000 }

/** A client of a real service with an account of its own. */
async function startClient(t: TestContext, more: Partial<ClientOptions> = {}) {
  const app = await start(t)
  const { key } = await app.newAccount()
  const client = createClient({ baseUrl: app.url, key, ...more })
  t.after(() => client.close({ timeoutMs: 0 }))
  return { app, client, key }
}

/** A fetch that first asks what is to go wrong with the request, counted from 0. */
function faulty(
  fault: (count: number, path: string, init: RequestInit) => 'none' | 'refused' | 'answer lost',
): typeof fetch {
  let count = 0
  return async (input, init = {}) => {
    const kind = fault(count++, new URL(String(input)).pathname, init)
    if (kind === 'refused') throw new TypeError('fetch failed')
    const response = await fetch(input, init)
    if (kind === 'none') return response
    await response.text()
    throw new TypeError('terminated')
  }
}

/** A server that is not the service; answers where it listens. */
async function standIn(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse, count: number) => void,
): Promise<string> {
  let count = 0
  const server = createServer((request, response) => answer(request, response, count++))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** How a promise ends, as a ServiceError. */
async function faultOf(asked: Promise<unknown>): Promise<ServiceError> {
  const error = await asked.then(
    (answer) => assert.fail(`answered ${JSON.stringify(answer)}`),
    (reason: unknown) => reason,
  )
  assert.ok(isServiceError(error), String(error))
  return error
}

async function goalsOf(client: Client, runId: string): Promise<string[]> {
  const goals: string[] = []
  for await (const { goal } of client.trace({ run_id: runId })) goals.push(goal)
  return goals
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('the methods', () => {
  test('there is one for every public operation, with its credential and idempotency key', async () => {
    const sent: { route: string; key: boolean; idempotent: boolean }[] = []
    const client = createClient({
      baseUrl: 'http://127.0.0.1:1/',
      key: 'pl_live_x',
      fetch: async (input, init) => {
        const headers = new Headers(init?.headers)
        sent.push({
          route: `${init?.method} ${new URL(String(input)).pathname}`,
          key: headers.get('authorization') === 'Bearer pl_live_x',
          idempotent: /^[0-9a-f]{32}$/.test(headers.get('idempotency-key') ?? ''),
        })
        return new Response('{}')
      },
    })
    const methods: ((input: never) => unknown)[] = Object.values(client)
    for (const method of methods) {
      const answer = method({} as never) as Promise<unknown> & AsyncIterable<unknown>
      const first = answer[Symbol.asyncIterator]?.().next() ?? answer
      await first.then?.(null, () => {})
    }
    // What only ever refuses needs no method.
    const asked = operations.filter(
      ({ access, output }) => access !== 'admin' && output.def.type !== 'never',
    )
    const expected = asked.map(({ access, http: { method, path } }) => ({
      route: `${method} ${path}`,
      key: access === 'keyed',
      idempotent: access === 'keyed' && method === 'POST',
    }))
    const unique = new Map(sent.map((each) => [each.route, each]))
    const byRoute = (a: { route: string }, b: { route: string }) => (a.route < b.route ? -1 : 1)
    assert.deepEqual([...unique.values()].sort(byRoute), expected.sort(byRoute))
  })

  test('they answer what the service answers', async (t) => {
    const { client } = await startClient(t)
    const { verdict } = await client.check({ ground: errand, goal: other })
    assert.equal(verdict.reason, 'goal-drift')
    assert.equal((await client.drift({ run_id: 'a', goal: errand })).reason, 'grounded')
    const { results } = await client.driftBatch({
      steps: [
        { run_id: 'a', goal: other },
        { run_id: 'a', goal: errand },
      ],
    })
    assert.deepEqual(
      results.map(({ step, drifting }) => [step, drifting]),
      [
        [2, true],
        [3, false],
      ],
    )
    const outcome = await client.outcome({ run_id: 'a', outcome: 'success', score: 1 })
    assert.equal(outcome.run.outcome, 'success')
    const page = await client.readRun({ run_id: 'a', limit: 2 })
    assert.deepEqual([page.trace.length, page.run.steps], [2, 3])
    assert.deepEqual((await client.listRuns({ drifting: true })).runs, [])
    assert.equal((await client.listRuns()).runs[0]?.run_id, 'a')
    assert.equal((await client.cost()).runs, 1)
    assert.equal((await client.clock()).runs, 1)
    assert.equal((await client.experiment()).verdict, 'too few')
    const corpus = Array.from({ length: 12 }, (_, i) => (i < 6 ? 'limit logins' : 'paint the shed'))
    assert.equal((await client.data({ lines: corpus, window: 6 })).windows.length, 2)
    assert.equal((await client.me()).tier, 'enterprise')
    assert.ok((await client.tiers()).tiers.length > 1)
    assert.equal((await client.deleteRun({ run_id: 'a' })).deleted, 3)
  })

  test('a refusal rejects with its status, word, detail, request id and body', async (t) => {
    const { client, app } = await startClient(t)
    const missing = await faultOf(client.readRun({ run_id: 'no such run' }))
    assert.equal(missing.status, 404)
    assert.equal(missing.word, 'no_run')
    assert.match(missing.detail, /no such run/)
    assert.match(missing.requestId ?? '', /^req_/)
    assert.equal((missing.body as { error: string }).error, 'no_run')
    assert.match(missing.message, /^no_run: /)
    const keyless = await faultOf(createClient({ baseUrl: app.url }).me())
    assert.deepEqual([keyless.status, keyless.word], [401, 'no_key'])
  })

  test('lists are iterables over their pages', async (t) => {
    const { client } = await startClient(t)
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const run_id of names) await client.drift({ run_id, goal: errand })
    for (const goal of ['two', 'three']) await client.drift({ run_id: 'e', goal })
    const runs = await all(client.runs({ limit: 2 }))
    assert.deepEqual(
      runs.map(({ run_id }) => run_id),
      names.toReversed(),
    )
    const trace = await all(client.trace({ run_id: 'e', limit: 1 }))
    assert.deepEqual(
      trace.map(({ goal }) => goal),
      [errand, 'two', 'three'],
    )
    const lines = await all(client.exportRuns())
    assert.deepEqual(
      lines.map((line) => `${line.type} ${line.run_id}`),
      [...['a', 'b', 'c', 'd', 'e'].flatMap((id) => [`run ${id}`, `step ${id}`])].concat(
        'step e',
        'step e',
      ),
    )
    for await (const line of client.exportRuns()) {
      assert.equal(line.type, 'run')
      break
    }
  })

  test('an address or a key that cannot be one is refused at once, the key unseen', () => {
    for (const baseUrl of ['', '127.0.0.1:8787', 'file:///x', 'http://']) {
      assert.throws(() => createClient({ baseUrl }), TypeError, baseUrl)
    }
    assert.throws(
      () => createClient({ baseUrl: 'http://x', key: 'secret\r\nkey' }),
      (error: Error) => !error.message.includes('secret'),
    )
  })
})

describe('retries', () => {
  test('what fails for a while is asked again, a POST with the same key and bytes', async (t) => {
    const seen: string[] = []
    const baseUrl = await standIn(t, async (request, response, count) => {
      const body = (await request.toArray()).join('')
      seen.push(`${request.method} ${request.headers['idempotency-key']} ${body}`)
      if (count === 0) return void request.socket.destroy()
      const status = [0, 502, 503, 504, 429][count] ?? 200
      response.writeHead(status, status === 503 ? { 'retry-after': '0' } : {}).end('{"ok":true}')
    })
    const client = createClient({ baseUrl, key: 'k', retries: 5 })
    await client.outcome({ run_id: 'a', outcome: 'success' })
    assert.equal(seen.length, 6)
    assert.equal(new Set(seen).size, 1)
    await client.outcome({ run_id: 'a', outcome: 'success' })
    assert.equal(new Set(seen).size, 2)
    await client.outcome({ run_id: 'a', outcome: 'success' }, { idempotencyKey: 'mine' })
    assert.match(seen.at(-1) ?? '', /^POST mine /)
  })

  test('nothing is asked twice that could happen twice, or that will not pass', {
    timeout: 20_000,
  }, async (t) => {
    let status = 503
    let asked = 0
    const baseUrl = await standIn(t, (_request, response) => {
      asked++
      response.writeHead(status, status === 429 ? { 'retry-after': '3600' } : {}).end('{}')
    })
    const client = createClient({ baseUrl, key: 'k', retries: 5 })
    const askedBy = async (call: Promise<unknown>) => {
      asked = 0
      assert.equal((await faultOf(call)).status, status)
      return asked
    }
    assert.equal(await askedBy(client.check({ ground: 'a', goal: 'b' })), 1)
    assert.equal(await askedBy(client.deleteRun({ run_id: 'a' })), 1)
    assert.equal(await askedBy(client.me({}, { retries: 1 })), 2)
    for (status of [400, 401, 409, 429, 500]) assert.equal(await askedBy(client.me()), 1)
  })

  test('a signal ends a call, also while it waits to try again', async (t) => {
    const baseUrl = await standIn(t, (request, response) => {
      if (request.url === '/v1/tiers') response.writeHead(503, { 'retry-after': '20' }).end('{}')
    })
    const client = createClient({ baseUrl, key: 'k' })
    for (const call of [client.me, client.tiers]) {
      const stop = new AbortController()
      const asked = call({}, { signal: stop.signal })
      setTimeout(() => stop.abort(new Error('enough')), 50)
      await assert.rejects(asked, /^Error: enough$/)
      await assert.rejects(call({}, { signal: stop.signal }), /^Error: enough$/)
    }
  })

  test('an answer that never comes, never ends or is none rejects', async (t) => {
    const baseUrl = await standIn(t, (request, response) => {
      if (request.url?.startsWith('/v1/drift/runs')) response.writeHead(200).write('{"runs":[')
      if (request.url === '/v1/tiers') response.end('<html>Welcome to the hotel</html>')
      if (request.url === '/v1/check') response.writeHead(500).end('<html>Oops</html>')
      if (request.url === '/v1/export') response.write('{"type":"run"}\n{"type":')
    })
    const client = createClient({ baseUrl, key: 'k', timeoutMs: 250, retries: 0 })
    assert.equal((await faultOf(client.me())).word, 'timeout')
    assert.equal((await faultOf(client.listRuns())).word, 'timeout')
    const unreadable = await faultOf(client.tiers())
    assert.deepEqual([unreadable.word, unreadable.status], ['unreadable', 200])
    const refused = await faultOf(client.check({ ground: 'a', goal: 'b' }))
    assert.deepEqual([refused.word, refused.status], ['unknown', 500])
    assert.equal(refused.body, '<html>Oops</html>')
    const lines = client.exportRuns()[Symbol.asyncIterator]()
    assert.equal((await lines.next()).value?.type, 'run')
    assert.equal((await faultOf(lines.next())).word, 'timeout')
  })
})

describe('a run', () => {
  test('judges steps by the errand, user turns and sub-agents', async (t) => {
    const { client } = await startClient(t)
    const run = client.run({ ...patient, pair: 'p', arm: 'control' })
    assert.equal(run.latest, null)
    const first = await run.step({ goal: other, distance: 8, tokens: 12 })
    assert.deepEqual([first?.drifting, first?.ground, first?.revision], [true, errand, 1])
    const child = run.spawn('helper', { ground: other })
    const helped = await child.step({ goal: other, parentGoal: errand })
    assert.deepEqual([helped?.drifting, helped?.agent_id], [false, 'helper'])
    const moved = await run.userTurn('write the release notes')
    assert.deepEqual([moved?.reason, moved?.revision], ['grounded', 2])
    const next = await run.step({ goal: 'write the release notes' })
    assert.deepEqual([next?.drifting, next?.revision, next?.step], [false, 2, 4])
    assert.equal(run.latest, next)
    const ended = await run.outcome('success', { score: 0.5, note: 'done' })
    assert.deepEqual([ended?.outcome, ended?.score, ended?.note], ['success', 0.5, 'done'])
    assert.deepEqual([ended?.pair, ended?.arm, ended?.tokens], ['p', 'control', 12])
    assert.deepEqual(run.stats, { sent: 5, late: 0, failed: 0, dropped: 0, waiting: 0 })
    const { trace } = await client.readRun({ run_id: run.runId })
    assert.equal(trace[1]?.parent_goal, errand)
  })

  test('declares its plan with the first step', async (t) => {
    const { client } = await startClient(t)
    const run = client.run({ ...patient, plan: ['install redis'] })
    assert.equal((await run.step({ goal: 'begin' }))?.drifting, false)
    const long = client.run({ ...patient, plan: Array(51).fill('install redis') })
    const fault = await faultOf(long.step({ goal: 'begin' }, { throws: true }))
    assert.deepEqual(
      [fault.status, /^plan: /.test(fault.message.replace(/^bad_request: /, ''))],
      [400, true],
      fault.message,
    )
  })

  test('a user turn before the first step is the ground, not the errand from before it', async (t) => {
    const { client } = await startClient(t)
    const run = client.run(patient)
    const [turned, step] = await Promise.all([
      run.userTurn('write the release notes'),
      run.step({ goal: 'write the release notes' }),
    ])
    assert.deepEqual([turned?.ground, turned?.revision], ['write the release notes', 1])
    assert.deepEqual([step?.ground, step?.drifting], ['write the release notes', false])
  })

  test('the errand goes along until a step has frozen it', async (t) => {
    const { client } = await startClient(t)
    const run = client.run(patient)
    assert.equal((await run.step({ goal: ' ' }))?.revision, 0)
    assert.equal(await run.step({ goal: 'x'.repeat(5_000) }), null)
    assert.equal((await run.step({ goal: 'redesign the logo' }))?.ground, errand)
  })

  test('keeps the order of the calls, whoever waits for them, and sends what waits in batches', async (t) => {
    const paths: string[] = []
    const { client } = await startClient(t, {
      fetch: faulty((_count, path) => {
        paths.push(path)
        return 'none'
      }),
    })
    const run = client.run(patient)
    const child = run.spawn('b', { ground: 'something else' })
    const goals = Array.from({ length: 250 }, (_, i) => `limit logins, part ${i}`)
    const verdicts = await Promise.all(
      goals.map((goal, i) => (i % 2 === 0 ? run : child).step({ goal })),
    )
    assert.deepEqual(
      verdicts.map((verdict) => verdict?.step),
      goals.map((_, i) => i + 1),
    )
    assert.deepEqual(await goalsOf(client, run.runId), goals)
    const single = paths.filter((path) => path === '/v1/drift').length
    assert.deepEqual([single, paths.length < 10], [1, true])
    assert.equal(verdicts[0]?.ground, errand)
    assert.equal(verdicts[1]?.ground, 'something else')
  })

  test('sends no batch that is larger than the service takes', async (t) => {
    const { client } = await startClient(t)
    const run = client.run({ ...patient, throws: true })
    const goals = Array.from({ length: 100 }, (_, i) => `${i} ${'界'.repeat(3_900)}`)
    const verdicts = await Promise.all(goals.map((goal) => run.step({ goal })))
    assert.deepEqual([verdicts.length, run.stats.failed], [100, 0])
  })

  test('is taken up again by its id', async (t) => {
    const { client } = await startClient(t)
    await client.run({ ...patient, runId: 'mine' }).step({ goal: 'redesign the logo' })
    const again = await client
      .run({ ...patient, runId: 'mine', ground: 'else' })
      .step({ goal: errand })
    assert.deepEqual([again?.step, again?.ground], [2, errand])
  })

  test('a step at fault fails alone, whatever it was sent with', async (t) => {
    const { client } = await startClient(t)
    const errors: [string, number][] = []
    const run = client.run({ ...patient, onError: ({ word }, lost) => errors.push([word, lost]) })
    const verdicts = await Promise.all([
      run.step({ goal: 'one' }),
      run.step({ goal: 'two' }),
      run.step({ goal: 3 as unknown as string }),
      run.step({ goal: 'four', tokens: -1 }),
      run.step({ goal: 'five', overhead: 1n }),
      run.step(null as unknown as { goal: string }),
      run.step({ goal: 'six' }),
    ])
    assert.deepEqual(
      verdicts.map((verdict) => verdict?.step),
      [1, 2, undefined, undefined, undefined, undefined, 3],
    )
    assert.deepEqual(errors.toSorted(), [
      ['bad_request', 1],
      ['bad_request', 1],
      ['unsent', 1],
      ['unsent', 1],
    ])
    assert.deepEqual(run.stats, { sent: 3, late: 0, failed: 4, dropped: 0, waiting: 0 })
  })

  test('throws only when asked to', async (t) => {
    const { client, app } = await startClient(t)
    const onError = async () => {
      throw new Error('the log is full')
    }
    const run = client.run({ ...patient, onError })
    assert.equal(await run.step({ goal: 'x', tokens: -1 }), null)
    assert.equal(await run.outcome('success'), null)
    assert.equal(await run.outcome('success', { score: 1n as unknown as number }), null)
    assert.equal(
      await run.spawn('b', { ground: 1n as unknown as string }).step({ goal: 'x' }),
      null,
    )
    assert.equal((await faultOf(run.step({ goal: 'x', tokens: -1 }, { throws: true }))).status, 400)
    assert.equal((await faultOf(run.outcome('success', { throws: true }))).word, 'no_run')
    const keyless = createClient({ baseUrl: app.url }).run({ ...patient, throws: true })
    assert.equal((await faultOf(keyless.step({ goal: 'x' }))).word, 'no_key')
    assert.equal(await keyless.step({ goal: 'x' }, { throws: false }), null)
  })

  test('an answer that was lost is asked for again, and no step is logged twice', async (t) => {
    const { client } = await startClient(t, {
      fetch: faulty((count) => (['answer lost', 'refused', 'none'] as const)[count % 3] ?? 'none'),
    })
    const attempts: string[] = []
    const run = client.run({ ...patient, onError: ({ word }, lost) => attempts.push(word + lost) })
    const goals = Array.from({ length: 30 }, (_, i) => `part ${i}`)
    const verdicts = await Promise.all(goals.map((goal) => run.step({ goal })))
    assert.deepEqual(
      verdicts.map((verdict) => verdict?.goal),
      goals,
    )
    const ended = await run.outcome('failure')
    assert.equal(ended?.steps, 30)
    assert.deepEqual(attempts, Array(6).fill('unreachable0'))
  })

  test('goes on after an outage, with everything in order', async (t) => {
    let isAway = true
    const paths: string[] = []
    const { client } = await startClient(t, {
      fetch: faulty((_count, path) => {
        if (!isAway) paths.push(path)
        return isAway ? 'refused' : 'none'
      }),
    })
    const run = client.run({ ground: errand, budgetMs: 20 })
    const goals = ['one', 'two', 'three', 'four']
    for (const goal of goals) assert.equal(await run.step({ goal }), null)
    assert.equal(await run.outcome('unknown'), null)
    assert.deepEqual(run.stats, { sent: 0, late: 5, failed: 0, dropped: 0, waiting: 5 })
    isAway = false
    assert.equal(await run.flush(), true)
    assert.deepEqual(paths, ['/v1/drift', '/v1/drift/batch', '/v1/drift/outcome'])
    assert.deepEqual(run.stats, { sent: 5, late: 5, failed: 0, dropped: 0, waiting: 0 })
    assert.deepEqual([run.latest?.goal, run.latest?.step], ['four', 4])
    assert.deepEqual(await goalsOf(client, run.runId), goals)
    assert.equal((await client.readRun({ run_id: run.runId })).run.outcome, 'unknown')
  })

  test('a full queue lets the oldest go, but never a turn of the user or an outcome', async (t) => {
    let isAway = true
    const { client } = await startClient(t, { fetch: faulty(() => (isAway ? 'refused' : 'none')) })
    const lost: string[] = []
    const run = client.run({
      ground: errand,
      budgetMs: 0,
      maxWaiting: 3,
      onError: ({ word }, count) => count > 0 && lost.push(word),
    })
    // The first is under way, and so no longer in the queue.
    await run.step({ goal: 'one' })
    await run.step({ goal: 'two' })
    await run.userTurn('three')
    for (const goal of ['four', 'five', 'six']) await run.step({ goal })
    const [left] = await Promise.all([run.outcome('success'), run.step({ goal: 'seven' })])
    assert.equal(left, null)
    assert.deepEqual(lost, Array(4).fill('dropped'))
    isAway = false
    await run.flush()
    assert.deepEqual(await goalsOf(client, run.runId), ['one', 'three', 'seven'])
    assert.deepEqual(run.stats, { sent: 4, late: 8, failed: 0, dropped: 4, waiting: 0 })
  })

  test('close delivers what it can, then lets go and takes no more', async (t) => {
    const { client, app, key } = await startClient(t)
    const run = client.run({ ground: errand, budgetMs: 0 })
    for (let i = 0; i < 10; i++) void run.step({ goal: `part ${i}` })
    assert.equal(await client.close(), true)
    assert.equal(run.stats.sent, 10)
    assert.equal(await run.step({ goal: 'late' }), null)
    assert.equal((await faultOf(run.step({ goal: 'late' }, { throws: true }))).word, 'closed')
    assert.equal(run.stats.dropped, 2)

    const fetch = faulty(() => 'refused')
    const away = createClient({ baseUrl: app.url, key, fetch })
    const lost = away.run({ budgetMs: 0 })
    for (const goal of ['one', 'two']) await lost.step({ goal })
    assert.equal(await lost.flush({ timeoutMs: 10 }), false)
    assert.equal(await away.close({ timeoutMs: 10 }), false)
    assert.deepEqual(lost.stats, { sent: 0, late: 2, failed: 0, dropped: 2, waiting: 0 })
  })
})

describe('a run against what is not the service', () => {
  const hostile: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
    hangs: () => {},
    'hangs up': (request) => request.socket.destroy(),
    'hangs up midway': (request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"drifting":')
      setImmediate(() => request.socket.destroy())
    },
    'answers no HTTP': (request) => request.socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
    'answers a page': (_request, response) => response.end('<html>Log in to the hotel</html>'),
    'answers nothing': (_request, response) => response.writeHead(204).end(),
    'answers null': (_request, response) => response.end('null'),
    'answers a list': (_request, response) => response.end('[1, 2]'),
    'answers another object': (_request, response) =>
      response.end('{"drifting":"yes","revision":1}'),
    'answers no results': (_request, response) => response.end('{"results":{"length":1}}'),
    'refuses without a word': (_request, response) => response.writeHead(400).end(),
    'asks to wait for a day': (_request, response) =>
      response.writeHead(429, { 'retry-after': '86400' }).end(),
    'asks to wait for nonsense': (_request, response) =>
      response.writeHead(503, { 'retry-after': '-1e9' }).end('{"error":{},"detail":7}'),
    'redirects in circles': (request, response) =>
      response.writeHead(307, { location: request.url ?? '/' }).end(),
  }
  for (const [name, answer] of Object.entries(hostile)) {
    test(`one that ${name} does not break the loop`, async (t) => {
      const client = createClient({ baseUrl: await standIn(t, answer), key: 'k' })
      const run = client.run({ ground: errand, budgetMs: 100 })
      const steps = ['one', 'two', 'three'].map((goal) => run.step({ goal }))
      assert.deepEqual(await Promise.all(steps), [null, null, null])
      assert.equal(await run.userTurn('x'), null)
      assert.equal(await run.outcome('success'), null)
      await client.close({ timeoutMs: 0 })
      const { sent, failed, dropped, waiting } = run.stats
      assert.deepEqual([sent, failed + dropped, waiting], [0, 5, 0])
    })
  }

  test('a slow one answers late, and the late verdict is there', async (t) => {
    const { app, key } = await startClient(t)
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const client = createClient({
      baseUrl: app.url,
      key,
      fetch: async (input, init) => {
        await held
        return fetch(input, init)
      },
    })
    const run = client.run({ ground: errand, budgetMs: 20 })
    assert.equal(await run.step({ goal: 'redesign the logo' }), null)
    const stop = new AbortController()
    const waiting = run.step({ goal: 'two' }, { signal: stop.signal, budgetMs: 20_000 })
    stop.abort()
    assert.equal(await waiting, null)
    release()
    assert.equal((await run.step({ goal: 'three' }, { budgetMs: 20_000 }))?.step, 3)
    assert.deepEqual(run.stats, { sent: 3, late: 2, failed: 0, dropped: 0, waiting: 0 })
  })
})

describe('time', () => {
  /** A service whose answers come when the test says so. */
  function heldService() {
    const held: (() => void)[] = []
    const client = createClient({
      baseUrl: 'http://127.0.0.1:1',
      key: 'k',
      fetch: (_input, init) =>
        new Promise((resolve) => {
          const { steps } = JSON.parse(String(init?.body)) as { steps?: unknown[] }
          const verdict = { drifting: true, revision: 1 }
          const body = steps === undefined ? verdict : { results: steps.map(() => verdict) }
          held.push(() => resolve(new Response(JSON.stringify(body))))
        }),
    })
    return { client, held }
  }

  test('a step waits 250 ms and no longer, and an outage costs one budget', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { client, held } = heldService()
    const run = client.run()
    const ends: string[] = []
    const step = (name: string, options = {}) =>
      void run
        .step({ goal: name }, options)
        .then((verdict) => ends.push(`${name} ${verdict?.reason}`))
    const later = async (ms: number) => {
      t.mock.timers.tick(ms)
      await turn()
      return ends.splice(0)
    }
    step('one')
    assert.deepEqual(await later(249), [])
    assert.deepEqual(await later(1), ['one undefined'])
    step('two')
    step('three', { budgetMs: 30 })
    assert.deepEqual(await later(1), ['two undefined'])
    assert.deepEqual(await later(28), [])
    assert.deepEqual(await later(1), ['three undefined'])
    assert.deepEqual(run.stats, { sent: 0, late: 3, failed: 0, dropped: 0, waiting: 3 })
    held.shift()?.()
    await turn()
    held.shift()?.()
    await turn()
    assert.deepEqual(run.stats, { sent: 3, late: 3, failed: 0, dropped: 0, waiting: 0 })
    step('four')
    assert.deepEqual(await later(249), [])
    assert.equal(run.latest?.drifting, true)
  })

  test('a budget without end waits for the verdict', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { client, held } = heldService()
    const run = client.run({ budgetMs: Number.POSITIVE_INFINITY })
    const asked = run.step({ goal: 'one' })
    t.mock.timers.tick(9_000)
    held.shift()?.()
    assert.equal((await asked)?.drifting, true)
  })

  test('a wait grows with each failure up to 10 s, by chance, and a flush ends it', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let attempts = 0
    const client = createClient({
      baseUrl: 'http://127.0.0.1:1',
      key: 'k',
      fetch: async () => {
        attempts++
        throw new TypeError('fetch failed')
      },
    })
    const run = client.run({ budgetMs: 0 })
    void run.step({ goal: 'one' })
    const shares: number[] = []
    for (let failure = 0; failure < 12; failure++) {
      const longest = Math.min(250 * 2 ** failure, 10_000)
      let waited = 0
      await turn()
      for (const before = attempts; attempts === before; waited += 10) {
        t.mock.timers.tick(10)
        await turn()
      }
      assert.ok(waited <= longest + 10, `${failure}: ${waited}`)
      shares.push(waited / longest)
    }
    assert.ok(Math.min(...shares) < 0.8 && Math.max(...shares) > 0.2, String(shares))
    void run.flush()
    await turn()
    assert.equal(attempts, 14)
  })

  test('nothing that waits keeps a process alive, but for what somebody awaits', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'plumbline-client-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'agent.ts')
    writeFileSync(
      file,
      `import { createClient } from '${join(process.cwd(), 'src/surfaces/client/client.ts')}'
      const run = createClient({ baseUrl: 'http://127.0.0.1:1', key: 'k' }).run()
      console.log(await run.step({ goal: 'one' }, { budgetMs: 500 }))
      void run.step({ goal: 'two' })
      console.log(await run.flush({ timeoutMs: 500 }), run.stats.waiting)
      process.on('exit', () => console.log('ended'))`,
    )
    const exec = promisify(execFile)
    const { stdout } = await exec(process.execPath, [file], { timeout: 20_000 })
    assert.equal(stdout, 'null\nfalse 2\nended\n')
  })
})

/** Compiled and never run: what a caller may send and gets is what the operations declare. */
export async function compiled(client: Client): Promise<void> {
  const run = client.run({ ground: errand, arm: 'control', detector: 'overlap' })
  const verdict = await run.step({ goal: 'g', parentGoal: 'p', plan: ['a'], tokens: 3 })
  verdict?.reason satisfies string | undefined
  // @ts-expect-error a verdict may be late
  verdict.reason
  // @ts-expect-error a step has a goal
  await run.step({ progress: 'advancing' })
  // @ts-expect-error that is no progress
  await run.step({ goal: 'g', progress: 'flying' })
  // @ts-expect-error the run says which run it is
  await run.step({ goal: 'g', runId: 'other' })
  // @ts-expect-error that is no outcome
  await run.outcome('great')
  // @ts-expect-error that is no arm
  client.run({ arm: 'middle' })
  // @ts-expect-error a run has a name
  await client.deleteRun({ runid: 'a' })
  await client.listRuns({ limit: 3, drifting: false, outcome: 'failure' })
  // @ts-expect-error that is no outcome
  await client.listRuns({ outcome: 'great' })
  // @ts-expect-error an iterable turns the pages by itself
  client.runs({ cursor: 'x' })
  for await (const line of client.exportRuns()) {
    // @ts-expect-error a run has no goal
    if (line.type === 'run') line.goal
    else line.goal satisfies string
  }
}
