import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** An answer as it came off a bare socket. */
export interface RawAnswer {
  status: number
  headers: Headers
  text: string
}

/** Opens a connection to a service, for bytes that no HTTP client would send. */
export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket
}

/**
 * Sends bytes and answers what comes back until the server closes the connection; rejects when it
 * has not within `limitMs`.
 */
export async function sendRaw(
  url: string,
  bytes: string | Uint8Array,
  limitMs = 5_000,
): Promise<RawAnswer[]> {
  const socket = await openSocket(url)
  socket.write(bytes)
  return readAnswers(await readToEnd(socket, limitMs))
}

/** Everything a connection brings until it is closed. */
export function readToEnd(socket: Socket, limitMs = 5_000): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const timer = setTimeout(() => {
      socket.destroy()
      reject(new Error(`still open after ${limitMs} ms, having sent: ${Buffer.concat(chunks)}`))
    }, limitMs)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    // A server that closes in the face of more bytes resets the connection.
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(Buffer.concat(chunks))
    })
  })
}

/** Takes the answers on one connection apart; the last body ends where the bytes end. */
export function readAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = bytes
  while (rest.length > 0) {
    const headEnd = rest.indexOf('\r\n\r\n')
    const [statusLine = '', ...lines] = rest.subarray(0, headEnd).toString('latin1').split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
    if (headEnd < 0 || Number.isNaN(status)) throw new Error(`no HTTP answer: ${rest}`)
    const headers = new Headers(lines.map((line) => line.split(/:\s*(.*)/s, 2) as [string, string]))
    const bodiless = status < 200 || status === 304
    const length = bodiless ? 0 : Number(headers.get('content-length') ?? Number.POSITIVE_INFINITY)
    const body = rest.subarray(headEnd + 4, headEnd + 4 + length)
    answers.push({ status, headers, text: body.toString('utf8') })
    rest = rest.subarray(headEnd + 4 + body.length)
  }
  return answers
}
