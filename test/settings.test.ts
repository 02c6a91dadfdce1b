import assert from 'node:assert/strict'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { type Config, readConfig } from '../src/config.ts'
import { addressBucket } from '../src/surfaces/http/address.ts'
import { databases } from './backends.ts'
import { type App, start } from './harness.ts'
import { freshFolder, spawnPlumbline, spawnServe } from './spawned.ts'
import { verifies } from './verifies.ts'

const good = JSON.stringify({ ground: 'fix the login page', goal: 'fix the login form' })
const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
)

/** Values that each setting refuses, and others that it takes. */
const settings: Record<string, { bad: string[]; good: string[] }> = {
  PORT: { bad: ['x', '-1', '65536', '80.5', '1e3', '0x50', ' 80'], good: ['0', '1', '65535'] },
  DATABASE_URL: {
    bad: ['x', 'mysql://localhost/x', 'sqlite:', 'postgres:', './data/plumbline.db'],
    good: ['sqlite:x.db', 'sqlite::memory:', 'postgres://localhost/x', 'postgresql://u:p@h:1/x'],
  },
  PLUMBLINE_BASE_URL: {
    bad: ['x', 'plumbline.example', 'ftp://plumbline.example', 'https://', 'javascript:0'],
    good: ['http://127.0.0.1:1', 'https://plumbline.example/below/'],
  },
  PLUMBLINE_ALT_BASE_URL: { bad: ['x', 'mailto:a@b'], good: ['https://plumbline.example'] },
  PLUMBLINE_DETECTOR: {
    bad: ['x', 'Overlap', '__proto__', 'toString'],
    good: ['overlap', 'meaning'],
  },
  PLUMBLINE_LIMIT: {
    bad: ['x', '0', '1', '0.99', '-0.8', '2.9', 'NaN', 'Infinity'],
    good: ['0.31', '0.8', '.9'],
  },
  PLUMBLINE_CHECK_PER_DAY: { bad: ['x', '-1', '1.5', 'Infinity', '1e9'], good: ['0', '100000'] },
  PLUMBLINE_TOOLS_PER_DAY: { bad: ['x', '-1', '1.5', '1e3', '1000000001'], good: ['0', '5000'] },
  PLUMBLINE_CLIENT_ADDRESS: {
    bad: ['a b', 'x:', 'x,y', 'é', 'a\nb'],
    good: ['socket', 'X-Forwarded-For'],
  },
  PLUMBLINE_TRUSTED_PROXIES: {
    bad: [
      'x',
      '10.0.0.0/33',
      'fd00::/129',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '10.0.0.0/x',
      '10.0.0.0/8,',
      '10.0.0/8',
      '256.0.0.0/8',
      'localhost',
      '10.0.0.0/8 fd00::/8',
    ],
    good: ['10.0.0.0/8', '127.0.0.1', 'fd00::/8,::1', ' 10.0.0.0/8 , 0.0.0.0/0 '],
  },
  PLUMBLINE_WEBHOOK_ALLOW: {
    bad: ['http://receiver', 'receiver/x', 'a b', '10.0.0.0/33', 'receiver:99999', '*.example'],
    good: ['receiver', 'receiver:8080, 127.0.0.1:9000', '10.0.0.0/8,fd00::/8', '[::1]:80'],
  },
  PLUMBLINE_BOOTSTRAP_KEY: {
    // The second has a wrong checksum.
    bad: ['x', `pl_live_${'0'.repeat(43)}_000000`],
    good: ['pl_live_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg_0rgtVP'],
  },
  PLUMBLINE_METRICS_PORT: { bad: ['x', '65536'], good: ['0', '9464'] },
  PLUMBLINE_HOME: { bad: ['x', './x', '~/x'], good: ['/x', '/x/.plumbline/'] },
  LOG_LEVEL: { bad: ['x', 'INFO', 'verbose', '30'], good: ['fatal', 'info', 'trace', 'silent'] },
}

function configOf(environment: Record<string, string>): Config {
  const config = readConfig(environment)
  assert.ok(!('faults' in config), JSON.stringify(config))
  return config
}

function faultsOf(environment: Record<string, string>): string[] {
  const config = readConfig(environment)
  assert.ok('faults' in config, `${JSON.stringify(environment)} is taken`)
  return config.faults
}

