import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { METHODS, type Server } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import type { Operation } from '../src/operations/gate/declaration.ts'
import { open } from '../src/operations/gate/operation.ts'
import { check } from '../src/operations/steps/check.ts'
import { unavailable } from '../src/storage/database/database.ts'
import { type App, start } from './harness.ts'
import { openSocket, type RawAnswer, readAnswers, readToEnd, sendRaw } from './raw.ts'
import { verifies } from './verifies.ts'

const good = JSON.stringify({ ground: 'fix the login page', goal: 'fix the login form' })
const tooLong = ' '.repeat(256 * 1024 + 1)

/** An operation for answers that no real one gives. */
function operationThat(path: `/v1/${string}`, work: () => unknown): Operation {
  return open({
    name: `test.${path.slice(4)}`,
    group: 'detector',
    summary: 'For tests.',
    http: { method: 'POST', path },
    input: z.unknown(),
    output: check.output,
  })(async () => work() as never)
}

const leaky = new Error('SELECT key FROM accounts WHERE id = acct_7: goal was "sell the house"')
const broken = operationThat('/v1/broken', async () => {
  throw leaky
})
const away = operationThat('/v1/away', async () => {
  throw unavailable('connect ECONNREFUSED 10.1.2.3:5432')
})

/** Every kind of answer under /v1, by name, off bare sockets where no client would ask for it. */
async function askEverything(t: TestContext): Promise<Map<string, RawAnswer>> {
  const app = await start(t, {
    env: { PLUMBLINE_CHECK_PER_DAY: '1' },
    operations: [check, broken, away],
  })
  const answers = new Map<string, RawAnswer>()
  const asked = [
    ['200 check', 'POST', '/v1/check', good],
    ['200 description', 'GET', '/v1/openapi.json'],
    ['400 no JSON', 'POST', '/v1/check', 'nonsense'],
    ['400 too many', 'POST', '/v1/check', `{"steps":[${'1,'.repeat(64)}1]}`],
    ['400 path', 'GET', '/v1/%zz'],
    ['404 path', 'GET', '/v1/nothing'],
    ['405 method', 'DELETE', '/v1/check'],
    ['413 body', 'POST', '/v1/check', tooLong],
    ['500 fault', 'POST', '/v1/broken', good],
    ['503 database', 'POST', '/v1/away', good],
  ] as const
  for (const [name, method, path, body] of asked) {
    const headers = { 'cf-connecting-ip': name }
    const sent = body === undefined ? { headers } : { headers, body }
    answers.set(name, await app.request(method, path, sent))
  }
  const spent = { headers: { 'cf-connecting-ip': '200 check' }, body: good }
  answers.set('429 cap', await app.request('POST', '/v1/check', spent))
  for (const [name, bytes] of [
    ['400 request line', 'GET /v1/check HTTP/9.9\r\n\r\n'],
    ['400 header', request('POST', '/v1/check', good, ['a: b\0c'])],
    ['400 method', request('GOT', '/v1/check')],
    ['431 headers', request('GET', '/v1/check', '', [`x: ${'y'.repeat(20_000)}`])],
  ] as const) {
    const [answer, ...more] = await sendRaw(app.url, bytes)
    assert.ok(answer !== undefined && more.length === 0, name)
    answers.set(name, answer)
  }
  for (const [name, { status }] of answers) assert.equal(status, Number(name.slice(0, 3)), name)
  return answers
}

/** The bytes of a request after which the connection is closed. */
function request(
  method: string,
  path: string,
  body = '',
  headers: readonly string[] = [`content-length: ${Buffer.byteLength(body)}`],
): string {
  return [`${method} ${path} HTTP/1.1`, 'host: x', 'connection: close', ...headers, '', body].join(
    '\r\n',
  )
}

