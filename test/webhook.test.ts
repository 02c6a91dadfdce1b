import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { setDefaultCACertificates } from 'node:tls'
import { Webhook } from 'standardwebhooks'
import { nothingAllowed, readWebhookAllowance } from '../src/core/alerts/public-url.ts'
import { askNameServers, type Resolve, withDeadline } from '../src/outbound/resolver.ts'
import {
  createWebhooks,
  maxWebhookBodyBytes,
  signatureHeaders,
  type WebhookAnswer,
  type WebhookRequest,
} from '../src/outbound/webhook.ts'
import { answerOf, type Behaviour, hookTest, startReceiver } from './receiver.ts'
import { verifies } from './verifies.ts'

const body = JSON.stringify({ event: 'drift' })
const noon = Date.UTC(2026, 0, 15, 12)
const ok: Behaviour = (socket) => socket.write(answerOf('200 OK', 'ok'))
const everyName: Resolve = async () => ['127.0.0.1']

/** A sender that takes everything of the allow-list, and every name for 127.0.0.1 unless told otherwise. */
function senderOf(t: TestContext, allow: string | null, resolve: Resolve = everyName) {
  const allowance = allow === null ? nothingAllowed : readWebhookAllowance(allow)
  assert.ok(!('faults' in allowance))
  const webhooks = createWebhooks({ allow: allowance, resolve, now: () => noon })
  t.after(() => webhooks.close())
  return {
    close: webhooks.close,
    send: (request: Omit<WebhookRequest, 'account'>) =>
      webhooks.send({ account: 'acct_1', ...request }),
  }
}

/** What of an answer is the same each time. */
function outcomeOf({ status, error }: WebhookAnswer): [number, string | null] {
  return [status, error]
}