test('every fault is named, with what to send', () => {
  verifies('settings.faults', 'settings.detector')
  const worst: Record<string, string> = {}
  for (const [name, { bad, good }] of Object.entries(settings)) {
    for (const value of bad) {
      const [fault = '', ...more] = faultsOf({ [name]: value })
      assert.match(fault, new RegExp(`^${name}: .*send `))
      assert.deepEqual(more, [], `${name} ${value}`)
    }
    for (const value of [...good, '', ' ']) configOf({ [name]: value })
    worst[name] = bad[0]!
  }
  const faults = faultsOf(worst)
  for (const name of Object.keys(settings)) {
    assert.equal(faults.filter((fault) => fault.startsWith(`${name}: `)).length, 1, name)
  }
  const [first, second] = faultsOf({ PLUMBLINE_TRUSTED_PROXIES: 'x, 10.0.0.0/8, y' })
  assert.match(first!, /"x"/)
  assert.match(second!, /"y"/)
})

test('the collector of results has an address, headers, and two switches', () => {
  verifies('settings.otlp', 'settings.faults')
  const url = 'http://127.0.0.1:4318'
  assert.equal(configOf({}).otlp, null)
  assert.deepEqual(configOf({ PLUMBLINE_OTLP_URL: url }).otlp, {
    ...{ url: `${url}/v1/logs`, headers: {}, all: false, text: false },
  })
  const full = configOf({
    PLUMBLINE_OTLP_URL: 'https://collector.example/otlp/v1/logs/',
    PLUMBLINE_OTLP_HEADERS: 'Authorization=Bearer%20a=b, x-tenant=one',
    PLUMBLINE_OTLP_ALL: 'true',
    PLUMBLINE_OTLP_TEXT: 'true',
  })
  assert.deepEqual(full.otlp, {
    url: 'https://collector.example/otlp/v1/logs',
    headers: { authorization: 'Bearer a=b', 'x-tenant': 'one' },
    ...{ all: true, text: true },
  })
  for (const bad of ['x', 'ftp://c', 'http://user:pass@c', 'http://c/?key=x', 'http://c/#x']) {
    const [fault = '', ...more] = faultsOf({ PLUMBLINE_OTLP_URL: bad })
    assert.match(fault, /^PLUMBLINE_OTLP_URL: send /)
    assert.deepEqual(more, [], bad)
  }
  for (const [bad, says] of [
    ['S3CRET', /part 1 names no header; send NAME=VALUE/],
    ['a=b,', /part 2 names no header/],
    ['a b=S3CRET', /part 1 names no header/],
    ['authorization=', /the value of authorization is no header/],
    ['authorization=S3CRET%0d%0ax', /the value of authorization is no header/],
    ['authorization=S3CRET%', /the value of authorization is no header/],
    ['content-type=S3CRET', /content-type cannot be set/],
    ['Host=S3CRET', /host cannot be set/],
  ] as const) {
    const [fault = '', ...more] = faultsOf({
      PLUMBLINE_OTLP_URL: url,
      PLUMBLINE_OTLP_HEADERS: bad,
    })
    assert.match(fault, new RegExp(`^PLUMBLINE_OTLP_HEADERS: .*${says.source}`))
    assert.deepEqual([more, fault.includes('S3CRET')], [[], false], bad)
  }
  for (const name of ['PLUMBLINE_OTLP_ALL', 'PLUMBLINE_OTLP_TEXT']) {
    assert.deepEqual(faultsOf({ PLUMBLINE_OTLP_URL: url, [name]: 'yes' }), [
      `${name}: send true or false`,
    ])
    assert.deepEqual(faultsOf({ [name]: 'true' }), [
      `PLUMBLINE_OTLP_URL: set it too, because ${name} is set`,
    ])
  }
})

test('a process with faults in its settings names them all and does not start', async (t) => {
  verifies('settings.faults')
  const { folder, written, ended } = spawnPlumbline(t, ['serve'], {
    env: { PORT: 'x', LOG_LEVEL: 'loud', PLUMBLINE_CHECK_PER_DAY: '-1', DATABASE_URL: 'a:b' },
  })
  assert.equal(await ended, 2)
  assert.equal(written.out, '')
  for (const name of ['PORT', 'LOG_LEVEL', 'PLUMBLINE_CHECK_PER_DAY', 'DATABASE_URL']) {
    assert.match(written.err, new RegExp(`^ +${name}: `, 'm'))
  }
  assert.doesNotMatch(written.err, /\bat .*\.ts|node:/)
  assert.deepEqual(readdirSync(folder), [])
})

