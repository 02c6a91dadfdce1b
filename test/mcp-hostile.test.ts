import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Refusal } from '../src/operations/gate/refusal.ts'
import type { Tool } from '../src/operations/gate/tool.ts'
import { tools } from '../src/operations/tools/tools.ts'
import { onEachDatabase } from './backends.ts'
import { dumpTables } from './dump.ts'
import { type Answer, type App, start } from './harness.ts'
import { openSocket, readAnswers, readToEnd, sendRaw } from './raw.ts'
import { verifies } from './verifies.ts'

const both = 'application/json, text/event-stream'
const json = { 'content-type': 'application/json', accept: both }
const message = (method: string, params: object = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const calling = (name: unknown, args: unknown = {}, id: unknown = 1) =>
  message('tools/call', { name, arguments: args }, id)
const ping = message('ping')
const initialize = (protocolVersion: string) =>
  message('initialize', {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  })

/** A POST of one body; an object is sent as JSON. */
function post(app: App, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return app.request('POST', '/mcp', { body: text, headers: { ...json, ...headers } })
}

/** The messages of an answer, whether it came whole or as events. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
function messagesOf({ text, body }: Pick<Answer, 'text' | 'body'>): any[] {
  if (body !== undefined) return [body].flat()
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data))
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function toolAnswer({ result }: any): any {
  return { isError: result.isError === true, ...JSON.parse(result.content[0].text) }
}

const nest = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

describe('a body', () => {
  test('that is no message is refused in the words of JSON-RPC', async (t) => {
    verifies('mcp.batch')
    const app = await start(t)
    for (const [body, code] of [
      ['', -32700],
      ['{', -32700],
      ['\0', -32700],
      ['{"jsonrpc":"2.0","id":1,"method":"ping"}}', -32700],
      ['null', -32600],
      ['5', -32600],
      ['"ping"', -32600],
      ['{}', -32600],
      ['[]', -32600],
      ['[1]', -32600],
      ['{"jsonrpc":"2.0","id":1}', -32600],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
      ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
      ['{"jsonrpc":"2.0","id":1,"method":{}}', -32600],
      [nest(100_000), -32600],
      [JSON.stringify([initialize('2025-03-26'), ping]), -32600],
      [JSON.stringify(Array.from({ length: 21 }, (_, id) => message('ping', {}, id))), -32600],
      [JSON.stringify([1, 2].map((id) => message('tools/list', {}, id))), -32600],
      [JSON.stringify([1, 2].map((id) => message('resources/read', { uri: 'x' }, id))), -32600],
    ] as const) {
      const answer = await post(app, body)
      assert.deepEqual([answer.status, answer.body.error.code], [400, code], body.slice(0, 60))
    }
  })

  test('that asks for what is not there names it', async (t) => {
    const app = await start(t)
    for (const [sent, code] of [
      [message('no/such'), -32601],
      [message('logging/setLevel', { level: 'info' }), -32601],
      [message('resources/subscribe', { uri: 'plumbline://grammar' }), -32601],
      [{ jsonrpc: '2.0', id: 1, method: 'tools/call' }, -32602],
      [calling('no_such'), -32602],
      [calling('constructor'), -32602],
      [calling('__proto__'), -32602],
      [calling(''), -32602],
      [calling(5), -32602],
      [calling({}), -32602],
      [calling('get_history', null), -32602],
      [calling('get_history', []), -32602],
      [calling('get_history', 'x'), -32602],
      [message('prompts/get', { name: 'toString' }), -32602],
      [message('resources/read', { uri: 'x' }), -32602],
      [message('resources/read', { uri: 'plumbline://nothing' }), -32602],
      [message('resources/read', { uri: `plumbline://tasks/${'x'.repeat(300)}` }), -32602],
    ] as const) {
      const [answer] = messagesOf(await post(app, sent))
      assert.deepEqual([answer.id, answer.error.code], [1, code], JSON.stringify(sent))
      assert.doesNotMatch(answer.error.message, /\.ts|node:/)
    }
  })

  test('nested 50,000 levels deep is a fault of its sender', async (t) => {
    const app = await start(t)
    const { key } = await app.newAccount()
    const deep = nest(50_000)
    for (const [name, args] of [
      ['check_state', `{"goal":${deep}}`],
      ['check_state', `{"goal":"a","progress":"advancing","distance":${deep}}`],
      ['check_state', `{"key":${deep}}`],
      ['speak_to_field', `{"words":${deep}}`],
      ['remember_self', `{"key":"${key}","purpose":${deep}}`],
      ['resume_self', `{"key":"${key}","identity":${deep}}`],
    ] as const) {
      const sent = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`
      const [answer] = messagesOf(await post(app, sent))
      assert.deepEqual(
        [toolAnswer(answer).isError, toolAnswer(answer).error],
        [true, 'bad_request'],
        `${name} ${args.slice(0, 50)}`,
      )
    }
    assert.deepEqual(faults(app), [])
  })

  test('of several messages is answered message by message, and each is counted', async (t) => {
    verifies('settings.tools-per-day')
    const app = await start(t, { env: { PLUMBLINE_TOOLS_PER_DAY: '3' } })
    const sent = [
      message('ping', {}, 'p'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      ...[1, 2, 3, 4].map((id) => calling('field_vocabulary', {}, id)),
      message('tools/list', {}, 'l'),
    ]
    const answers = messagesOf(await post(app, sent, { 'mcp-protocol-version': '2025-03-26' }))
    assert.deepEqual(answers.map(({ id }) => String(id)).sort(), ['1', '2', '3', '4', 'l', 'p'])
    const called = answers.filter(({ id }) => typeof id === 'number').map(toolAnswer)
    assert.deepEqual(called.map(({ error }) => error ?? 'fine').sort(), [
      'fine',
      'fine',
      'fine',
      'rate_limit',
    ])
    assert.equal(answers.find(({ id }) => id === 'l').result.tools.length, 16)
    const twins = messagesOf(await post(app, [ping, ping]))
    assert.ok(twins.length > 0 && twins.every(({ id }) => id === 1), 'and none waits for ever')
  })

  test('of twenty calls that all wait for their caller watches the connection once', async (t) => {
    const warnings: string[] = []
    const note = ({ name }: Error) => warnings.push(name)
    process.on('warning', note)
    t.after(() => process.off('warning', note))
    const waiting = failing('waiting', () => new Refusal(409, 'gone'))
    const app = await start(t, {
      tools: [
        {
          ...waiting,
          answer: (service, caller, sent) => {
            assert.equal(caller.gone().aborted, false)
            return waiting.answer(service, caller, sent)
          },
        },
      ],
    })
    const answers = await post(
      app,
      Array.from({ length: 20 }, (_, id) => calling('waiting', {}, id)),
    )
    assert.deepEqual(
      messagesOf(answers).map((answer) => toolAnswer(answer).error),
      Array.from({ length: 20 }, () => 'gone'),
    )
    assert.deepEqual(
      warnings.filter((name) => name.includes('MaxListeners')),
      [],
    )
    assert.deepEqual(faults(app), [])
  })

  test('that wants no answer gets 202 and nothing', async (t) => {
    const app = await start(t)
    const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'notifications/cancelled' }
    for (const [sent, headers] of [
      [{ jsonrpc: '2.0', method: 'notifications/initialized' }, {}],
      [{ jsonrpc: '2.0', method: 'no/such' }, {}],
      [[{ jsonrpc: '2.0', method: 'notifications/initialized' }], {}],
      [{ jsonrpc: '2.0', id: 1, result: {} }, {}],
      [{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, modern],
    ] as const) {
      const answer = await post(app, sent, headers)
      assert.deepEqual([answer.status, answer.text], [202, ''], JSON.stringify(sent))
      assert.equal(answer.headers.get('content-length'), '0')
    }
  })

  test('has at most 256 KiB', async (t) => {
    const app = await start(t)
    const fitting = JSON.stringify(ping).padEnd(256 * 1024)
    assert.equal((await post(app, fitting)).status, 200)
    const larger = await post(app, `${fitting} `)
    assert.deepEqual([larger.status, larger.body.error], [413, 'payload_too_large'])
  })
})

describe('a request', () => {
  test('is a POST of JSON by a client that takes events, and of no other site', async (t) => {
    verifies('mcp.origin')
    const app = await start(t)
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS', 'HEAD']) {
      const headers = { ...json, 'access-control-request-method': 'POST' }
      const answer = await app.request(method, '/mcp', { headers })
      assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST'], method)
    }
    for (const [headers, status] of [
      [{ 'content-type': 'text/plain' }, 415],
      [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
      [{ 'content-type': '' }, 415],
      [{ 'content-type': 'application/jsonp' }, 415],
      [{ 'content-type': 'Application/JSON; charset=UTF-8' }, 200],
      [{ accept: '*/*' }, 406],
      [{ accept: 'application/json' }, 406],
      [{ 'mcp-protocol-version': '1999-01-01' }, 400],
      [{ 'mcp-protocol-version': '2025-06-18' }, 200],
      [{ origin: 'https://evil.example' }, 403],
    ] as const) {
      const answer = await post(app, ping, headers as unknown as Record<string, string>)
      assert.equal(answer.status, status, JSON.stringify(headers))
      const shared = [...answer.headers.keys()].filter((name) => name.startsWith('access-control'))
      assert.deepEqual(shared, [])
    }
  })

  test('may be spelled in any way that HTTP allows', async (t) => {
    const app = await start(t)
    const body = JSON.stringify(ping)
    const lines = [
      'CoNtEnT-tYpE: application/json',
      `ACCEPT: ${both}`,
      'MCP-PROTOCOL-VERSION: 2025-11-25',
      'x-latin: \xe9\xff',
      `content-length: ${body.length}`,
      'connection: close',
    ].join('\r\n')
    for (const address of [
      '/mcp',
      '/%6dcp?key=nobody',
      'http://user:word@127.0.0.1/mcp',
      'http://elsewhere.example:8080/mcp',
    ]) {
      const bytes = `POST ${address} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines}\r\n\r\n${body}`
      const [answer] = await sendRaw(app.url, Buffer.from(bytes, 'latin1'))
      assert.equal(answer?.status, 200, address)
      assert.match(answer.text, /"result":\{\}/)
    }
    assert.deepEqual(faults(app), [])
  })

  test('names a protocol version that is spoken, the older ones too', async (t) => {
    verifies('mcp.revisions')
    const app = await start(t)
    for (const [asked, spoken] of [
      ['2025-11-25', '2025-11-25'],
      ['2025-06-18', '2025-06-18'],
      ['2025-03-26', '2025-03-26'],
      ['1999-01-01', '2025-11-25'],
    ] as const) {
      const answer = await post(app, initialize(asked))
      const [{ result }] = messagesOf(answer)
      assert.equal(result.protocolVersion, spoken)
      assert.match(answer.headers.get('mcp-session-id') ?? '', /^session_/)
    }
  })
})

