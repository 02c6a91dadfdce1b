import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { z } from 'zod'
import { operations } from '../src/operations/all.ts'
import type { Operation } from '../src/operations/gate/declaration.ts'
import { check } from '../src/operations/steps/check.ts'
import { unavailable } from '../src/storage/database/database.ts'
import { type Answer, start } from './harness.ts'
import { freshFolder, spawnPlumbline } from './spawned.ts'
import { verifies } from './verifies.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const good = JSON.stringify({ ground: 'fix the login page', goal: 'fix the login form' })

type Json = Record<string, unknown>

/** The parts of an OpenAPI document that these tests read. */
interface Description {
  openapi: string
  info: { version: string }
  tags: { name: string }[]
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Json; headers: Record<string, { schema: Json }> }
}

interface DescribedOperation {
  operationId: string
  tags: string[]
  requestBody: { content: { 'application/json': { schema: Json } } }
  responses: Record<string, DescribedResponse>
}

interface DescribedResponse {
  headers?: Record<string, { $ref: string }>
  content: { 'application/json': { schema: Json } }
}

test('the description is served without a key, and is valid OpenAPI 3.1', async (t) => {
  verifies('openapi.served')
  const app = await start(t)
  const { status, text, body } = await app.get('/v1/openapi.json')
  assert.deepEqual([status, body.openapi], [200, '3.1.0'])
  const file = join(freshFolder(t), 'served.json')
  writeFileSync(file, text)
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const redocly = join(root, 'node_modules/.bin/redocly')
  await run(redocly, ['lint', file, '--config', join(root, 'redocly.yaml')], { env })
})

test('a description that the caller holds is not sent again', async (t) => {
  verifies('openapi.etag')
  const token = 'an-operator-of-this-server'
  const app = await start(t, { env: { PLUMBLINE_ADMIN_TOKEN: token } })
  for (const [path, credential] of [
    ['/v1/openapi.json', {}],
    ['/v1/admin/openapi.json', { authorization: `Bearer ${token}` }],
  ] as const) {
    const whole = await app.get(path, credential)
    const etag = whole.headers.get('etag') ?? ''
    assert.match(etag, /^"[\w-]{43}"$/)
    assert.equal(whole.body.openapi, '3.1.0')
    for (const held of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const { status, text, headers } = await app.get(path, {
        ...credential,
        'if-none-match': held,
      })
      assert.deepEqual([status, text, headers.get('etag')], [304, '', etag], held)
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.notEqual(headers.get('x-request-id'), null)
    }
    const other = await app.get(path, { ...credential, 'if-none-match': '"x"' })
    assert.deepEqual([other.status, other.text], [200, whole.text])
  }
  const refused = await app.get('/v1/admin/openapi.json', { 'if-none-match': '*' })
  assert.equal(refused.status, 401)
  assert.equal((await app.get('/v1/tiers', { 'if-none-match': '*' })).status, 200)
})

test('the description that is checked in is the one that is served', async (t) => {
  verifies('openapi.served')
  const checkedIn = readFileSync(join(root, 'openapi.json'), 'utf8')
  const { written, ended } = spawnPlumbline(t, ['openapi'])
  assert.equal(await ended, 0)
  assert.equal(written.out, checkedIn, 'openapi.json is stale: npm run openapi')
  const app = await start(t, { env: { PLUMBLINE_BASE_URL: 'http://127.0.0.1:8787' } })
  assert.deepEqual((await app.get('/v1/openapi.json')).body, JSON.parse(checkedIn))
})

