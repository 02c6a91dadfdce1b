import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { type Answer, type App, start } from './harness.ts'
import { openSocket, readAnswers, readToEnd, sendRaw } from './raw.ts'
import { verifies } from './verifies.ts'

const good = JSON.stringify({ ground: 'fix the login page', goal: 'fix the login form' })
const crlf = '\r\n'
const quoted = JSON.stringify
const nest = (levels: number, inner = '', open = '[', close = ']') =>
  open.repeat(levels) + inner + close.repeat(levels)
const nestObjects = (levels: number, inner = 'null') => nest(levels, inner, '{"a":', '}')

/**
 * A test of a service that counts nobody. After it the service still answers as before, has logged
 * no fault, and nobody's body has changed what objects are.
 */
function unshaken(work: (app: App) => Promise<void>): (t: TestContext) => Promise<void> {
  return async (t) => {
    const app = await start(t, { env: { PLUMBLINE_CHECK_PER_DAY: '0' } })
    const before = await send(app, good)
    await work(app)
    const after = await send(app, good)
    assert.deepEqual([after.status, after.text], [200, before.text])
    assert.deepEqual(faults(app), [])
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
    assert.equal(Object.keys(Object.prototype).length, 0)
  }
}

/** What was logged as a warning or worse. */
function faults({ log }: App): unknown[] {
  return log.filter(({ level }) => Number(level) >= 40)
}

function send(app: App, body: string | Uint8Array, headers = {}): Promise<Answer> {
  return app.request('POST', '/v1/check', { body, headers })
}

/** The answer is one that the interface knows, in JSON that is well-formed text. */
function assertKnown({ status, body, text }: Pick<Answer, 'status' | 'body' | 'text'>): void {
  assert.ok([200, 400, 413].includes(status), `${status}: ${text.slice(0, 200)}`)
  assert.ok(text.isWellFormed())
  if (status === 200) assert.deepEqual(body.verdict, body.steps.at(-1))
  else assert.equal(typeof body.error, 'string')
}

