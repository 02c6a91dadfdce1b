import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { sendLines } from '../src/surfaces/http/exchange.ts'
import { openSocket } from './raw.ts'
import { verifies } from './verifies.ts'

test('a reader that takes nothing is cut off, and what it was sent ends', {
  timeout: 60_000,
}, async (t) => {
  verifies('answer.stall')
  const ended = Promise.withResolvers<void>()
  async function* endless() {
    try {
      for (;;) yield `${'x'.repeat(1_000)}\n`
    } finally {
      ended.resolve()
    }
  }
  const sent = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    const exchange = { request, response, requestId: '', headers: {}, isStopping: () => false }
    sendLines(exchange, 200, endless(), 200).then(sent.resolve, sent.reject)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const socket = await openSocket(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(socket, 'data')
  socket.pause()
  await assert.rejects(sent.promise, { code: 'ERR_STREAM_PREMATURE_CLOSE' })
  await ended.promise
})