test('a session token has one spelling, and is the whole of what reaches its state', async (t) => {
  verifies('mcp.session-id', 'mcp.state-keyless')
  const app = await start(t)
  const token = async () =>
    (await post(app, initialize('2025-11-25'))).headers.get('mcp-session-id') ?? ''
  const [one, other] = [await token(), await token()]
  const [name = '', signature = ''] = one.split('.')
  const last = signature.at(-1) ?? ''
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const near = alphabet[alphabet.indexOf(last) ^ 1] ?? ''
  for (const forged of [
    `${one}=`,
    `${one}!`,
    `${one}.`,
    `${one} x`,
    `${name}.${signature.slice(0, -1)}${near}`,
    `${name}.${signature.slice(0, -1)}`,
    `${name}.${other.split('.')[1]}`,
    `${one}, ${other}`,
    name,
    '.',
    '',
  ]) {
    const answer = await post(app, ping, { 'mcp-session-id': forged })
    assert.equal(answer.status, 404, forged)
  }
  const goal = { goal: 'mend the roof', progress: 'advancing', distance: 5 }
  await post(app, calling('check_state', goal), { 'mcp-session-id': one })
  const steps = async (headers: Record<string, string>) =>
    toolAnswer(messagesOf(await post(app, calling('get_history'), headers))[0]).steps
  // Whoever holds it may come from anywhere; nobody else gets near, from the same address either.
  assert.equal(await steps({ 'mcp-session-id': one, 'cf-connecting-ip': '203.0.113.9' }), 1)
  assert.equal(await steps({ 'mcp-session-id': other }), 0)
  assert.equal(await steps({}), 0)
})