describe('a hostile body', () => {
  test(
    'nested 10,000 levels deep, in any field',
    unshaken(async (app) => {
      verifies('check.unknown-fields', 'check.steps.other-fields-ignored')
      for (const levels of [64, 10_000, 40_000]) {
        for (const deep of [
          nest(levels),
          nestObjects(levels),
          nest(levels, '{}'),
          nest(levels, '1,1'),
        ]) {
          for (const [body, status] of [
            [deep, 400],
            [`{"ground":${deep},"goal":"b"}`, 400],
            [`{"ground":"a","goal":${deep}}`, 400],
            [`{"ground":"a","goal":"b","progress":${deep}}`, 200],
            [`{"ground":"a","goal":"b","distance":${deep}}`, 200],
            [`{"ground":"a","goal":"b","detector":${deep}}`, 400],
            [`{"ground":"a","goal":"b","parent_goal":${deep}}`, 200],
            [`{"ground":"a","goal":"b","__proto__":${deep}}`, 200],
            [`{"ground":"a","goal":"b","anything":${deep}}`, 200],
            [`{"ground":"a","goal":"b","steps":{"0":${deep}}}`, 200],
            [`{"steps":[{"goal":${deep}},{"goal":"b"}]}`, 400],
            [`{"steps":[${deep},{"goal":"b"}]}`, 400],
            [`{"steps":[{"goal":"a"},{"goal":"b","distance":${deep}}]}`, 200],
            [`{"steps":[{"goal":"a"},{"goal":"b","progress":${deep}}]}`, 200],
            [`{"steps":[{"goal":"a"},{"goal":"b","parent_goal":${deep}}]}`, 200],
            [`{"steps":[{"goal":"a"},{"goal":"b"}],"ground":${deep}}`, 200],
          ] as const) {
            if (body.length > 256 * 1024) continue
            const answer = await send(app, body)
            assert.equal(answer.status, status, `${levels} levels: ${body.slice(0, 60)}`)
            assertKnown(answer)
          }
        }
        const steps = await send(app, `{"ground":"a","goal":"b","steps":${nest(levels)}}`)
        assert.match(steps.body.detail, /^steps has 1 entry/)
      }
      // A number at the bottom of lists is what their string form begins with.
      const { body } = await send(app, `{"ground":"a","goal":"b","distance":${nest(10_000, '7')}}`)
      assert.equal(body.verdict.distance, 7)
    }),
  )

  test(
    'with the names of what every object has',
    unshaken(async (app) => {
      verifies('check.unknown-fields', 'check.sugar.ground-required')
      const names = [
        '__proto__',
        'constructor',
        'prototype',
        'toString',
        'valueOf',
        'toJSON',
        'hasOwnProperty',
      ]
      for (const name of names) {
        const key = quoted(name)
        for (const value of [good, 'null', '5', '[]', '{"polluted":true}', '"x"']) {
          const alone = await send(app, `{${key}:${value}}`)
          assert.equal(alone.status, 400, 'fields of a prototype are none of the body')
          for (const body of [
            `{${key}:${value},${good.slice(1)}`,
            `{"constructor":{"prototype":${value}},${good.slice(1)}`,
            `{"steps":[{"goal":"a",${key}:${value}},{${key}:${value},"goal":"b"}],${key}:${value}}`,
            `{"ground":"a","goal":"b","distance":{${key}:${value}}}`,
            `{"ground":"a","goal":"b","distance":[{${key}:${value}}]}`,
          ]) {
            assert.equal((await send(app, body)).status, 200, body)
          }
          assertKnown(await send(app, `{"ground":{${key}:${value}},"goal":[{${key}:${value}}]}`))
        }
        // As texts they are like any other.
        const text = await send(app, quoted({ ground: name, goal: name, progress: name }))
        assert.deepEqual([text.status, text.body.verdict.reason], [200, 'ungrammatical'])
        const word = await send(app, quoted({ ground: `${name} a`, goal: `the ${name}` }))
        assert.deepEqual([word.body.verdict.reason, word.body.verdict.goal_score], ['advancing', 1])
        assert.equal((await send(app, quoted({ ...JSON.parse(good), detector: name }))).status, 400)
      }
    }),
  )

  test(
    'that is nearly JSON',
    unshaken(async (app) => {
      verifies('check.body.not-json')
      for (let length = 0; length < good.length; length++) {
        assert.equal((await send(app, good.slice(0, length))).status, 400)
      }
      for (const [body, status] of [
        [`\ufeff${good}`, 200],
        [`\ufeff\ufeff${good}`, 400],
        [` \t\r\n${good}\n`, 200],
        [`\v${good}`, 400],
        [`\u00a0${good}`, 400],
        [`${good}\0`, 400],
        [`\0${good}`, 400],
        [good.replaceAll('"', "'"), 400],
        [good.replaceAll(':', '='), 400],
        [`${good},`, 400],
        [`[${good}]`, 400],
        [`${good}${good}`, 400],
        [`data: ${good}`, 400],
        [`callback(${good})`, 400],
        [`)]}',\n${good}`, 400],
        ['{"ground":"a\\x","goal":"b"}', 400],
        ['{"ground":"a\\u12","goal":"b"}', 400],
        ['{"ground":"a\tb","goal":"b"}', 400],
        ['{"ground":"a","goal":"b","distance":01}', 400],
        ['{"ground":"a","goal":"b","distance":.5}', 400],
        ['{"ground":"a","goal":"b","distance":+5}', 400],
        ['{"ground":"a","goal":"b","distance":Infinity}', 400],
        ['{"ground":"a","goal":"b","distance":0x5}', 400],
        ['{"ground":"a","goal":"b","distance":undefined}', 400],
      ] as const) {
        assert.equal((await send(app, body)).status, status, quoted(body))
      }
      const twice = '{"ground":"x","ground":"a","goal":7,"goal":"b","distance":9,"distance":2}'
      const { verdict } = (await send(app, twice)).body
      assert.deepEqual([verdict.ground, verdict.goal, verdict.distance], ['a', 'b', 2], 'last wins')
      const steps = `{"steps":5,${good.slice(1, -1)},"steps":[]}`
      assert.match((await send(app, steps)).body.detail, /^steps has 0/)
    }),
  )

  test(
    'that is no UTF-8',
    unshaken(async (app) => {
      verifies('http.utf8', 'check.text.well-formed')
      for (const hex of [
        'ff',
        'c0af',
        'e28228',
        'eda080',
        'f4908080',
        'f09f98',
        '80',
        'fe',
        'c3',
      ]) {
        const bytes = Buffer.concat([
          Buffer.from('{"ground":"a'),
          Buffer.from(hex, 'hex'),
          Buffer.from('","goal":"b"}'),
        ])
        const answer = await send(app, bytes)
        assert.equal(answer.status, 200, hex)
        assert.match(answer.body.ground, /^a\ufffd/, hex)
      }
      for (const body of [
        Buffer.from(good, 'utf16le'),
        Buffer.from(`\ufeff${good}`, 'utf16le'),
        Buffer.from('ff'.repeat(100), 'hex'),
        gzipSync(good),
      ]) {
        assert.equal((await send(app, body)).status, 400)
      }
    }),
  )

  test(
    'with numbers that nobody can count to',
    unshaken(async (app) => {
      verifies('check.sugar.distance-not-finite', 'check.steps.distance-clamped')
      for (const [number, twoGoals, sequence] of [
        ['1e400', 5, 5],
        ['-1e400', 5, 5],
        ['1e-400', 0, 0],
        ['1e308', 1, 1],
        ['-1e308', 0, 0],
        ['9007199254740993', 10, 10],
        [`1${'0'.repeat(300)}`, 1, 1],
        ['9'.repeat(100_000), 5, 5],
        [`0.${'0'.repeat(100_000)}1`, 0, 0],
        [`1e${'9'.repeat(1_000)}`, 5, 5],
        [`"${'9'.repeat(100_000)}"`, 5, 10],
        [`"${' '.repeat(100_000)}8"`, 8, 8],
        [`"-${'9'.repeat(1_000)}"`, 5, 0],
      ] as const) {
        const two = await send(app, `{"ground":"a","goal":"b","distance":${number}}`)
        assert.equal(two.body.verdict.distance, twoGoals, number.slice(0, 20))
        const entries = `[{"goal":"a"},{"goal":"b","distance":${number}}]`
        const { body } = await send(app, `{"steps":${entries}}`)
        assert.equal(body.verdict.distance, sequence, number.slice(0, 20))
      }
    }),
  )

  test(
    'of texts made to be slow',
    unshaken(async (app) => {
      verifies('check.steps.limits', 'check.text.limit')
      for (const text of [
        'a'.repeat(4_000),
        "'".repeat(4_000),
        ' a'.repeat(1_999).trim(),
        `${'ing'.repeat(1_333)}!`,
        `${'s'.repeat(3_999)}!`,
        '登录'.repeat(1_000),
        '\u0301'.repeat(2_000),
        'ﷺ'.repeat(1_000),
        '👩‍👩‍👧‍👦'.repeat(190),
        `${' '.repeat(3_000)}a`,
        Array.from({ length: 800 }, (_, at) => `w${at}`)
          .join(' ')
          .slice(0, 4_000),
      ]) {
        const steps = Array.from({ length: 64 }, (_, at) => ({ goal: text.slice(at) }))
        while (Buffer.byteLength(quoted({ steps })) > 256 * 1024) steps.pop()
        const began = performance.now()
        const answer = await send(app, quoted({ steps }))
        assert.equal(answer.status, 200)
        const ms = performance.now() - began
        assert.ok(ms < 5_000, `${ms} ms for ${quoted(text.slice(0, 20))}`)
      }
      const many = quoted({ steps: Array(80_000).fill(0) })
      assert.equal((await send(app, many)).body.error, 'too_many_steps')
      const fields = Object.fromEntries(Array.from({ length: 15_000 }, (_, at) => [`f${at}`, at]))
      assert.equal((await send(app, quoted({ ...fields, ...JSON.parse(good) }))).status, 200)
    }),
  )

  test(
    'of any JSON',
    unshaken(async (app) => {
      verifies('check.same-bytes', 'check.unknown-fields')
      const value = fc.oneof(
        { weight: 3, arbitrary: fc.string({ unit: 'binary', minLength: 1 }) },
        fc.jsonValue({ stringUnit: 'binary' }),
        fc.constantFrom(null, '', ' ', 0, -1, 1e308, '8abc', [], {}),
      )
      const entry = fc.record(
        { goal: value, progress: value, distance: value, parent_goal: value },
        { requiredKeys: [] },
      )
      const fields = fc.record(
        {
          ground: value,
          goal: value,
          progress: value,
          distance: value,
          steps: fc.oneof(fc.array(entry, { maxLength: 70 }), value),
          detector: fc.oneof(fc.constant('overlap'), value),
        },
        { requiredKeys: ['ground', 'goal'] },
      )
      const statuses = new Set<number>()
      await fc.assert(
        fc.asyncProperty(fc.oneof(fields, fc.jsonValue()), async (body) => {
          const answer = await send(app, quoted(body))
          assertKnown(answer)
          statuses.add(answer.status)
          if (answer.status === 200) assert.equal((await send(app, quoted(body))).text, answer.text)
        }),
        { numRuns: 400 },
      )
      assert.deepEqual([...statuses].sort(), [200, 400])
    }),
  )

  test(
    'of any bytes',
    unshaken(async (app) => {
      verifies('check.body.not-json', 'http.json-errors')
      const damaged = fc
        .tuple(fc.nat(good.length - 1), fc.uint8Array({ maxLength: 4 }), fc.nat(4))
        .map(([at, bytes, gone]) =>
          Buffer.concat([
            Buffer.from(good.slice(0, at)),
            bytes,
            Buffer.from(good.slice(at + gone)),
          ]),
        )
      await fc.assert(
        fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 200 }), damaged), async (bytes) => {
          assertKnown(await send(app, bytes))
        }),
        { numRuns: 400 },
      )
    }),
  )
})