describe('a webhook is sent', () => {
  test('one POST with its body, and no connection serves two', async (t) => {
    verifies('events.request')
    const receiver = await startReceiver(t, ok)
    const webhooks = senderOf(t, '127.0.0.1')
    const url = `http://127.0.0.1:${receiver.port}/hook/é?a=b#c`
    for (const times of [1, 2]) {
      const answer = await webhooks.send({
        url,
        body,
        headers: { 'webhook-id': 'msg_1', 'user-agent': 'other', 'content-type': 'text/plain' },
      })
      assert.deepEqual(
        { ...answer, latencyMs: answer.latencyMs >= 0 },
        {
          status: 200,
          error: null,
          retryAfterMs: null,
          gone: false,
          latencyMs: true,
          bytes: 2,
        },
      )
      assert.equal(receiver.connections, times)
    }
    const [request = ''] = receiver.requests
    const [head = '', sent] = request.split('\r\n\r\n')
    const [line, ...headers] = head.toLowerCase().split('\r\n')
    assert.equal(line, 'post /hook/%c3%a9?a=b http/1.1')
    assert.deepEqual(headers.sort(), [
      'connection: close',
      `content-length: ${body.length}`,
      'content-type: application/json',
      `host: 127.0.0.1:${receiver.port}`,
      'user-agent: svc-alerts/1',
      'webhook-id: msg_1',
    ])
    assert.equal(sent, body)
    await receiver.allClosed()
  })

  test('with the credentials of its url', async (t) => {
    const receiver = await startReceiver(t, ok)
    const webhooks = senderOf(t, '127.0.0.1')
    await webhooks.send({ url: `http://us%3Aer:pass@127.0.0.1:${receiver.port}/`, body })
    const expected = Buffer.from('us:er:pass').toString('base64')
    assert.match(receiver.requests[0]!, new RegExp(`^authorization: Basic ${expected}\r$`, 'm'))
    const broken = await webhooks.send({ url: `http://%zz@127.0.0.1:${receiver.port}/`, body })
    assert.deepEqual(outcomeOf(broken), [0, 'request failed (URIError)'])
  })

  test('over TLS to the name of its url, which the receiver has to prove', async (t) => {
    const receiver = await startReceiver(t, ok, { tls: hookTest })
    const names: string[] = []
    const webhooks = senderOf(t, '127.0.0.1/32', async (name) => {
      names.push(name)
      return ['127.0.0.1']
    })
    const send = (host: string) =>
      webhooks.send({ url: `https://${host}:${receiver.port}/`, body }).then(outcomeOf)
    assert.deepEqual(await send('hook.test'), [0, 'request failed (DEPTH_ZERO_SELF_SIGNED_CERT)'])
    setDefaultCACertificates([hookTest.cert])
    assert.deepEqual(await send('hook.test'), [200, null])
    assert.deepEqual(await send('a.hook.test.'), [200, null])
    assert.deepEqual(await send('other.test'), [0, 'request failed (ERR_TLS_CERT_ALTNAME_INVALID)'])
    assert.deepEqual(await send('127.0.0.1'), [0, 'request failed (ERR_TLS_CERT_ALTNAME_INVALID)'])
    assert.deepEqual(names, ['hook.test', 'hook.test', 'a.hook.test', 'other.test'])
    assert.deepEqual(
      receiver.requests.map((request) => /^host: (.*):/im.exec(request)?.[1]),
      ['hook.test', 'a.hook.test.'],
    )
    const plain = await startReceiver(t, ok)
    const answer = await webhooks.send({ url: `https://hook.test:${plain.port}/`, body })
    assert.equal(answer.status, 0)
    assert.equal(plain.requests.length, 0)
  })

  test('of 20 KiB at most', async (t) => {
    const receiver = await startReceiver(t, ok)
    const webhooks = senderOf(t, '127.0.0.1')
    const url = `http://127.0.0.1:${receiver.port}/`
    const longest = 'é'.repeat(maxWebhookBodyBytes / 2)
    assert.deepEqual(outcomeOf(await webhooks.send({ url, body: longest })), [200, null])
    assert.deepEqual(outcomeOf(await webhooks.send({ url, body: `${longest}x` })), [
      0,
      'request body over 20 KiB',
    ])
    assert.equal(receiver.requests.length, 1)
  })

  test('signed as the Standard Webhooks say, with each secret there is', () => {
    const secrets = [1, 2].map((byte) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`)
    const timestampS = Math.floor(Date.now() / 1000)
    const headers = signatureHeaders({ id: 'msg_1', timestampS, body, secrets })
    for (const secret of secrets) {
      assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body))
      assert.throws(() => new Webhook(secret).verify(`${body} `, headers))
      const other = { ...headers, 'webhook-id': 'msg_2' }
      assert.throws(() => new Webhook(secret).verify(body, other))
    }
    const [first = ''] = headers['webhook-signature']!.split(' ')
    const onlyFirst = { ...headers, 'webhook-signature': first }
    assert.throws(() => new Webhook(secrets[1]!).verify(body, onlyFirst))
  })
})

const never: Behaviour = () => {}
const endless: Behaviour = (socket) => {
  const chunk = Buffer.alloc(64 * 1024)
  const pour = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', pour)
  socket.write('HTTP/1.1 200 OK\r\n\r\n')
  pour()
}
const dripped: (text: string) => Behaviour = (text) => (socket) => {
  let at = 0
  const timer = setInterval(() => socket.write(text[at++] ?? '\n'), 100)
  socket.once('close', () => clearInterval(timer))
}
const say =
  (text: string, end = false): Behaviour =>
  (socket) =>
    end ? socket.end(text) : socket.write(text)

/** What receivers do, and what is made of it. */
const receivers: Record<string, { behave: Behaviour; status: number; error: string | null }> = {
  'says 204': { behave: say('HTTP/1.1 204 No Content\r\n\r\n'), status: 204, error: null },
  'says 500': { behave: say(answerOf('500 Oh', 'x'.repeat(9))), status: 500, error: null },
  'says 999': { behave: say('HTTP/1.1 999 What\r\n\r\n', true), status: 999, error: null },
  'says early hints first': {
    behave: say(`HTTP/1.1 103 Early\r\nlink: x\r\n\r\n${answerOf('200 OK')}`),
    status: 200,
    error: null,
  },
  'says to go on, unasked': {
    behave: say(`HTTP/1.1 100 Continue\r\n\r\n${answerOf('200 OK')}`),
    status: 0,
    error: 'connection closed before an answer',
  },
  'hangs before its headers': { behave: never, status: 0, error: 'timeout after 5 s' },
  'drips its headers': {
    behave: dripped(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(200)}`),
    status: 0,
    error: 'timeout after 5 s',
  },
  'says early hints for ever': {
    behave: dripped('HTTP/1.1 103 Early\r\n\r\n'.repeat(9)),
    status: 0,
    error: 'timeout after 5 s',
  },
  resets: {
    behave: (socket) => socket.resetAndDestroy(),
    status: 0,
    error: 'connection reset',
  },
  'hangs up': {
    behave: (socket) => socket.end(),
    status: 0,
    error: 'connection closed before an answer',
  },
  'breaks off in its headers': {
    behave: say('HTTP/1.1 200 OK\r\ncontent-le', true),
    status: 0,
    error: 'connection closed before an answer',
  },
  'is no HTTP server': {
    behave: say('220 mail.test ESMTP\r\n'),
    status: 0,
    error: 'answer is not HTTP',
  },
  'is full of garbage': {
    behave: say('\0\u0001\u0002'.repeat(99)),
    status: 0,
    error: 'answer is not HTTP',
  },
  'switches protocols': {
    behave: say('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    status: 0,
    error: 'connection closed before an answer',
  },
  'sends one large header': {
    behave: say(answerOf('200 OK', '', [`x: ${'x'.repeat(20_000)}`])),
    status: 0,
    error: 'answer headers over 16 KiB',
  },
  'sends headers without end': {
    behave: say(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(50_000)}`),
    status: 0,
    error: 'answer headers over 16 KiB',
  },
  'sends a body without end': { behave: endless, status: 200, error: null },
  'sends a large body': {
    behave: say(answerOf('200 OK', 'x'.repeat(1_000_000))),
    status: 200,
    error: null,
  },
  'takes its time over its body': {
    behave: (socket, request) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      dripped('x'.repeat(100_000))(socket, request)
    },
    status: 200,
    error: null,
  },
  'never sends its body': {
    behave: say('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n'),
    status: 200,
    error: null,
  },
  'breaks off in its body': {
    behave: say('HTTP/1.1 202 OK\r\ncontent-length: 5\r\n\r\nx', true),
    status: 202,
    error: null,
  },
  'sends broken chunks': {
    behave: say('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'),
    status: 200,
    error: null,
  },
}

describe('a receiver', () => {
  test('that misbehaves costs 5 seconds and 64 KiB at most', { timeout: 60_000 }, async (t) => {
    verifies('events.timeout')
    const names = Object.keys(receivers).map((_, at) => `r${at}.test`)
    const webhooks = senderOf(t, names.join())
    await Promise.all(
      Object.entries(receivers).map(async ([what, { behave, status, error }], at) => {
        const receiver = await startReceiver(t, behave)
        const answer = await webhooks.send({ url: `http://${names[at]}:${receiver.port}/`, body })
        assert.deepEqual(outcomeOf(answer), [status, error], what)
        assert.ok(answer.bytes <= 64 * 1024, what)
        assert.equal(receiver.requests.length, 1, what)
        await receiver.allClosed()
      }),
    )
  })

  test('that sends without end is cut off', async (t) => {
    let written = 0
    const receiver = await startReceiver(t, (socket, request) => {
      socket.once('close', () => {
        written += socket.bytesWritten
      })
      endless(socket, request)
    })
    const webhooks = senderOf(t, '127.0.0.1')
    const url = `http://127.0.0.1:${receiver.port}/`
    for (let delivery = 0; delivery < 20; delivery++) {
      assert.equal((await webhooks.send({ url, body })).bytes, 64 * 1024)
    }
    await receiver.allClosed()
    // What both kernels and the receiver itself hold back goes on top of what was read.
    assert.ok(written < 20 * 16 * 1024 * 1024, `${written}`)
  })

  test('is not followed elsewhere', async (t) => {
    const elsewhere = await startReceiver(t, ok)
    const receiver = await startReceiver(t, (socket) =>
      socket.write(answerOf('302 Found', '', [`location: http://127.0.0.1:${elsewhere.port}/`])),
    )
    const webhooks = senderOf(t, '127.0.0.1')
    const answer = await webhooks.send({ url: `http://127.0.0.1:${receiver.port}/`, body })
    assert.deepEqual(outcomeOf(answer), [302, null])
    assert.equal(elsewhere.connections, 0)
  })

  test('says how long to leave it alone, or that it is gone', async (t) => {
    const webhooks = senderOf(t, '127.0.0.1')
    for (const [status, header, retryAfterMs, gone] of [
      ['429 Slow', 'retry-after: 120', 120_000, false],
      ['503 Busy', `retry-after: ${new Date(noon + 60_000).toUTCString()}`, 60_000, false],
      ['503 Busy', `retry-after: ${new Date(noon - 60_000).toUTCString()}`, 0, false],
      ['503 Busy', 'retry-after: soon', null, false],
      ['503 Busy', 'retry-after: -5', null, false],
      ['503 Busy', 'x: y', null, false],
      ['410 Gone', 'x: y', null, true],
    ] as const) {
      const receiver = await startReceiver(t, say(answerOf(status, '', [header])))
      const answer = await webhooks.send({ url: `http://127.0.0.1:${receiver.port}/`, body })
      assert.deepEqual([answer.retryAfterMs, answer.gone], [retryAfterMs, gone], header)
    }
  })

  test('that is not there is said to be so, without its address', async (t) => {
    const receiver = await startReceiver(t, ok)
    const webhooks = senderOf(t, '127.0.0.1,nobody')
    // 127.0.0.9 is another machine's port as far as it matters: nobody listens there.
    const elsewhere = senderOf(t, 'nobody', async () => ['127.0.0.9', '::1'])
    for (const sender of [webhooks, elsewhere]) {
      const host = sender === webhooks ? '127.0.0.1:1' : `nobody:${receiver.port}`
      const answer = await sender.send({ url: `http://${host}/`, body })
      assert.deepEqual(outcomeOf(answer), [0, 'connection refused'])
    }
  })
})

