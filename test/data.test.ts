import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onEachDatabase } from './backends.ts'
import { type Answer, start } from './harness.ts'
import { verifies } from './verifies.ts'

const billing = Array.from(
  { length: 40 },
  (_, line) => `refund the card payment of invoice ${line % 5}`,
)
const garden = Array.from(
  { length: 30 },
  (_, line) => `water the tomato seed in compost ${line % 5}`,
)
const lines = [...billing, ...garden]

/** A service and a way to send it a body under a key. */
async function startKeyed(t: TestContext, env: Record<string, string> = {}) {
  const app = await start(t, { env })
  const holder = await app.newAccount()
  return {
    app,
    send(
      body: string | object,
      contentType = 'application/json',
      { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
    ): Promise<Answer> {
      return app.request('POST', `/v1/data${query}`, {
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { ...holder.headers, 'content-type': contentType, ...headers },
      })
    },
  }
}

function detailOf(answer: Answer): string {
  assert.equal(answer.status, 400, answer.text)
  assert.deepEqual(Object.keys(answer.body), ['error', 'detail'])
  assert.equal(answer.body.error, 'bad_request')
  return answer.body.detail
}

test('every window is measured against the first', async (t) => {
  verifies('data.windows', 'data.window-fields', 'data.means', 'data.partial')
  const { send } = await startKeyed(t)
  const { status, body } = await send({ lines })
  assert.equal(status, 200)
  const [first, second, third, last, ...none] = body.windows
  assert.deepEqual(none, [])
  assert.deepEqual(first, {
    index: 0,
    from: 0,
    to: 19,
    phi: 0,
    goal_score: 1,
    drifting: false,
    top_new: [],
    top_lost: [],
  })
  assert.deepEqual(second, { ...first, index: 1, from: 20, to: 39 })
  assert.deepEqual([third.index, third.from, third.to, third.drifting], [2, 40, 59, true])
  assert.deepEqual([last.index, last.from, last.to, last.drifting], [3, 60, 69, true])
  assert.deepEqual(third.top_new, ['water', 'tomato', 'seed', 'compost'])
  assert.deepEqual(third.top_lost, ['refund', 'card', 'payment', 'invoice'])
  assert.ok(third.phi > 0.5 && third.goal_score < 0.5)
  assert.deepEqual(body, {
    windows: body.windows,
    first_drift: 2,
    max_phi: Math.max(third.phi, last.phi),
    mean_phi: Number(((third.phi + last.phi) / 3).toFixed(2)),
    tokens: 40 * 7 + 30 * 7,
    unusable_lines: 0,
  })
})

test('the content type says how the body is read', async (t) => {
  verifies('data.forms', 'data.no-column', 'data.window-size')
  const { send } = await startKeyed(t)
  const expected = (await send({ lines, window: 10 })).body
  const text = lines.join('\n')
  const csv = ['id,note', ...lines.map((line, id) => `${id},"${line.replace(' ', '\n')}"`)]
  const rows = lines.map((line) => line.replace(' ', ','))
  const fields = lines.map((note, id) => JSON.stringify({ id, kind: 'note', note }))
  const strings = lines.map((note, id) => JSON.stringify({ id, note }))
  for (const [body, contentType, query] of [
    [{ text, window: 10 }],
    [{ documents: [text], window: 10 }],
    [text, 'text/plain', '?window=10'],
    [text, 'Text/Plain; charset=utf-8', '?window=10'],
    [csv.join('\r\n'), 'text/csv', '?window=10&column=note'],
    [rows.join('\n'), 'text/csv; header=absent', '?window=10'],
    [fields.join('\n'), 'application/x-ndjson', '?window=10&field=note'],
    [strings.join('\n'), 'application/x-ndjson', '?window=10'],
  ] as [string | object, string?, string?][]) {
    const answer = await send(body, contentType, query === undefined ? {} : { query })
    assert.deepEqual([answer.status, answer.body], [200, expected], `${contentType} ${query}`)
  }
})

test('a 400 names the field and what to send', async (t) => {
  verifies('data.empty', 'data.window-size')
  const { send } = await startKeyed(t)
  for (const [sent, detail] of [
    [['nonsense'], /^body: .*text, lines or documents/],
    [[{}], /^body: send one of text, lines and documents/],
    [[{ text: ' \n the' }], /^body: send at least one line with a word/],
    [['', 'text/plain'], /^body: send at least one line/],
    [['', 'text/csv', { query: '?column=a' }], /^body: send at least one line/],
    [[{ lines: ['a', 5] }], /^lines\.1: send a text/],
    [[{ lines, window: 4 }], /^window: .*5 to 1000/],
    [['a', 'text/plain', { query: '?window=1001' }], /^window: .*5 to 1000/],
    [['a,b', 'text/csv', { query: '?column=c' }], /^column: .*a, b/],
    [['x\n"', 'text/csv'], /^row 1: /],
    [['{}\nx', 'application/x-ndjson'], /^line 1: /],
  ] as [Parameters<typeof send>, RegExp][]) {
    assert.match(detailOf(await send(...sent)), detail)
  }
})

const mebibyte = 1024 * 1024

test('a body of 8 MiB is read, and one byte more is not', async (t) => {
  verifies('data.limit')
  const { send } = await startKeyed(t)
  const line =
    'refund the card payment of the invoice to the customer who has asked for it twice now\n'
  const largest = line.repeat(100_000).slice(0, 8 * mebibyte)
  const answer = await send(largest, 'text/plain')
  assert.equal(answer.status, 200)
  assert.ok(answer.body.tokens > 1_000_000)
  const refused = await send(`${largest}x`, 'text/plain')
  assert.deepEqual([refused.status, refused.body.error], [413, 'payload_too_large'])
  assert.match(refused.body.detail, /8388608/)
})

onEachDatabase((database) => {
  test('others are answered while a large corpus is measured', async (t) => {
    verifies('data.windows')
    const { app, send } = await startKeyed(t, {
      DATABASE_URL: await database.createUrl(),
      PLUMBLINE_CHECK_PER_DAY: '0',
    })
    const corpus = send(lines.join('\n').repeat(1500), 'text/plain', {
      headers: { 'idempotency-key': 'large' },
    })
    let measuring = true
    const done = corpus.then(() => {
      measuring = false
    })
    let answered = 0
    for (; measuring; answered += 1) {
      assert.equal((await app.post('/v1/check', { ground: 'a goal', goal: 'a goal' })).status, 200)
    }
    await done
    assert.equal((await corpus).status, 200)
    assert.ok(answered > 3, `${answered} answers`)
  })

  test('a key is needed, a call counts, and a repeated one is answered alike', async (t) => {
    verifies('data.windows')
    const { app, send } = await startKeyed(t, { DATABASE_URL: await database.createUrl() })
    assert.equal((await app.post('/v1/data', { lines })).body.error, 'no_key')
    const { headers, account } = await app.newAccount('ground')
    const left = async () =>
      (await app.post('/v1/data', {}, headers)).headers.get('x-ratelimit-remaining')
    assert.deepEqual([await left(), await left()], ['999', '998'], account)
    const key = { headers: { 'idempotency-key': 'once' } }
    const first = await send({ lines }, undefined, key)
    const again = await send({ lines }, undefined, key)
    assert.deepEqual([again.status, again.text], [200, first.text])
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal((await send({ lines: garden }, undefined, key)).status, 409)
  })
})