test('mail has a server and a sender, and neither without the other', () => {
  verifies('settings.smtp', 'settings.faults')
  const server = 'smtp://us%40er:pass@mail.test:587'
  const sender = 'Plumbline <no-reply@plumbline.test>'
  assert.equal(configOf({}).mail, null)
  const both = { PLUMBLINE_SMTP_URL: server, PLUMBLINE_MAIL_FROM: sender }
  assert.deepEqual(configOf(both).mail, { smtpUrl: server, from: sender })
  for (const url of ['x', 'mail.test', 'http://mail.test', 'smtp://', 'smtp:mail']) {
    const [fault = '', ...more] = faultsOf({ ...both, PLUMBLINE_SMTP_URL: url })
    assert.match(fault, /^PLUMBLINE_SMTP_URL: send an smtp:/)
    assert.deepEqual(more, [], url)
  }
  for (const from of ['x', '@', 'a@', 'A <a@b', 'a@b\nbcc: c@d', 'a@b c@d']) {
    const [fault = '', ...more] = faultsOf({ ...both, PLUMBLINE_MAIL_FROM: from })
    assert.match(fault, /^PLUMBLINE_MAIL_FROM: send a mail address/)
    assert.deepEqual(more, [], from)
  }
  for (const from of ['a@b', 'a@b.test', '<a@b.test>', 'A B <a@b.test>', '"A, B" <a@b.test>']) {
    configOf({ ...both, PLUMBLINE_MAIL_FROM: from })
  }
  for (const [name, other] of [Object.keys(both), Object.keys(both).reverse()]) {
    const alone = { [name!]: both[name as keyof typeof both] }
    assert.deepEqual(faultsOf(alone), [`${other}: set it too, because ${name} is set`])
  }
  assert.equal(faultsOf({ PLUMBLINE_SMTP_URL: 'x', PORT: 'x' }).length, 3)
})

test('half of a group of settings is a fault that names what is missing', () => {
  verifies('settings.faults')
  for (const [name, value, ...missing] of [
    ['OIDC_CLIENT_SECRET', 'x', 'OIDC_ISSUER', 'OIDC_CLIENT_ID'],
    ['STRIPE_URL', 'http://127.0.0.1:1', 'STRIPE_KEY', 'STRIPE_WEBHOOK_SECRET', 'STRIPE_PRICES'],
    ['GUIDE_KEY', 'x', 'GUIDE_URL', 'GUIDE_MODEL'],
    ['EMBEDDINGS_KEY', 'x', 'EMBEDDINGS_URL', 'EMBEDDINGS_MODEL'],
    ['OTLP_HEADERS', 'a=b', 'OTLP_URL'],
  ]) {
    assert.deepEqual(
      faultsOf({ [`PLUMBLINE_${name}`]: value! }),
      missing.map((other) => `PLUMBLINE_${other}: set it too, because PLUMBLINE_${name} is set`),
    )
  }
})

test('an identity provider has an issuer and a client id, and an address that is safe', () => {
  verifies('settings.oidc', 'settings.faults')
  const issuer = 'https://id.example/realms/one/'
  assert.equal(configOf({}).identity, null)
  const both = { PLUMBLINE_OIDC_ISSUER: issuer, PLUMBLINE_OIDC_CLIENT_ID: 'plumbline' }
  const settings = { issuer, clientId: 'plumbline', clientSecret: null }
  assert.deepEqual(configOf(both).identity, settings, 'the issuer is kept as it is spelled')
  const secret = { PLUMBLINE_OIDC_CLIENT_SECRET: 'secret' }
  assert.equal(configOf({ ...both, ...secret }).identity?.clientSecret, 'secret')
  for (const url of ['http://localhost:1', 'http://127.0.0.1:1/x', 'http://[::1]:1']) {
    assert.equal(configOf({ ...both, PLUMBLINE_OIDC_ISSUER: url }).identity?.issuer, url)
  }
  for (const url of ['x', 'id.example', 'http://id.example', 'http://10.0.0.1', 'http://127.x']) {
    const [fault = '', ...more] = faultsOf({ ...both, PLUMBLINE_OIDC_ISSUER: url })
    assert.match(fault, /^PLUMBLINE_OIDC_ISSUER: send an https:/)
    assert.deepEqual(more, [], url)
  }
  for (const [name, other] of [Object.keys(both), Object.keys(both).reverse()]) {
    const alone = { [name!]: both[name as keyof typeof both] }
    assert.deepEqual(faultsOf(alone), [`${other}: set it too, because ${name} is set`])
  }
})