describe('an address that is not public', () => {
  test('is never connected to', async (t) => {
    verifies('settings.webhook-allow')
    const receiver = await startReceiver(t, ok)
    const refused = 'destination address is not allowed'
    const notValid = 'no valid webhook configured'
    for (const [url, addresses, error] of [
      ['https://hook.test', ['127.0.0.1'], refused],
      ['https://hook.test', ['::ffff:127.0.0.1'], refused],
      ['https://hook.test', ['::1'], refused],
      ['https://hook.test', ['10.0.0.1', '8.8.8.8'], refused],
      ['https://hook.test', ['8.8.8.8', '127.0.0.1'], refused],
      ['https://hook.test', ['2606:4700::1', '169.254.169.254'], refused],
      ['https://hook.test', ['8.8.8.8', 'fe80::1%lo'], refused],
      ['https://hook.test', ['no address'], refused],
      ['https://127.0.0.1', [], notValid],
      ['https://[::ffff:127.0.0.1]', [], notValid],
      ['https://localhost', [], notValid],
      ['http://hook.test', [], notValid],
      ['http://2130706433', [], notValid],
    ] as const) {
      const webhooks = senderOf(t, null, async () => addresses)
      const answer = await webhooks.send({ url: `${url}:${receiver.port}/`, body })
      assert.deepEqual(outcomeOf(answer), [0, error], `${url} ${addresses}`)
    }
    for (const url of ['', 'x', 'ftp://hook.test/', `https://hook.test/${'x'.repeat(5_000)}`]) {
      assert.deepEqual(outcomeOf(await senderOf(t, null).send({ url, body })), [0, notValid])
    }
    assert.equal(receiver.connections, 0)
  })

  test('is exempt by name, by address and by network, on its port', async (t) => {
    verifies('settings.webhook-allow')
    const receiver = await startReceiver(t, ok)
    const { port } = receiver
    for (const [allow, url, status] of [
      [`127.0.0.1:${port}`, `http://127.0.0.1:${port}/`, 200],
      ['127.0.0.0/8', `http://127.0.0.1:${port}/`, 200],
      ['receiver', `http://receiver:${port}/`, 200],
      [`receiver:${port}`, `http://receiver:${port}/`, 200],
      ['receiver:1', `http://receiver:${port}/`, 0],
      ['127.0.0.1:1', `http://127.0.0.1:${port}/`, 0],
      ['10.0.0.0/8', `https://hook.test:${port}/`, 0],
    ] as const) {
      const answer = await senderOf(t, allow).send({ url, body })
      assert.equal(answer.status, status, `${allow} ${url} ${answer.error}`)
    }
  })

  test('does not slip in between the look at the name and the connection', async (t) => {
    const safe = await startReceiver(t, ok, { host: '127.0.0.2' })
    const target = await startReceiver(t, ok, { port: safe.port })
    let asked = 0
    const rebinding: Resolve = async () => (asked++ === 0 ? ['127.0.0.2'] : ['127.0.0.1'])
    const webhooks = senderOf(t, '127.0.0.2', rebinding)
    const url = `https://hook.test:${safe.port}/`
    await webhooks.send({ url, body })
    assert.deepEqual([asked, safe.connections, target.connections], [1, 1, 0])
    assert.deepEqual(outcomeOf(await webhooks.send({ url, body })), [
      0,
      'destination address is not allowed',
    ])
    assert.deepEqual([asked, safe.connections, target.connections], [2, 1, 0])
  })

  test('is noticed after connecting, too', async (t) => {
    const receiver = await startReceiver(t, ok)
    // The system takes 0.0.0.0 for itself, so the peer is another than the one that was asked for.
    const webhooks = senderOf(t, '0.0.0.0')
    const answer = await webhooks.send({ url: `http://0.0.0.0:${receiver.port}/`, body })
    assert.deepEqual(outcomeOf(answer), [0, 'destination address is not allowed'])
    await receiver.allClosed()
    assert.deepEqual(receiver.requests, [])
  })
})