describe('every answer under /v1', () => {
  test('is JSON, and when it is an error says so in a word', async (t) => {
    verifies('http.json-errors', 'http.utf8')
    for (const [name, { status, headers, text }] of await askEverything(t)) {
      assert.equal(headers.get('content-type'), 'application/json; charset=utf-8', name)
      const body = JSON.parse(text)
      if (status === 200) continue
      assert.match(body.error, /^[a-z]+(_[a-z]+)*$/, name)
      assert.match(body.detail, /\w.*\.$/, name)
    }
  })

  test('carries the headers of the interface', async (t) => {
    verifies('http.deprecation', 'http.headers', 'http.no-successor')
    const ids = new Set<string | null>()
    const answers = await askEverything(t)
    for (const [name, { headers }] of answers) {
      assert.equal(headers.get('deprecation'), 'true', name)
      assert.equal(headers.get('sunset'), null, name)
      const link = /^<(http:\/\/127\.0\.0\.1:\d+)\/docs\/migration>; rel="deprecation"$/
      assert.match(headers.get('link') ?? '', link, name)
      assert.equal(headers.get('cache-control'), 'no-store', name)
      assert.equal(headers.get('x-content-type-options'), 'nosniff', name)
      assert.equal(headers.get('referrer-policy'), 'no-referrer', name)
      assert.ok(Number(headers.get('content-length')) > 0, name)
      assert.match(headers.get('x-request-id') ?? '', /^req_/, name)
      ids.add(headers.get('x-request-id'))
    }
    assert.equal(ids.size, answers.size)
  })

  test('has a request id that the caller cannot choose', async (t) => {
    verifies('http.headers')
    const app = await start(t)
    const { headers } = await app.get('/v1/openapi.json', { 'x-request-id': 'req_mine' })
    assert.notEqual(headers.get('x-request-id'), 'req_mine')
  })
})

test('the link leads to a page', async (t) => {
  verifies('http.migration-page')
  const app = await start(t)
  const { headers } = await app.get('/v1/nothing')
  const [, url = ''] = /<(.*)>/.exec(headers.get('link') ?? '') ?? []
  const page = await fetch(url)
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
  const text = await page.text()
  assert.match(text, /<h1>/)
  assert.match(text, /PLUMBLINE_DETECTOR=overlap/)
})