test('payment has a key, a secret and prices, and none without the others', () => {
  verifies('settings.payment', 'settings.faults')
  assert.equal(configOf({}).payment, null)
  const all = {
    PLUMBLINE_STRIPE_KEY: 'sk_live_x',
    PLUMBLINE_STRIPE_WEBHOOK_SECRET: 'whsec_x',
    PLUMBLINE_STRIPE_PRICES: '{"solo":"price_1","pro":"price_2"}',
  }
  const prices = new Map([
    ['solo', 'price_1'],
    ['pro', 'price_2'],
  ])
  const payment = { key: 'sk_live_x', webhookSecret: 'whsec_x', prices, url: null }
  assert.deepEqual(configOf(all).payment, payment)
  for (const text of [
    'x',
    '{}',
    '[]',
    'null',
    '["price_1"]',
    '{"solo":7}',
    '{"solo":""}',
    '{"ground":"price_1"}',
    '{"sultan":"price_1"}',
    '{"solo":"price_1","pro":"price_1"}',
    '{"solo":"price 1"}',
  ]) {
    const faults = faultsOf({ ...all, PLUMBLINE_STRIPE_PRICES: text })
    for (const fault of faults) assert.match(fault, /^PLUMBLINE_STRIPE_PRICES: .*send /, text)
  }
  for (const [name, value] of Object.entries(all)) {
    const others = Object.keys(all).filter((other) => other !== name)
    assert.deepEqual(
      faultsOf({ [name]: value }),
      others.map((other) => `${other}: set it too, because ${name} is set`),
    )
  }
  for (const url of ['x', 'http://api.stripe.example']) {
    const [fault = ''] = faultsOf({ ...all, PLUMBLINE_STRIPE_URL: url })
    assert.match(fault, /^PLUMBLINE_STRIPE_URL: send an https:/)
  }
})

test('a setting that is not known is only warned of', async (t) => {
  verifies('settings.faults')
  const env = { PLUMBLINE_CHECKS_PER_DAY: '5', PLUMBLINE_NOTHING: '', OTHER: 'x' }
  const app = await start(t, { env })
  const warnings = app.log.filter(({ level }) => level === 40)
  assert.deepEqual(
    warnings.map(({ name }) => name),
    ['PLUMBLINE_CHECKS_PER_DAY'],
  )
  assert.equal(await limitOf(app), '100')
})

test('a setting that this version does not have yet is warned of as such', async (t) => {
  verifies('settings.later')
  const names = ['PLUMBLINE_JUDGE_URL', 'PLUMBLINE_WORKERS']
  const env = Object.fromEntries(names.map((name) => [name, 'x']))
  const app = await start(t, { env: { ...env, PLUMBLINE_KEY: 'x' } })
  const warnings = app.log.filter(({ level }) => level === 40)
  assert.deepEqual(
    warnings.map(({ name, msg }) => [name, msg]),
    names.map((name) => [name, 'this version does not have this setting yet, and ignores it']),
  )
  const { ended, written } = spawnPlumbline(t, ['doctor'], { env })
  await ended
  assert.match(written.out, /not in this version yet: PLUMBLINE_JUDGE_URL, /)
})