describe('a hostile request', () => {
  /** The bytes of a check with these header lines in front of its body. */
  const posted = (lines: readonly string[], body: string) =>
    Buffer.from(
      [`POST /v1/check HTTP/1.1`, 'host: x', 'connection: close', ...lines, '', body].join(crlf),
      'latin1',
    )
  const length = `content-length: ${good.length}`

  test(
    'with any content type, or encoding, is read as it is',
    unshaken(async (app) => {
      verifies('check.body.content-type')
      const types = [
        '',
        ' ',
        ';',
        ';;;=',
        '/',
        'application',
        'application/',
        '/json',
        'application/json/json',
        'application/json; charset',
        'application/json; charset="',
        'application/json; charset=nonsense',
        'application/json;'.repeat(800),
        `text/${'x'.repeat(15_000)}`,
        'a, b, c',
        '"application/json"',
        '\xff\xfe/\x80',
        'application/\tjson',
        'multipart/form-data',
        'multipart/form-data; boundary=',
        'application/x-www-form-urlencoded',
        'application/grpc',
        'text/event-stream',
        '__proto__',
        'constructor/prototype',
      ]
      for (const type of types) {
        const [answer] = await sendRaw(app.url, posted([`content-type: ${type}`, length], good))
        assert.equal(answer?.status, 200, quoted(type.slice(0, 40)))
      }
      for (const encoding of ['gzip', 'br', 'deflate', 'identity', 'zstd', 'nonsense', '', '*']) {
        const line = `content-encoding: ${encoding}`
        const [plain] = await sendRaw(app.url, posted([line, length], good))
        assert.equal(plain?.status, 200, encoding)
      }
      const packed = await send(app, gzipSync(good), { 'content-encoding': 'gzip' })
      assert.equal(packed.status, 400)
    }),
  )

  test(
    'of more than 256 KiB is refused before it has all come',
    unshaken(async (app) => {
      verifies('http.413')
      const part = Buffer.alloc(64 * 1024, ' ')
      const announced = posted([`content-length: ${16 * 2 ** 20}`], '')
      const [refused] = await sendRaw(app.url, announced)
      assert.equal(refused?.status, 413)
      const [endless] = await sendRaw(
        app.url,
        posted([`content-length: ${Number.MAX_SAFE_INTEGER}`], ''),
      )
      assert.equal(endless?.status, 413)

      const socket = await openSocket(app.url)
      const ended = readToEnd(socket)
      socket.write(posted(['transfer-encoding: chunked'], ''))
      let sent = 0
      while (socket.writable && sent < 2 ** 30) {
        socket.write(`${part.length.toString(16)}${crlf}`)
        socket.write(part)
        const open = socket.write(crlf)
        sent += part.length
        await Promise.race([
          open ? new Promise(setImmediate) : once(socket, 'drain').catch(() => {}),
          ended,
        ])
      }
      const [chunked] = readAnswers(await ended)
      // The answer can be lost when the connection is reset in the face of more bytes.
      if (chunked !== undefined) assert.equal(chunked.status, 413)
      assert.ok(sent < 64 * 2 ** 20, `${sent} bytes were taken`)
      for (const body of [' '.repeat(2 ** 21), `"${'x'.repeat(2 ** 21)}"`, '['.repeat(2 ** 21)]) {
        assert.equal((await send(app, body)).status, 413)
      }
    }),
  )

  test('that breaks off leaves nothing but its count', async (t) => {
    verifies('check.counter.before-body', 'http.json-errors')
    const app = await start(t)
    const head = `POST /v1/check HTTP/1.1${crlf}host: x${crlf}expect: 100-continue${crlf}`
    const chunked = `transfer-encoding: chunked${crlf}${crlf}`
    for (const [index, { bytes, counts }] of [
      { bytes: '', counts: false },
      { bytes: 'POST /v1/che', counts: false },
      { bytes: `${head}${length}`, counts: false },
      { bytes: `${head}${length}${crlf}${crlf}`, counts: true },
      { bytes: `${head}${length}${crlf}${crlf}${good.slice(0, 9)}`, counts: true },
      { bytes: `${head}${chunked}9${crlf}{"gro`, counts: true },
      { bytes: `${head}${chunked}2${crlf}{}${crlf}`, counts: true },
    ].entries()) {
      for (const leave of ['end', 'resetAndDestroy'] as const) {
        const address = `${index} ${leave}`
        const socket = await openSocket(app.url)
        const closed = readToEnd(socket)
        socket.write(bytes.replace('host: x', `host: x${crlf}cf-connecting-ip: ${address}`))
        // The headers are there, so the call is counted; its body is waited for.
        if (counts) await once(socket, 'data')
        socket[leave]()
        for (const { status } of readAnswers(await closed)) assert.ok([100, 400].includes(status))
        const { headers } = await send(app, good, { 'cf-connecting-ip': address })
        const left = headers.get('x-ratelimit-remaining')
        assert.equal(left, counts ? '98' : '99', quoted(bytes))
      }
    }
    await app.running.stop()
    assert.deepEqual(faults(app), [])
  })

  test(
    'of any bytes ends, and never as a fault of ours',
    unshaken(async (app) => {
      verifies('http.json-errors')
      const request = posted([length, 'a: b'], good)
      const damaged = fc
        .tuple(fc.nat(request.length), fc.uint8Array({ maxLength: 6 }), fc.nat(6))
        .map(([at, bytes, gone]) =>
          Buffer.concat([request.subarray(0, at), bytes, request.subarray(at + gone)]),
        )
      const paths = fc
        .string({ unit: 'binary-ascii', maxLength: 60 })
        .map((path) => Buffer.from(`GET /${path} HTTP/1.1${crlf}connection: close${crlf}${crlf}`))
      await fc.assert(
        fc.asyncProperty(fc.oneof(damaged, paths, fc.uint8Array()), async (bytes) => {
          const socket = await openSocket(app.url)
          socket.end(bytes)
          for (const { status, headers, text } of readAnswers(await readToEnd(socket, 3_000))) {
            assert.ok(status < 500, `${status}: ${text}`)
            if (headers.get('content-type')?.startsWith('application/json')) JSON.parse(text)
          }
        }),
        { numRuns: 300 },
      )
    }),
  )

  test(
    'of an unknown path is counted in the metrics without its path',
    unshaken(async (app) => {
      verifies('process.metrics')
      for (const path of ['/v1/secret-1', '/secret-2?secret-3', '/v1/check?secret-4']) {
        await app.get(path, { 'x-secret-5': 'secret-6' })
      }
      const { text } = await app.get('/metrics')
      assert.doesNotMatch(text, /secret/)
      assert.match(text, /plumbline_requests_total\{method="GET",route="unknown",status="404"\} 2/)
    }),
  )
})