onEachDatabase(({ createUrl }) => {
  test('a key is stored and logged nowhere, whatever is done with it', async (t) => {
    verifies('mcp.state-keyed')
    const app = await start(t, {
      env: { DATABASE_URL: await createUrl(), LOG_LEVEL: 'trace' },
      tools: [...tools, failing('broken', () => new Error('broken'))],
    })
    const { key } = await app.newAccount()
    const unknown = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
    const goal = { goal: 'mend the roof', progress: 'advancing', distance: 5 }
    for (const sent of [key, unknown, `not a key ${key}`]) {
      for (const [name, args] of [
        ['check_state', goal],
        ['check_state', {}],
        ['modulate', goal],
        ['check_dialogue', { ...goal, agent: 'a' }],
        ['remember_self', { purpose: 'mend roofs' }],
        ['remember_self', { purpose: 5 }],
        ['ask_alice', { situation: 'what now?' }],
        ['broken', {}],
        ['reset_task', {}],
      ] as const) {
        const answer = await post(app, calling(name, { ...args, key: sent }))
        assert.ok(!answer.text.includes(sent), name)
      }
    }
    const kept = JSON.stringify([await dumpTables(app.running.store.db), app.log])
    assert.match(kept, /mend roofs/)
    assert.ok(!kept.includes(key) && !kept.includes(unknown))
  })

  test('a database that is away is a tool error, and the protocol’s of a resource', async (t) => {
    const app = await start(t, { env: { DATABASE_URL: await createUrl() } })
    const { key } = await app.newAccount()
    const token = (await post(app, initialize('2025-11-25'))).headers.get('mcp-session-id') ?? ''
    await app.running.store.close()
    for (const args of [{}, { key }]) {
      const [answer] = messagesOf(
        await post(app, calling('get_history', args), { 'mcp-session-id': token }),
      )
      const { isError, error, detail } = toolAnswer(answer)
      assert.deepEqual([isError, error], [true, 'unavailable'])
      assert.match(detail, /try again/)
    }
    const read = message('resources/read', { uri: 'plumbline://tasks/default' })
    const [{ error }] = messagesOf(await post(app, read, { 'mcp-session-id': token }))
    assert.deepEqual([error.code, error.data.error], [-32603, 'unavailable'])
    assert.deepEqual(faults(app), [])
  })
})