test('a .env file is read, and the environment goes before it', async (t) => {
  verifies('settings.env-file')
  const folder = freshFolder(t)
  writeFileSync(
    join(folder, '.env'),
    '# settings\nPLUMBLINE_CHECK_PER_DAY=7\nPLUMBLINE_BASE_URL="https://from.example/file"\nPORT=1\n',
  )
  const env = { PORT: '0', PLUMBLINE_BASE_URL: 'https://from.example/environment' }
  const { url } = await spawnServe(t, { folder, env })
  const { headers } = await fetch(`${url}/v1/check`, { method: 'POST', body: good })
  assert.equal(headers.get('x-ratelimit-limit'), '7')
  assert.match(headers.get('link') ?? '', /^<https:\/\/from\.example\/environment\//)
})

test('port 0 is any free one', async (t) => {
  verifies('settings.port-zero')
  const [one, another] = await Promise.all([spawnServe(t), start(t, { env: { PORT: '0' } })])
  assert.match(one.url, /^http:\/\/127\.0\.0\.1:[1-9]\d+$/, 'the port is printed')
  assert.notEqual(one.url, another.url)
  for (const { url } of [one, another]) assert.equal((await fetch(`${url}/healthz`)).status, 200)
})

test('it listens where HOST and PORT say', async (t) => {
  verifies('settings.host')
  assert.deepEqual([configOf({}).host, configOf({}).port], ['127.0.0.1', 8787])
  const port = await freePort()
  const { url } = await start(t, { env: { HOST: '127.0.0.3', PORT: String(port) } })
  assert.equal(url, `http://127.0.0.3:${port}`)
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`))
  if (hasIpv6) {
    const wide = await start(t, { env: { HOST: '::1' } })
    assert.match(wide.url, /^http:\/\/\[::1\]:\d+$/)
    assert.equal((await wide.get('/healthz')).status, 200)
  }
})

test('a port that is taken is said so, and nothing goes on listening', async (t) => {
  verifies('settings.host', 'process.metrics-port')
  const taken = createServer().listen(0, '127.0.0.1')
  t.after(() => taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const port = String((taken.address() as { port: number }).port)
  const message = `port ${port} of 127.0.0.1 is in use by another program or server; set PORT to another one.`
  const both = start(t, { env: { PORT: port, PLUMBLINE_METRICS_PORT: '0' } })
  await assert.rejects(both, { code: 'EADDRINUSE' })
  const env = { PORT: '0', PLUMBLINE_METRICS_PORT: port }
  const { written, ended } = spawnPlumbline(t, ['serve'], { env })
  assert.equal(await ended, 2)
  assert.deepEqual(written, { out: '', err: `plumbline serve: ${message}\n` })
})

test('DATABASE_URL names a file, memory or a server', async (t) => {
  verifies('settings.database')
  assert.equal(configOf({}).databaseUrl, 'sqlite:./data/plumbline.db')
  const postgres = databases.find(({ name }) => name === 'postgres')!
  const folder = freshFolder(t)
  const urls = ['sqlite::memory:', `sqlite:${join(folder, 'deep/er/x.db')}`]
  if (postgres.skip === false) urls.push(await postgres.createEmptyUrl())
  for (const DATABASE_URL of urls) {
    const app = await start(t, { env: { DATABASE_URL } })
    assert.equal((await app.get('/readyz')).status, 200)
    assert.equal(await limitOf(app), '100')
  }
  assert.deepEqual(readdirSync(folder), ['deep'])
  assert.ok(existsSync(join(folder, 'deep/er/x.db')))
  assert.ok(!existsSync(':memory:'))
})

test('a database that is away is said so in one line', async (t) => {
  verifies('settings.database')
  const DATABASE_URL = 'postgres://user:hidden@127.0.0.1:1/x'
  const { written, ended } = spawnPlumbline(t, ['serve'], { env: { PORT: '0', DATABASE_URL } })
  assert.equal(await ended, 2)
  assert.match(written.err, /^plumbline serve: The database .*ECONNREFUSED.*\n$/)
  assert.doesNotMatch(written.err, /hidden/)
})

test('the base address is used in links', async (t) => {
  verifies('settings.base-url', 'openapi.servers', 'http.headers')
  for (const [sent, base] of [
    ['', null],
    ['https://plumbline.example', 'https://plumbline.example'],
    ['https://plumbline.example/', 'https://plumbline.example'],
    ['HTTPS://Plumbline.Example/below/it//', 'https://plumbline.example/below/it'],
    [' http://plumbline.example:8080 ', 'http://plumbline.example:8080'],
    ['https://plümbline.example/日', 'https://xn--plmbline-75a.example/%E6%97%A5'],
  ] as const) {
    const app = await start(t, { env: { PLUMBLINE_BASE_URL: sent } })
    const expected = base ?? app.url
    const description = await app.get('/v1/openapi.json')
    const link = `<${expected}/docs/migration>; rel="deprecation"`
    assert.equal(description.headers.get('link'), link)
    assert.deepEqual(description.body.servers, [{ url: expected }])
    for (const page of ['/', '/docs/migration']) {
      assert.ok((await app.get(page)).text.includes(expected), page)
    }
  }
  const both = await start(t, {
    env: {
      PLUMBLINE_BASE_URL: 'https://one.example',
      PLUMBLINE_ALT_BASE_URL: 'https://other.example/',
    },
  })
  assert.deepEqual((await both.get('/v1/openapi.json')).body.servers, [
    { url: 'https://one.example' },
    { url: 'https://other.example' },
  ])
})

test('a server that others can reach warns of what is not set for it', async (t) => {
  verifies('settings.public-warning')
  const mail = {
    PLUMBLINE_SMTP_URL: 'smtp://127.0.0.1:1',
    PLUMBLINE_MAIL_FROM: 'plumbline@example.com',
  }
  const anybody = /HOST is .*PLUMBLINE_TRUSTED_PROXIES is not set.*PLUMBLINE_CLIENT_ADDRESS=socket/
  const metrics = /Everybody can read \/metrics/
  const links = /Links in mails lead to http:\/\/127\.0\.0\.1:\d+,.*PLUMBLINE_BASE_URL/
  const provider = {
    PLUMBLINE_OIDC_ISSUER: 'https://id.example',
    PLUMBLINE_OIDC_CLIENT_ID: 'plumbline',
  }
  const callback = /provider leads people back to http:.*PLUMBLINE_BASE_URL.*\/auth\/callback/
  const near = { HOST: '0.0.0.0', PLUMBLINE_CLIENT_ADDRESS: 'socket' }
  for (const [env, expected] of [
    [{}, []],
    [{ HOST: 'localhost', ...provider }, []],
    [{ ...near, ...provider }, [callback]],
    [{ ...near, ...provider, PLUMBLINE_BASE_URL: 'https://p.example' }, []],
    [{ HOST: 'localhost', ...mail }, []],
    [{ HOST: '127.0.0.2', ...mail }, []],
    [{ HOST: '0.0.0.0' }, [anybody, metrics]],
    [{ HOST: '0.0.0.0', PLUMBLINE_METRICS_PORT: '0' }, [anybody]],
    [{ HOST: '0.0.0.0', PLUMBLINE_CLIENT_ADDRESS: 'socket' }, []],
    [{ HOST: '0.0.0.0', PLUMBLINE_TRUSTED_PROXIES: '10.0.0.1', ...mail }, [links]],
    [{ HOST: '0.0.0.0', ...mail, PLUMBLINE_BASE_URL: 'https://p.example' }, [anybody, metrics]],
  ] as const) {
    const app = await start(t, { env: { ...env } })
    const warned = app.log.filter(({ level }) => level === 40).map(({ msg }) => msg)
    for (const pattern of [anybody, metrics, links] as RegExp[]) {
      const said = (expected as readonly RegExp[]).includes(pattern)
      assert.equal(pattern.test(warned.join('\n')), said, `${pattern} for ${JSON.stringify(env)}`)
    }
  }
})

test('a link never leads to an address that stands for all', { skip: !hasIpv6 }, async (t) => {
  verifies('settings.public-warning')
  for (const host of ['0.0.0.0', '::']) {
    const app = await start(t, { env: { HOST: host } })
    assert.match(app.url, /^http:\/\/(127\.0\.0\.1|\[::1\]):\d+$/)
    assert.deepEqual((await app.get('/v1/openapi.json')).body.servers, [{ url: app.url }])
  }
})

test('the default detector is meaning, and overlap can be chosen', async (t) => {
  verifies('settings.detector-default', 'meaning.default')
  assert.equal(configOf({}).detector, 'meaning')
  const app = await start(t)
  const said = await app.post('/v1/check', { ground: 'refund order 17', goal: 'refund order 71' })
  assert.equal(said.body.verdict.detector, 'meaning')
  assert.match(said.body.verdict.why, /"17" in the ground is "71" in the goal/)
  const chosen = await app.post('/v1/check', {
    ...said.body.steps[0],
    ground: 'a',
    detector: 'overlap',
  })
  assert.equal(chosen.body.verdict.detector, 'overlap')
})

test('the default detector is set', async (t) => {
  verifies('settings.detector')
  assert.match(faultsOf({ PLUMBLINE_DETECTOR: 'vibes' })[0]!, /PLUMBLINE_DETECTOR: send .*overlap/)
  const app = await start(t, { env: { PLUMBLINE_DETECTOR: 'overlap' } })
  const { body } = await app.request('POST', '/v1/check', { body: good })
  assert.equal(body.verdict.detector, 'overlap')
})

test('the calls a day are set, and 0 means no limit', async (t) => {
  verifies('settings.check-per-day')
  assert.equal(configOf({}).checkPerDay, 100)
  const few = await start(t, { env: { PLUMBLINE_CHECK_PER_DAY: '2' } })
  const statuses = []
  for (let call = 0; call < 3; call++) {
    statuses.push((await few.request('POST', '/v1/check', { body: good })).status)
  }
  assert.deepEqual(statuses, [200, 200, 429])
  const { detail } = (await few.request('POST', '/v1/check', { body: good })).body
  assert.match(detail, /operator .* PLUMBLINE_CHECK_PER_DAY\.$/)
  const unlimited = await start(t, { env: { PLUMBLINE_CHECK_PER_DAY: '0' } })
  const calls = Array.from({ length: 150 }, () =>
    unlimited.request('POST', '/v1/check', { body: good }),
  )
  for (const { status, headers } of await Promise.all(calls)) {
    assert.equal(status, 200)
    assert.deepEqual(
      [...headers.keys()].filter((name) => name.startsWith('x-ratelimit')),
      [],
    )
  }
})

test('the header that names the caller is set, or the socket does', async (t) => {
  verifies('settings.client-address')
  const named = await start(t, { env: { PLUMBLINE_CLIENT_ADDRESS: 'X-Real-IP' } })
  assert.equal(await leftFor(named, { headers: { 'x-real-ip': '192.0.2.1' } }), 99)
  assert.equal(await leftFor(named, { headers: { 'X-REAL-IP': '192.0.2.1' } }), 98)
  assert.equal(await leftFor(named, { headers: { 'x-real-ip': '192.0.2.2' } }), 99)
  assert.equal(await leftFor(named, {}), 99)
  assert.equal(await leftFor(named, { headers: { 'cf-connecting-ip': '192.0.2.1' } }), 98)
  assert.equal(await leftFor(named, { from: '127.0.0.2' }), 97)

  const bare = await start(t, { env: { PLUMBLINE_CLIENT_ADDRESS: 'socket' } })
  assert.equal(await leftFor(bare, {}), 99)
  assert.equal(await leftFor(bare, { headers: { 'cf-connecting-ip': '192.0.2.1' } }), 98)
  assert.equal(await leftFor(bare, { headers: { socket: '192.0.2.1' } }), 97)
  assert.equal(await leftFor(bare, { from: '127.0.0.2' }), 99)

  const forwarded = { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' }
  const usual = await start(t)
  assert.equal(await leftFor(usual, { headers: forwarded }), 99)
  assert.equal(await leftFor(usual, {}), 98)
})

test('the header counts only from a trusted proxy, when some are named', async (t) => {
  verifies('settings.trusted-proxies', 'check.counter.unknown')
  const headers = { 'cf-connecting-ip': '192.0.2.1' }
  for (const [networks, from, trusted] of [
    ['127.0.0.2', '127.0.0.2', true],
    ['127.0.0.2', '127.0.0.3', false],
    ['127.0.0.2/31', '127.0.0.3', true],
    ['10.0.0.0/8', '127.0.0.1', false],
    ['10.0.0.0/8, ::1, 127.0.0.0/8', '127.0.0.1', true],
    ['0.0.0.0/0', '127.0.0.1', true],
    ['fd00::/8, ::1', '127.0.0.1', false],
  ] as const) {
    const app = await start(t, { env: { PLUMBLINE_TRUSTED_PROXIES: networks } })
    assert.equal(await leftFor(app, { from }), 99)
    assert.equal(await leftFor(app, { from, headers }), 99, networks)
    assert.equal(await leftFor(app, { from, headers }), 98, networks)
    const other = { 'cf-connecting-ip': '192.0.2.2' }
    assert.equal(await leftFor(app, { from, headers: other }), trusted ? 99 : 97, networks)
    assert.equal(await leftFor(app, { from }), 98, 'without the header it is unknown')
  }
})

test('an IPv4 peer of an IPv6 socket is the same peer', { skip: !hasIpv6 }, async (t) => {
  verifies('settings.trusted-proxies', 'settings.client-address')
  const headers = { 'cf-connecting-ip': '192.0.2.1' }
  const env = { HOST: '::', PLUMBLINE_TRUSTED_PROXIES: '127.0.0.1' }
  const trusting = await start(t, { env })
  const port = new URL(trusting.url).port
  const asIpv4 = { url: `http://127.0.0.1:${port}` }
  const asIpv6 = { url: `http://[::1]:${port}` }
  assert.equal(await leftFor(asIpv4, { headers }), 99)
  assert.equal(await leftFor(asIpv6, { headers }), 99, 'no trusted peer, so its own address')
  assert.equal(await leftFor(asIpv4, { headers }), 98)
})

test('of a list the rightmost address that is no proxy is the caller', async (t) => {
  verifies('settings.address-list')
  const env = {
    PLUMBLINE_CLIENT_ADDRESS: 'x-forwarded-for',
    PLUMBLINE_TRUSTED_PROXIES: '127.0.0.1/32, 198.51.100.0/24',
  }
  const app = await start(t, { env })
  const left = (list: string | string[]) => leftFor(app, { headers: { 'x-forwarded-for': list } })
  let expected = 99
  for (const list of [
    '203.0.113.9',
    '10.0.0.1, 203.0.113.9',
    '10.0.0.2,203.0.113.9',
    ['10.0.0.3', '203.0.113.9'],
    'nonsense, 10.0.0.4 , ::ffff:203.0.113.9',
    '10.0.0.5, 203.0.113.9, 198.51.100.7, 127.0.0.1',
  ]) {
    assert.equal(await left(list), expected--, String(list))
  }
  expected = 99
  for (const list of ['nonsense', '203.0.113.9, nonsense', '203.0.113.9:4711', '203.0.113.9,']) {
    assert.equal(await left(list), expected--, `${list} is unknown`)
  }
  assert.equal(await leftFor(app, {}), expected)
  assert.equal(await left('198.51.100.7, 127.0.0.1'), 99, 'a proxy may call by itself')
  assert.equal(await left('198.51.100.7'), 98)

  const unnamed = await start(t, { env: { PLUMBLINE_CLIENT_ADDRESS: 'x-forwarded-for' } })
  for (const [place, madeUp] of ['203.0.113.9', '10.0.0.1', '127.0.0.1'].entries()) {
    const list = `${madeUp}, 192.168.1.5`
    assert.equal(
      await leftFor(unnamed, { headers: { 'x-forwarded-for': list } }),
      99 - place,
      'where no proxy is named, the rightmost address counts',
    )
  }

  const single = await start(t)
  const lines = (...sent: string[]) => leftFor(single, { headers: { 'cf-connecting-ip': sent } })
  assert.equal(await lines('192.0.2.1', '203.0.113.9'), 99)
  assert.equal(await lines('192.0.2.2', '203.0.113.9'), 98, 'the line that was added last counts')
})

test('without named proxies the header counts from the own network alone', () => {
  verifies('settings.client-address')
  const header = '192.0.2.1'
  for (const [peer, isProxy] of [
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['10.1.2.3', true],
    ['172.16.0.1', true],
    ['172.31.255.255', true],
    ['192.168.1.1', true],
    ['169.254.1.1', true],
    ['::1', true],
    ['::ffff:10.1.2.3', true],
    ['fd12::1', true],
    ['fe80::1%eth0', true],
    ['172.32.0.1', false],
    ['11.0.0.1', false],
    ['203.0.113.7', false],
    ['::ffff:203.0.113.7', false],
    ['2001:db8::1', false],
  ] as const) {
    const settings = { clientAddressHeader: 'cf-connecting-ip', trustedProxies: null }
    const headers = { 'cf-connecting-ip': header }
    const bucket = addressBucket(settings, { headers, headersDistinct: {} }, peer)
    assert.equal(bucket, isProxy ? header : peer.replace('::ffff:', ''), peer)
    assert.equal(addressBucket(settings, { headers: {}, headersDistinct: {} }, peer), 'unknown')
  }
})

test('the log has the level that was set', async (t) => {
  verifies('settings.log-level')
  assert.equal(configOf({}).logLevel, 'info')
  for (const [LOG_LEVEL, answered, warned] of [
    ['debug', true, true],
    ['', false, true],
    ['info', false, true],
    ['error', false, false],
    ['silent', false, false],
  ] as const) {
    const app = await start(t, { env: { LOG_LEVEL, PLUMBLINE_UNKNOWN: 'x' } })
    await app.get('/healthz')
    const levels = app.log.map(({ level }) => level)
    assert.deepEqual([levels.includes(20), levels.includes(40)], [answered, warned], LOG_LEVEL)
  }
})

async function limitOf(app: App): Promise<string | null> {
  const { headers } = await app.request('POST', '/v1/check', { body: good })
  return headers.get('x-ratelimit-limit')
}

/** Calls left after a check of this caller, who connects from a loopback address of choice. */
async function leftFor(
  { url }: { url: string },
  { from, headers = {} }: { from?: string; headers?: Record<string, string | string[]> },
): Promise<number> {
  const sent = request(`${url}/v1/check`, {
    method: 'POST',
    agent: false,
    headers,
    ...(from === undefined ? {} : { localAddress: from }),
  })
  sent.end(good)
  return new Promise((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', async (answer) => {
      await text(answer)
      resolve(Number(answer.headers['x-ratelimit-remaining']))
    })
  })
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.3')
  await new Promise((resolve) => probe.once('listening', resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}