describe('a name', () => {
  /** A name server that answers as told: addresses, a code such as 3 for "no such name", or nothing. */
  async function startNameServer(
    t: TestContext,
    answer: (type: number) => readonly number[][] | number | null,
  ): Promise<string> {
    const server = createSocket('udp4')
    server.on('message', (query, { address, port }) => {
      const end = query.indexOf(0, 12) + 5
      const answered = answer(query.readUInt16BE(end - 4))
      if (answered === null) return
      const records = typeof answered === 'number' ? [] : answered
      const header = Buffer.from(query.subarray(0, 12))
      header.writeUInt16BE(0x8180 + (typeof answered === 'number' ? answered : 0), 2)
      header.fill(0, 6)
      header.writeUInt16BE(records.length, 6)
      const type = query.subarray(end - 4, end)
      const rows = records.map((bytes) =>
        Buffer.from([0xc0, 12, ...type, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
      )
      server.send(Buffer.concat([header, query.subarray(12, end), ...rows]), port, address)
    })
    server.bind(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    return `127.0.0.1:${server.address().port}`
  }

  const [a, aaaa] = [1, 28]
  const v4 = [[203, 0, 113, 1]]
  const v6 = [[0x20, 1, ...Array(13).fill(0), 1]]

  test('is asked of name servers, for both kinds of address', async (t) => {
    for (const [answers, expected] of [
      [(type: number) => (type === a ? v4 : v6), ['203.0.113.1', '2001::1']],
      [(type: number) => (type === a ? v4 : []), ['203.0.113.1']],
      [(type: number) => (type === aaaa ? v6 : 2), ['2001::1']],
      [() => 3, 'host name not found'],
      [() => [], 'host name not found'],
      [() => 2, 'request failed (ESERVFAIL)'],
      [() => 5, 'request failed (EREFUSED)'],
      [() => null, 'host name lookup timed out'],
    ] as const) {
      const server = await startNameServer(t, answers)
      const ask = askNameServers([server])
      if (typeof expected !== 'string') {
        const addresses = await ask('hook.test', new AbortController().signal)
        assert.deepEqual(addresses, expected)
      } else {
        const answer = await senderOf(t, null, ask).send({ url: 'https://hook.test/', body })
        assert.deepEqual(outcomeOf(answer), [0, expected])
      }
    }
  })

  test('that is not found within 2 seconds is given up', async () => {
    const hanging = withDeadline(() => new Promise(() => {}))
    const { signal } = new AbortController()
    await assert.rejects(hanging('hook.test', signal), { code: 'ETIMEOUT' })
  })
})

describe('at once', () => {
  test('3 are under way per host and 16 in all, in the order they came', async (t) => {
    const waiting: (() => void)[] = []
    let arrived = () => {}
    const receiver = await startReceiver(t, (socket, request) => {
      const answer = () => socket.write(answerOf('200 OK'))
      if (request.startsWith('GET /probe')) {
        answer()
      } else {
        waiting.push(answer)
        arrived()
      }
    })
    const webhooks = senderOf(t, Array.from({ length: 8 }, (_, at) => `h${at}.test`).join())
    const send = (host: number, at: number) =>
      webhooks.send({ url: `http://h${host}.test:${receiver.port}/${at}`, body }).then(outcomeOf)

    /** Waits for so many requests at once, and for what would have come with them. */
    async function holdExactly(count: number): Promise<void> {
      while (waiting.length < count) await new Promise<void>((next) => (arrived = next))
      for (let probe = 0; probe < 5; probe++) {
        await (await fetch(`http://127.0.0.1:${receiver.port}/probe`)).text()
      }
      assert.equal(waiting.length, count)
    }

    const sent = Array.from({ length: 7 }, (_, at) => send(0, at))
    for (const held of [3, 3, 3, 3, 3, 2, 1]) {
      await holdExactly(held)
      waiting.shift()?.()
    }
    for (const answer of await Promise.all(sent)) assert.deepEqual(answer, [200, null])
    const posts = receiver.requests.filter((request) => request.startsWith('POST'))
    assert.deepEqual(
      posts.slice(3).map((request) => request.split(' ')[1]),
      ['/3', '/4', '/5', '/6'],
      'beyond the first three each waits for its turn',
    )

    const more = Array.from({ length: 24 }, (_, at) => send(at % 8, at))
    for (let left = 24; left > 0; left--) {
      await holdExactly(Math.min(16, left))
      waiting.shift()?.()
    }
    for (const answer of await Promise.all(more)) assert.deepEqual(answer, [200, null])
  })

  test('one that is broken off gives its place to the next', async (t) => {
    const receiver = await startReceiver(t, never)
    const webhooks = senderOf(t, '127.0.0.1')
    const url = `http://127.0.0.1:${receiver.port}/`
    const breaks = Array.from({ length: 5 }, () => new AbortController())
    const sent = breaks.map(({ signal }) => webhooks.send({ url, body, signal }))
    for (const each of breaks) each.abort()
    const broken = [0, 'attempt broken off']
    for (const answer of await Promise.all(sent)) assert.deepEqual(outcomeOf(answer), broken)
    const last = Array.from({ length: 4 }, () => webhooks.send({ url, body }))
    await webhooks.close()
    for (const answer of await Promise.all(last)) assert.deepEqual(outcomeOf(answer), broken)
    assert.deepEqual(outcomeOf(await webhooks.send({ url, body })), broken)
    await receiver.allClosed()
  })
})
