import assert from 'node:assert/strict'
import { test } from 'node:test'
import { start } from './harness.ts'
import { surfaceOf } from './surface.ts'
import { verifies } from './verifies.ts'

test('the HTTP surface answers without a port', async (t) => {
  verifies('http.headers', 'http.404', 'http.405-allow', 'http.413', 'http.ambiguous')
  const http = surfaceOf(await start(t))
  t.after(() => http.close())

  const payload = { ground: 'fix the login page', goal: 'fix the login form' }
  const checked = await http.inject({ method: 'POST', url: '/v1/check', payload })
  assert.deepEqual([checked.statusCode, checked.json().ground], [200, payload.ground])
  assert.equal(checked.headers['x-request-id'], 'req_1')
  assert.equal(checked.headers['x-ratelimit-remaining'], '99')
  assert.equal(Number(checked.headers['content-length']), Buffer.byteLength(checked.payload))

  const large = ' '.repeat(256 * 1024 + 1)
  const refused = await http.inject({ method: 'POST', url: '/v1/check', payload: large })
  assert.deepEqual([refused.statusCode, refused.headers.connection], [413, 'close'])
  assert.equal(refused.headers['x-ratelimit-remaining'], '98', 'counted before it is read')

  const unnamed = await http.inject('/v1/nothing')
  assert.deepEqual([unnamed.statusCode, unnamed.json().error], [404, 'not_found'])
  const wrong = await http.inject('/v1/check')
  assert.deepEqual([wrong.statusCode, wrong.headers.allow], [405, 'POST'])
  for (const url of ['/v1/tiers', '/v1/nothing', '/v1/%zz']) {
    const ambiguous = await http.inject({ url, headers: { host: ['a', 'b'] } as never })
    assert.match(ambiguous.json().detail, /^The header Host was sent more than once/, url)
  }
})

test('an answer that the caller holds is not sent again, to HEAD neither', async (t) => {
  verifies('openapi.etag')
  const http = surfaceOf(await start(t))
  t.after(() => http.close())
  const url = '/v1/openapi.json'
  const { headers, payload } = await http.inject(url)
  assert.equal(Number(headers['content-length']), Buffer.byteLength(payload))
  for (const method of ['GET', 'HEAD'] as const) {
    for (const tag of [headers.etag, `"x", W/${headers.etag}`, '*']) {
      const held = { 'if-none-match': String(tag) }
      const answer = await http.inject({ method, url, headers: held })
      assert.deepEqual([answer.statusCode, answer.payload], [304, ''], `${method} ${tag}`)
      assert.equal(answer.headers['content-type'], undefined)
    }
    const answer = await http.inject({ method, url, headers: { 'if-none-match': '"x"' } })
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['content-length'], headers['content-length'])
  }
})
