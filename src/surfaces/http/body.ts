import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from '../../operations/gate/refusal.ts'

const decoder = new TextDecoder()

/**
 * The body of a request as text, without a byte order mark; bytes that are no UTF-8 become U+FFFD.
 * Throws a Refusal (413) past `maxBytes` without reading on; a promise only where it has to wait.
 */
export function readText(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<string> | string {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > maxBytes) throw tooLarge(maxBytes)
  // Ask for the body only now: a request that was refused before is never asked for it.
  if (waitsForContinue(request)) response.writeContinue()
  // Most bodies have arrived completely by now. Listening for events would cost more than reading them.
  if (!request.complete) return readBytes(request, maxBytes).then((bytes) => decoder.decode(bytes))
  const bytes: Buffer | null = request.read()
  if (bytes === null) return ''
  if (bytes.length > maxBytes) throw tooLarge(maxBytes)
  return decoder.decode(bytes)
}

/** The body of a request as bytes. Throws a Refusal (413) past `maxBytes` without reading on. */
export async function readBinary(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<Uint8Array> {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > maxBytes) throw tooLarge(maxBytes)
  if (waitsForContinue(request)) response.writeContinue()
  if (!request.complete) return readBytes(request, maxBytes)
  const bytes: Buffer | null = request.read()
  if (bytes !== null && bytes.length > maxBytes) throw tooLarge(maxBytes)
  return bytes ?? new Uint8Array()
}

function waitsForContinue({ headers: { expect }, httpVersion }: IncomingMessage): boolean {
  return expect !== undefined && httpVersion === '1.1' && /^100-continue$/i.test(expect)
}

function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  // A request whose caller has already gone emits no more events.
  if (request.destroyed) return Promise.reject(brokenOff())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > maxBytes) {
        request.pause()
        reject(tooLarge(maxBytes))
      } else {
        chunks.push(chunk)
      }
    })
    request.on('end', () =>
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)),
    )
    request.on('error', () => reject(brokenOff()))
    // This event follows every request. Creating an error that nobody sees would cost more than judging a step.
    request.on('close', () => {
      if (!request.complete) reject(brokenOff())
    })
  })
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(
    413,
    'payload_too_large',
    { detail: `The body is larger than ${maxBytes} bytes; send a smaller one.` },
    { connection: 'close' },
  )
}

function brokenOff(): Refusal {
  return new Refusal(400, 'bad_request', { detail: 'The body ended too early; send it whole.' })
}
