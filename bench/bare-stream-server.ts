// The peer of bench/stream.ts: plain node:http that sends what is posted to every listener at once, and stores nothing.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

const listeners = new Set<ServerResponse>()

const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': open\n\n')
    listeners.add(response)
    response.on('close', () => listeners.delete(response))
    return
  }
  const event = `event: step\ndata: ${await text(request)}\n\n`
  for (const listener of listeners) listener.write(event)
  response.end('{}')
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
