import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import Fastify from 'fastify'
import { sendLines } from '../src/surfaces/http/answer.ts'
import { openSocket } from './raw.ts'
import { verifies } from './verifies.ts'

test('a reader that takes nothing is cut off, and what it was sent ends', {
  timeout: 60_000,
}, async (t) => {
  verifies('answer.stall')
  const { lines, ended } = endless()
  const cut = Promise.withResolvers<boolean>()
  const app = Fastify()
  app.get('/', (_request, reply) => {
    reply.raw.on('close', () => cut.resolve(reply.raw.writableFinished))
    sendLines(reply, lines, 'application/x-ndjson', 200)
  })
  t.after(() => app.close())
  const socket = await openSocket(await app.listen({ host: '127.0.0.1', port: 0 }))
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(socket, 'data')
  socket.pause()
  assert.equal(await cut.promise, false, 'the answer was not finished')
  await ended
})

test('what is sent to a caller that has already gone ends', async (t) => {
  verifies('answer.stall')
  const { lines, ended } = endless()
  const app = Fastify()
  app.get('/', (_request, reply) => {
    reply.raw.on('close', () => sendLines(reply, lines))
    reply.raw.destroy()
  })
  t.after(() => app.close())
  const socket = await openSocket(await app.listen({ host: '127.0.0.1', port: 0 }))
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await ended
})

/** Lines without end, and when they are ended all the same. */
function endless(): { lines: AsyncIterable<string>; ended: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  async function* lines() {
    try {
      for (;;) yield `${'x'.repeat(1_000)}\n`
    } finally {
      resolve()
    }
  }
  return { lines: lines(), ended: promise }
}