test('it describes every operation but the administrative ones, under /v1 and in one group', async (t) => {
  verifies('http.prefix', 'openapi.version', 'openapi.tags')
  const app = await start(t)
  const description: Description = (await app.get('/v1/openapi.json')).body
  assert.equal(description.info.version, '2026-08-27')
  const described = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => ({ path, method, ...each })),
  )
  const open = operations.filter(({ access }) => access !== 'admin')
  const routes = open.map(({ name, http }) => `${name}: ${http.method} ${http.path}`)
  const found = described.map(
    ({ operationId, method, path }) => `${operationId}: ${method.toUpperCase()} ${path}`,
  )
  const byHand = [
    'openapi.read: GET /v1/openapi.json',
    'upgrade.event: POST /v1/stripe/webhook',
    'hooks.report: POST /v1/hooks/{host}',
    'hooks.report-named: POST /v1/hooks/{host}/{event}',
    'hooks.report-read: POST /v1/hooks/plain',
    'telemetry.logs-otlp: POST /v1/otlp/v1/logs',
    'telemetry.logs: POST /v1/logs',
    'telemetry.metrics-otlp: POST /v1/otlp/v1/metrics',
    'telemetry.metrics: POST /v1/metrics',
    'telemetry.traces-otlp: POST /v1/otlp/v1/traces',
    'telemetry.traces: POST /v1/traces',
  ]
  assert.deepEqual(found.sort(), [...routes, ...byHand].sort())
  const groups = ['detector', 'account', 'operating', 'team', 'field']
  for (const { path, method, tags } of described) {
    assert.match(path, /^\/v1\//)
    assert.equal(tags.length, 1, path)
    assert.ok(groups.includes(tags[0]!), `${path}: ${tags}`)
    const { status, body } = await app.request(method.toUpperCase(), path)
    assert.ok(body?.error !== 'not_found' && status !== 405, `${method} ${path} is no route`)
  }
  const declared = new Set(description.tags.map(({ name }) => name))
  for (const group of groups) assert.ok(declared.has(group), group)
})

test('every answer of the check is one that it describes', async (t) => {
  verifies('openapi.served', 'check.400.shapes')
  const failing = (path: `/v1/${string}`, error: Error): Operation => ({
    ...(check as Operation),
    http: { method: 'POST', path },
    answer: async () => {
      throw error
    },
  })
  const app = await start(t, {
    env: { PLUMBLINE_CHECK_PER_DAY: '9' },
    operations: [
      check,
      failing('/v1/broken', new Error('broken')),
      failing('/v1/away', unavailable('away')),
    ],
  })
  const description: Description = (await app.get('/v1/openapi.json')).body
  const { responses, requestBody } = description.paths['/v1/check']!.post!
  const send = (body: string, path = '/v1/check') => app.request('POST', path, { body })
  const steps = Array.from({ length: 12 }, (_, at) => ({
    goal: at % 2 === 0 ? 'fix the login page' : 'do not fix the login page',
    progress: ['advancing', 'stuck', 'sideways'][at % 3],
  }))
  const refused = await send('{}')
  const answers = [
    refused,
    await send(good),
    await send(JSON.stringify({ steps })),
    await send(JSON.stringify({ steps: Array(12).fill({ goal: 'the' }) })),
    await send(JSON.stringify({ steps: Array(65).fill(0) })),
    await send('x'.repeat(300_000)),
    await send(good, '/v1/broken'),
    await send(good, '/v1/away'),
  ]
  const { two_step, sequence } = refused.body.shapes
  const request = reader(description, requestBody.content['application/json'].schema)
  for (const body of [two_step, sequence]) {
    request.parse(body)
    answers.push(await send(JSON.stringify(body)))
  }
  answers.push(await send(good), await send(good))
  assert.deepEqual(
    [...new Set(answers.map(({ status }) => String(status)))].sort(),
    Object.keys(responses).sort(),
    'every described status is seen, and no other',
  )
  for (const answer of answers) assertDescribed(description, responses[answer.status]!, answer)
  assert.throws(() => reader(description, { type: 'object', properties: {} }).parse({ a: 1 }))
})

/** Body and headers are as a response describes them; a field it does not name is a fault. */
function assertDescribed(
  description: Description,
  { content, headers = {} }: DescribedResponse,
  answer: Answer,
): void {
  const { success, error } = reader(description, content['application/json'].schema).safeParse(
    answer.body,
  )
  assert.ok(success, `${answer.status}: ${error?.message}`)
  for (const [name, { $ref }] of Object.entries(headers)) {
    const value = answer.headers.get(name)
    // A fault in front of the count leaves nothing to tell of it.
    if (value === null && answer.status >= 500 && name.startsWith('x-ratelimit')) continue
    assert.notEqual(value, null, `${answer.status} carries ${name}`)
    const { schema } = description.components.headers[$ref.split('/').at(-1)!]!
    const typed = schema.type === 'integer' ? Number(value) : value
    assert.ok(reader(description, schema).safeParse(typed).success, `${name}: ${value}`)
  }
}

/** A schema of the document as something that reads values. */
function reader(description: Description, schema: Json): z.ZodType {
  const { schemas } = description.components
  const text = JSON.stringify({ ...schema, $defs: schemas })
  const local = JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/'), closed)
  return z.fromJSONSchema(local)
}

function closed(_key: string, value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null
  return isObject && 'properties' in value && 'type' in value
    ? { ...value, additionalProperties: false }
    : value
}