test('a keyed tool without a good key says so as a tool error, the protocol goes on', async (t) => {
  verifies('mcp.self')
  const app = await start(t)
  for (const [headers, args, word] of [
    [{}, {}, 'no_key'],
    [{}, { key: '' }, 'no_key'],
    [{}, { key: 5 }, 'no_key'],
    [{}, { key: 'nobody' }, 'bad_key'],
    [{ authorization: 'Bearer nobody' }, {}, 'bad_key'],
    [{ authorization: 'Basic dXNlcjp3b3Jk' }, {}, 'no_key'],
    [{ authorization: 'Basic dXNlcjp3b3Jk' }, { key: 'nobody' }, 'bad_key'],
  ] as const) {
    const answer = await post(app, calling('resume_self', args), headers as Record<string, string>)
    assert.equal(answer.status, 200)
    const { isError, error } = toolAnswer(messagesOf(answer)[0])
    assert.deepEqual([isError, error], [true, word], JSON.stringify([headers, args]))
    const listed = await post(app, message('tools/list'), headers as Record<string, string>)
    assert.equal(messagesOf(listed)[0].result.tools.length, 16)
  }
  const { key } = await app.newAccount()
  for (const identity of [5, {}, ['default'], true]) {
    const [answer] = messagesOf(await post(app, calling('forget_self', { identity, key })))
    assert.deepEqual(
      [toolAnswer(answer).isError, toolAnswer(answer).error],
      [true, 'bad_request'],
      JSON.stringify(identity),
    )
  }
})

test('a fault of ours is told without its inside, and logged', async (t) => {
  const inside = new Error('SELECT key FROM accounts WHERE goal = "sell the house"')
  const app = await start(t, {
    tools: [failing('get_history', () => inside), failing('broken', () => inside)],
  })
  const [called] = messagesOf(await post(app, calling('broken')))
  assert.deepEqual([toolAnswer(called).isError, toolAnswer(called).error], [true, 'internal'])
  const read = message('resources/read', { uri: 'plumbline://tasks/default' })
  const [{ error }] = messagesOf(await post(app, read))
  assert.deepEqual([error.code, error.data.error], [-32603, 'internal'])
  assert.doesNotMatch(JSON.stringify([called, error]), /SELECT|house|\.ts/)
  const logged = app.log.filter(({ level }) => level === 50)
  assert.deepEqual(
    logged.map(({ tool }) => tool),
    ['broken', 'get_history'],
  )
  assert.match(JSON.stringify(logged), /SELECT key/)
})

test('a call under way is answered while the service stops', async (t) => {
  let begun = () => {}
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  let goOn = () => {}
  const mayGoOn = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const [tool] = tools
  const app = await start(t, {
    tools: [
      {
        ...tool!,
        name: 'slow',
        async answer() {
          begun()
          await mayGoOn
          throw new Error('slow')
        },
      },
    ],
  })
  const socket = await openSocket(app.url)
  const body = JSON.stringify(calling('slow'))
  socket.write(
    `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: ${both}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  await isBegun
  const stopped = app.running.stop()
  goOn()
  const [answer] = readAnswers(await readToEnd(socket))
  assert.equal(answer?.status, 200)
  assert.match(answer.text, /internal/)
  await stopped
})

/** A tool that answers with an error. */
function failing(name: string, error: () => Error): Tool {
  const [tool] = tools
  return {
    ...tool!,
    name,
    async answer() {
      throw error()
    },
  }
}

/** What was logged as a warning or worse. */
function faults({ log }: App): unknown[] {
  return log.filter(({ level }) => Number(level) >= 40)
}
