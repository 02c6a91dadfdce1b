import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'

/** A server that takes webhooks its own way, on loopback. */
export interface Receiver {
  readonly port: number
  /** Connections so far; of a receiver with TLS, those that spoke it. */
  readonly connections: number
  /** Requests so far, as they came: head and body. */
  readonly requests: string[]
  /** Resolves when every connection so far is closed. */
  allClosed(): Promise<void>
}

/** What a receiver does with a request that has come whole; nothing is written otherwise. */
export type Behaviour = (socket: Socket, request: string) => void

/** Starts a receiver on 127.0.0.1, or another loopback address, and stops it after the test. */
export async function startReceiver(
  t: TestContext,
  behave: Behaviour,
  {
    host = '127.0.0.1',
    port = 0,
    tls,
  }: { host?: string; port?: number; tls?: { key: string; cert: string } } = {},
): Promise<Receiver> {
  const closed: Promise<unknown>[] = []
  const sockets = new Set<Socket>()
  const requests: string[] = []
  function take(socket: Socket): void {
    sockets.add(socket)
    closed.push(new Promise((resolve) => socket.once('close', resolve)))
    socket.on('error', () => {})
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
      if (!isWhole(received)) return
      requests.push(received)
      behave(socket, received)
      received = ''
    })
  }
  const server: Server = tls === undefined ? createServer(take) : createTlsServer(tls, take)
  server.on('tlsClientError', () => {})
  server.listen(port, host)
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port: (server.address() as { port: number }).port,
    get connections() {
      return sockets.size
    },
    requests,
    async allClosed() {
      await Promise.all(closed)
    },
  }
}

/** An answer as it goes over the wire. */
export function answerOf(status: string, body = '', headers: readonly string[] = []): string {
  return [
    `HTTP/1.1 ${status}`,
    ...headers,
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

function isWhole(request: string): boolean {
  const [head = '', ...body] = request.split('\r\n\r\n')
  const [, length = '0'] = /^content-length: (\d+)/im.exec(head) ?? []
  return body.length > 0 && Buffer.byteLength(body.join('\r\n\r\n')) >= Number(length)
}

/** The identity of hook.test and the names below it, which signs itself; it protects nothing. */
export const hookTest = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg8o/wFe+ngwoZYXLN
PuuHTVMz8gOZd6okDFzI1CKDf9ahRANCAAT5pPsk+vDgGWpnCvC4zT9B0UrwpRne
G7/SS0jieCUduxmMgCtBk6Y7ovpfUl3HMMpdyg4U0pncpMTX2m55OkNv
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBoTCCAUigAwIBAgIUeK2DhsWD1ibPc5qQf7NRLlahkm0wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJaG9vay50ZXN0MCAXDTI2MTEyMDEzNDUwNVoYDzIxMjYxMDI3
MTM0NTA1WjAUMRIwEAYDVQQDDAlob29rLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAT5pPsk+vDgGWpnCvC4zT9B0UrwpRneG7/SS0jieCUduxmMgCtBk6Y7
ovpfUl3HMMpdyg4U0pncpMTX2m55OkNvo3YwdDAdBgNVHQ4EFgQUojPKw39PwJnZ
escBsgcOjIs4eS0wHwYDVR0jBBgwFoAUojPKw39PwJnZescBsgcOjIs4eS0wDwYD
VR0TAQH/BAUwAwEB/zAhBgNVHREEGjAYgglob29rLnRlc3SCCyouaG9vay50ZXN0
MAoGCCqGSM49BAMCA0cAMEQCIGRx+QzV5x5wHEXYIa47x1vXwLfIJ3Ol6NOf1fAe
udWsAiAvTke2OI2g3jzApALql1EZMfaNMQxeE1LcorXVVGhoUg==
-----END CERTIFICATE-----
`,
}