test('a page runs nothing, loads nothing and is in no frame', async (t) => {
  verifies('http.page-policy')
  const app = await start(t)
  for (const path of ['/', '/docs/migration', '/email/confirm', '/digest/unsubscribe']) {
    const { headers, text } = await app.get(path)
    assert.match(headers.get('content-type') ?? '', /^text\/html/)
    assert.match(
      headers.get('content-security-policy') ?? '',
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    )
    assert.equal(headers.get('x-frame-options'), 'DENY')
    assert.doesNotMatch(text, /<(script|img|iframe|link|object|embed)\b|\son\w+=|url\(/i, path)
  }
  assert.equal((await app.get('/v1/tiers')).headers.get('content-security-policy'), null)
})

test('bodies are UTF-8', async (t) => {
  verifies('http.utf8')
  const app = await start(t)
  const ground = 'répare 登录 😀 ß'
  const json = JSON.stringify({ ground, goal: ground })
  for (const body of [json, `\ufeff${json}`, JSON.stringify({ ground, goal: ground }, null, 2)]) {
    const answer = await app.request('POST', '/v1/check', { body })
    assert.deepEqual([answer.status, answer.body.ground], [200, ground])
    assert.ok(answer.text.includes(ground), 'as characters, not as escapes')
  }
  const latin1 = Buffer.from('{"ground":"r\xe9pare","goal":"r\xe9pare"}', 'latin1')
  const replaced = await app.request('POST', '/v1/check', { body: latin1 })
  assert.equal(replaced.body.ground, 'r\ufffdpare')
  const wide = await app.request('POST', '/v1/check', { body: Buffer.from(json, 'utf16le') })
  assert.equal(wide.status, 400)
})

test('the detail of a bad request names the field and what to send', async (t) => {
  verifies('http.bad-request-detail')
  const app = await start(t)
  const long = 'x'.repeat(4_001)
  for (const [body, detail] of [
    ['nonsense', /JSON object.*ground, goal.*steps/],
    ['{}', /^ground is missing; send a text/],
    ['[]', /^ground is missing; send a text/],
    ['{"ground":" ","goal":"b"}', /^ground is blank; send a text/],
    ['{"ground":"a","goal":7}', /^goal is not a text; send a text/],
    [`{"ground":"a","goal":"${long}"}`, /^goal has 4001 characters; send at most 4000/],
    ['{"steps":[{"goal":"a"}]}', /^steps has 1 entry; send 2 to 64/],
    ['{"steps":[{"goal":"a"},{"goal":""}]}', /^steps\[1\]\.goal is blank; send a text/],
    ['{"ground":"a","goal":"b","detector":"x"}', /^detector is unknown; send meaning or overlap/],
  ] as const) {
    const answer = await app.request('POST', '/v1/check', { body })
    assert.deepEqual([answer.status, answer.body.error], [400, 'bad_request'])
    assert.match(answer.body.detail, detail)
  }
})

describe('an unknown route', () => {
  test('is 404, whatever the method', async (t) => {
    verifies('http.404')
    const app = await start(t)
    for (const path of [
      '/v1',
      '/v1/',
      '/v1/check/',
      '/v1/Check',
      '/v1//check',
      '/v1/check%2f',
      '/v1/check%00',
      '/v1/check/..',
      '/v2/check',
      '/check',
      '/__proto__',
      '/v1/constructor',
      '//',
      '*',
      '*v1/tiers',
      '/..%2f..%2fetc%2fpasswd',
      '/docs',
      `/${'a'.repeat(8_000)}`,
      `/v1/${'/'.repeat(2_000)}`,
      '/v1/nothing?limit=1#part',
    ]) {
      for (const method of ['GET', 'POST', 'PROPFIND']) {
        const [answer] = await sendRaw(app.url, request(method, path))
        assert.equal(answer?.status, 404, `${method} ${path}`)
        assert.equal(JSON.parse(answer.text).error, 'not_found')
      }
    }
  })
})

describe('a known route', () => {
  const routes = {
    '/': ['GET', 'HEAD'],
    '/docs/migration': ['GET', 'HEAD'],
    '/healthz': ['GET', 'HEAD'],
    '/readyz': ['GET', 'HEAD'],
    '/metrics': ['GET', 'HEAD'],
    '/v1/openapi.json': ['GET', 'HEAD'],
    '/v1/check': ['POST'],
  }

  test('with another method is 405 and says which are allowed', async (t) => {
    verifies('http.405-allow')
    const app = await start(t)
    // CONNECT has no path to be a route of; the connection is closed.
    const methods = METHODS.filter((method) => method !== 'CONNECT')
    for (const [path, allowed] of Object.entries(routes)) {
      for (const method of methods) {
        const [answer] = await sendRaw(app.url, request(method, `${path}?a=b`))
        if (allowed.includes(method)) {
          assert.notEqual(answer?.status, 405, `${method} ${path}`)
        } else {
          assert.equal(answer?.status, 405, `${method} ${path}`)
          assert.equal(answer.headers.get('allow'), allowed.join(', '))
          if (method !== 'HEAD') assert.equal(JSON.parse(answer.text).error, 'method_not_allowed')
        }
      }
    }
    assert.deepEqual(await sendRaw(app.url, request('CONNECT', 'example.org:443')), [])
  })

  test('answers HEAD like GET, without the body', async (t) => {
    verifies('http.headers')
    const app = await start(t)
    for (const [path, [method]] of Object.entries(routes)) {
      const [head] = await sendRaw(app.url, request('HEAD', path))
      const [get] = await sendRaw(app.url, request('GET', path))
      assert.equal(head?.text, '')
      assert.equal(head.status, method === 'GET' ? 200 : 405)
      assert.equal(head.status, get?.status)
      assert.equal(head.headers.get('content-type'), get?.headers.get('content-type'), path)
    }
    const [missing] = await sendRaw(app.url, request('HEAD', '/v1/nothing'))
    assert.deepEqual([missing?.status, missing?.text], [404, ''])
  })
})

test('a body has at most 256 KiB', async (t) => {
  verifies('http.413')
  const app = await start(t)
  const limit = 256 * 1024
  const chunked = (body: string) =>
    fetch(`${app.url}/v1/check`, {
      method: 'POST',
      body: new Blob([body]).stream(),
      duplex: 'half',
    } as RequestInit)
  const fitting = good.padEnd(limit)
  assert.equal((await app.request('POST', '/v1/check', { body: fitting })).status, 200)
  assert.equal((await chunked(fitting)).status, 200)
  for (const body of [`${fitting} `, good.padStart(limit + 1), 'x'.repeat(2 ** 21)]) {
    const announced = await app.request('POST', '/v1/check', { body })
    assert.deepEqual([announced.status, announced.body.error], [413, 'payload_too_large'])
    assert.match(announced.body.detail, /262144 bytes; send/)
    assert.equal(announced.headers.get('connection'), 'close')
    const streamed = await chunked(body)
    assert.deepEqual([streamed.status, await streamed.json()], [413, announced.body])
  }
  // The limit counts bytes, not characters.
  const wide = `{"ground":"a","goal":"b","more":"${'é'.repeat(limit / 2)}"}`
  assert.ok(wide.length < limit)
  assert.equal((await app.request('POST', '/v1/check', { body: wide })).status, 413)
})

test('a path means the same in every spelling, and a parameter that cannot be decoded stays as sent', async (t) => {
  verifies('http.headers')
  const query = operationThat('/v1/query', async () => ({}))
  const parameters: unknown[] = []
  const app = await start(t, {
    operations: [
      check,
      {
        ...query,
        answer: async (_service, call) => {
          parameters.push({ ...call.query })
          return { status: 200, body: {} }
        },
      },
    ],
  })
  const expected = (await app.request('POST', '/v1/check', { body: good })).text
  for (const path of ['/v1/%63heck', '/%76%31/check?a=b', '/v1/check#part', '/v1/check?']) {
    const [answer] = await sendRaw(app.url, request('POST', path, good))
    assert.deepEqual([answer?.status, answer?.text], [200, expected], path)
  }
  for (const [sent, read] of [
    ['', {}],
    ['?a=1&a=2&b=&c', { a: '2', b: '', c: '' }],
    ['?a=x+y%20z&key=k&%C3%A9=%c3%a9', { a: 'x y z', é: 'é' }],
    ['?a=%zz&b=%ff&c=%c3%a9%', { a: '%zz', b: '%ff', c: '%c3%a9%' }],
    ['?__proto__=1&a=b=c', { a: 'b=c' }],
    [`?${'x=1&'.repeat(2_000)}y=2`, { x: '1', y: '2' }],
  ] as const) {
    await app.request('POST', `/v1/query${sent}`)
    assert.deepEqual(parameters.pop(), read, sent)
  }
})

describe('an answer in lines', () => {
  const told = async function* (lines: readonly string[]) {
    yield* lines
    throw leaky
  }

  test('that fails before its first line is a fault like any other', async (t) => {
    verifies('http.500')
    const app = await start(t, { operations: [linesOf('/v1/none', () => told([]))] })
    const answer = await app.request('POST', '/v1/none')
    assert.deepEqual([answer.status, answer.body.error], [500, 'internal'])
  })

  test('that fails later breaks off, so that nobody takes it for whole', async (t) => {
    verifies('http.500')
    const app = await start(t, {
      operations: [linesOf('/v1/some', () => told(['{}\n', '{}\n'])), check],
    })
    await assert.rejects(app.request('POST', '/v1/some'))
    assert.match(JSON.stringify(app.log), /broke off/)
    assert.equal((await app.request('POST', '/v1/check', { body: good })).status, 200)
  })
})

/** An operation that answers in lines. */
function linesOf(path: `/v1/${string}`, lines: () => AsyncIterable<string>): Operation {
  const answer = async () => ({ status: 200, body: lines() })
  return { ...operationThat(path, () => null), answer }
}

describe('a fault of ours', () => {
  test('is 500 and says nothing of the inside', async (t) => {
    verifies('http.500')
    const app = await start(t, { operations: [check, broken] })
    const answer = await app.request('POST', '/v1/broken', { body: good })
    const { error, detail, request_id, ...more } = answer.body
    assert.deepEqual([answer.status, error, more], [500, 'internal', {}])
    assert.equal(request_id, answer.headers.get('x-request-id'))
    assert.doesNotMatch(answer.text, /SELECT|accounts|acct_|house|Error|\.ts|node:|\bat\b/)
    assert.match(detail, /server/)
    const line = app.log.find(({ request_id: id }) => id === request_id)
    assert.equal(line?.level, 50)
    assert.match(JSON.stringify(line), /SELECT key FROM accounts.*http\.test\.ts/)
    assert.equal((await app.request('POST', '/v1/check', { body: good })).status, 200)
  })

  test('of any kind is 500', async (t) => {
    verifies('http.500')
    const circular: Record<string, unknown> = {}
    circular.self = circular
    const faults: [string, () => unknown][] = [
      ['nothing', () => Promise.reject()],
      ['null', () => Promise.reject(null)],
      ['text', () => Promise.reject('SELECT')],
      ['number', () => Promise.reject(404)],
      ['status', () => Promise.reject(Object.assign(new Error('SELECT'), { statusCode: 418 }))],
      [
        'thrown',
        () => {
          throw leaky
        },
      ],
      ['misfit', async () => ({ SELECT: 1 })],
      ['silent', async () => undefined],
      ['circular', async () => circular],
      ['bigint', async () => 1n],
    ]
    const app = await start(t, {
      operations: faults.map(([name, work]) => operationThat(`/v1/${name}`, work)),
    })
    for (const [name] of faults) {
      const answer = await app.request('POST', `/v1/${name}`, { body: good })
      assert.deepEqual([answer.status, answer.body?.error], [500, 'internal'], name)
      assert.doesNotMatch(answer.text, /SELECT|\.ts\b/, name)
    }
  })

  test('that leaves an answer that cannot be sent ends no process', async (t) => {
    verifies('http.500')
    const answer: Operation['answer'] = async (_service, call) => {
      call.headers['x-broken'] = 'SELECT\n'
      return { status: 200, body: {} }
    }
    const app = await start(t, { operations: [check, { ...broken, answer }] })
    assert.equal((await app.request('POST', '/v1/broken', { body: good })).status, 500)
    assert.equal(app.log.filter(({ level }) => level === 50).length, 1)
    assert.equal((await app.request('POST', '/v1/check', { body: good })).status, 200)
  })

  test('that is the database being away is 503 and says when to come back', async (t) => {
    verifies('http.json-errors')
    const app = await start(t, { operations: [away] })
    const answer = await app.request('POST', '/v1/away', { body: good })
    assert.deepEqual([answer.status, answer.body.error], [503, 'unavailable'])
    assert.equal(answer.headers.get('retry-after'), String(answer.body.retry_after_s))
    assert.doesNotMatch(answer.text, /ECONN|10\.1\.2\.3/)
  })
})

test('a key on a keyless route is ignored', async (t) => {
  verifies('http.key-ignored', 'check.no-key')
  const app = await start(t)
  const expected = (await app.request('POST', '/v1/check', { body: good })).text
  const keys: [string, Record<string, string>][] = [
    ['', { authorization: 'Bearer pl_live_0000000000000000000000000000000000000000000_000000' }],
    ['', { authorization: 'Bearer' }],
    ['', { authorization: 'bearer a b c' }],
    ['', { authorization: 'Basic dXNlcjpwYXNz' }],
    ['', { authorization: `Bearer ${'x'.repeat(8_000)}` }],
    ['?key=pl_live_x', {}],
    ['?key=&key=%00&key[]=%ff&key', {}],
    ['?key=%zz', {}],
    ['?key=a', { authorization: 'Bearer b' }],
  ]
  for (const [query, headers] of keys) {
    const answer = await app.request('POST', `/v1/check${query}`, { body: good, headers })
    assert.deepEqual([answer.status, answer.text], [200, expected], query)
    assert.equal((await app.get(`/v1/openapi.json${query}`, headers)).status, 200)
  }
  const { headers } = await app.request('POST', '/v1/check', { body: good })
  const left = 100 - keys.length - 2
  assert.equal(headers.get('x-ratelimit-remaining'), String(left), 'all counted in one bucket')
})

describe('bytes on a bare socket', () => {
  const crlf = '\r\n'
  const head = `POST /v1/check HTTP/1.1${crlf}host: x${crlf}`

  test('that are no HTTP get an answer of ours and a closed connection', async (t) => {
    verifies('http.json-errors', 'http.headers', 'http.ambiguous')
    const app = await start(t)
    for (const [name, bytes, status] of [
      ['nothing but line ends', `${crlf.repeat(3)}x`, 400],
      ['a TLS hello', Buffer.from('16030100c8010000c40303', 'hex'), 400],
      ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
      ['another protocol', 'EHLO example.org\r\n', 400],
      ['a version that does not exist', 'GET / HTTP/9.9\r\nhost: x\r\n\r\n', 400],
      ['a method in lower case', 'get / HTTP/1.1\r\nhost: x\r\n\r\n', 400],
      ['a space in the path', 'GET /a b HTTP/1.1\r\nhost: x\r\n\r\n', 400],
      ['a NUL in the path', 'GET /a\0b HTTP/1.1\r\nhost: x\r\n\r\n', 400],
      ['a NUL in a header', `${head}a: b\0c${crlf}${crlf}`, 400],
      ['a folded header', `${head}a: b${crlf} c${crlf}${crlf}`, 400],
      ['a header without a name', `${head}: b${crlf}${crlf}`, 400],
      ['a header without a colon', `${head}nonsense${crlf}${crlf}`, 400],
      ['two lengths', `${head}content-length: 1${crlf}content-length: 2${crlf}${crlf}ab`, 400],
      ['a length that is no number', `${head}content-length: 1e1${crlf}${crlf}0123456789`, 400],
      ['a negative length', `${head}content-length: -1${crlf}${crlf}`, 400],
      ['a huge length', `${head}content-length: ${'9'.repeat(30)}${crlf}${crlf}`, 400],
      [
        'a length and chunks',
        `${head}content-length: 5${crlf}transfer-encoding: chunked${crlf}${crlf}0${crlf}${crlf}`,
        400,
      ],
      ['a transfer encoding', `${head}transfer-encoding: gzip${crlf}${crlf}x`, 400],
      ['a chunk size', `${head}transfer-encoding: chunked${crlf}${crlf}zz${crlf}`, 400],
      [
        'a second chunk size',
        `${head}transfer-encoding: chunked${crlf}${crlf}2${crlf}{}${crlf}-1${crlf}`,
        400,
      ],
      [
        'a chunk that is too long',
        `${head}transfer-encoding: chunked${crlf}${crlf}1${crlf}{}`,
        400,
      ],
      [
        'an encoding before chunks',
        `${head}transfer-encoding: gzip, chunked${crlf}${crlf}0${crlf}${crlf}`,
        400,
      ],
      ['no host', `GET /v1/tiers HTTP/1.1${crlf}${crlf}`, 400],
      ['two hosts', `GET /v1/tiers HTTP/1.1${crlf}host: x${crlf}HOST: x${crlf}${crlf}`, 400],
      [
        'two credentials',
        `${head}authorization: Bearer a${crlf}Authorization: Bearer a${crlf}${crlf}`,
        400,
      ],
      ['no version', `GET /v1/tiers${crlf}${crlf}`, 400],
      ['no version, of no route', `GET /none${crlf}${crlf}`, 400],
      ['headers of 20 kB', `${head}x: ${'y'.repeat(20_000)}${crlf}${crlf}`, 431],
      ['a hundred and more headers', `${head}${`x: y${crlf}`.repeat(100)}${crlf}`, 431],
      ['a path of 20 kB', `GET /${'y'.repeat(20_000)} HTTP/1.1${crlf}host: x${crlf}${crlf}`, 431],
    ] as const) {
      const answers = await sendRaw(app.url, bytes)
      assert.deepEqual(
        answers.map((answer) => answer.status),
        [status],
        name,
      )
      const [{ headers, text }] = answers as [RawAnswer]
      assert.equal(JSON.parse(text).error, 'bad_request', name)
      assert.equal(headers.get('connection'), 'close', name)
      assert.equal(headers.get('deprecation'), 'true', name)
    }
    assert.deepEqual(
      app.log.filter(({ level }) => Number(level) >= 40),
      [],
    )
  })

  test('that are HTTP in an unusual way get the usual answer', async (t) => {
    verifies('http.headers')
    const app = await start(t)
    const length = `content-length: ${good.length}`
    const sized = (...headers: string[]) => request('POST', '/v1/check', good, [length, ...headers])
    const chunks = (...lines: string[]) =>
      request('POST', '/v1/check', '', ['transfer-encoding: chunked', '', ...lines, ''])
    const size = good.length.toString(16)
    const each = [...good].flatMap((character) => ['1', character])
    const expected = (await app.request('POST', '/v1/check', { body: good })).text
    for (const [name, bytes] of [
      ['HTTP/1.0', `POST /v1/check HTTP/1.0\r\n${length}\r\n\r\n${good}`],
      ['empty lines before', `\r\n\r\n${sized()}`],
      ['the whole address', request('POST', 'http://elsewhere/v1/check', good)],
      ['an expectation', sized('expect: 100-continue')],
      ['an unknown expectation', sized('expect: the-impossible')],
      ['an upgrade', sized('upgrade: websocket')],
      ['an upgrade to HTTP/2', sized('upgrade: h2c', 'http2-settings: AAMAAABkAAQAAP__')],
      ['90 headers', sized(...Array.from({ length: 90 }, (_, at) => `x-${at}: ${at}`))],
      ['one chunk', chunks(size, good, '0', '')],
      ['a chunk for each character', chunks(...each, '0', '')],
      ['extensions and trailers', chunks(`${size};a="b";c`, good, '0', 'x-trailer: 1', '')],
      ['two content types', sized('content-type: a/b', 'content-type: ;;;')],
      ['a content type beyond ASCII', sized('content-type: ap\xffp/\xe9')],
    ] as const) {
      const answers = await sendRaw(app.url, Buffer.from(bytes, 'latin1'))
      const last = answers.at(-1)
      assert.deepEqual([last?.status, last?.text], [200, expected], name)
    }
  })

  test('that expect to be asked for their body are asked once they are admitted', async (t) => {
    verifies('http.continue')
    const app = await start(t)
    const { headers } = await app.newAccount()
    const asking = (path: string, ...lines: string[]) =>
      [`POST ${path} HTTP/1.1`, 'host: x', 'expect: 100-continue', ...lines, '', ''].join(crlf)
    const size = `content-length: ${good.length}`
    for (const [name, bytes, status] of [
      ['a key is missing', asking('/v1/data', size), 401],
      ['no such route', asking('/v1/nothing', size), 404],
      ['too large', asking('/v1/check', 'content-length: 999999999'), 413],
      ['another site', asking('/mcp', 'origin: https://evil.example', size), 403],
    ] as const) {
      const answers = await sendRaw(app.url, bytes)
      assert.deepEqual(
        answers.map((answer) => answer.status),
        [status],
        name,
      )
      assert.equal(answers[0]?.headers.get('connection'), 'close', name)
    }
    const key = `authorization: ${headers.authorization}`
    for (const bytes of [asking('/v1/check', size), asking('/v1/drift', size, key)]) {
      const socket = await openSocket(app.url)
      socket.write(bytes)
      await once(socket, 'data').then(([chunk]) => assert.match(String(chunk), /^HTTP\/1\.1 100 /))
      socket.end(good)
      const [answer] = readAnswers(await readToEnd(socket))
      assert.equal(answer?.status, 200)
    }
  })

  test('hold several requests, answered in their order', async (t) => {
    verifies('http.headers')
    const app = await start(t)
    const goals = Array.from({ length: 20 }, (_, at) => `goal number ${at}`)
    const bytes = goals.map((goal, at) => {
      const body = JSON.stringify({ ground: goal, goal })
      const close = at === goals.length - 1 ? 'connection: close\r\n' : ''
      return `${head}${close}content-length: ${body.length}${crlf}${crlf}${body}`
    })
    const answers = await sendRaw(app.url, bytes.join(''))
    assert.deepEqual(
      answers.map(({ text }) => JSON.parse(text).ground),
      goals,
    )
  })
})

test('a connection has 10 seconds for the headers and 15 for all of a request', async (t) => {
  verifies('http.json-errors', 'http.headers')
  const app = await start(t)
  const server = await serverOf(app)
  assert.deepEqual([server.headersTimeout, server.requestTimeout], [10_000, 15_000])
  assert.ok(server.keepAliveTimeout > 60_000, 'longer than a proxy in front keeps it')
  server.headersTimeout = 200
  server.requestTimeout = 400
  const head = 'POST /v1/check HTTP/1.1\r\nhost: x\r\n'
  const slow = ['POST /', head, `${head}content-length: 999\r\n\r\n{"gr`]
  await Promise.all(
    slow.map(async (bytes) => {
      const socket = await openSocket(app.url)
      socket.write(bytes)
      // Bytes that go on dripping do not buy time.
      const drip = setInterval(() => socket.write('x'), 100)
      const [answer] = readAnswers(await readToEnd(socket).finally(() => clearInterval(drip)))
      assert.equal(answer?.status, 408, bytes)
      assert.match(JSON.parse(answer.text).detail, /10 seconds.*15/)
      assert.equal(answer.headers.get('deprecation'), 'true')
      assert.match(answer.headers.get('x-request-id') ?? '', /^req_/)
    }),
  )
  assert.deepEqual(
    app.log.filter(({ level }) => Number(level) >= 40),
    [],
  )
})

/** Node's own server of a service, as Node tells of it when a request comes. */
async function serverOf(app: App): Promise<Server> {
  const found: Server[] = []
  const note = (message: unknown) => found.push((message as { server: Server }).server)
  subscribe('http.server.request.start', note)
  await app.get('/healthz')
  unsubscribe('http.server.request.start', note)
  return found[0]!
}
