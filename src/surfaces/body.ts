import type { IncomingMessage } from 'node:http'
import { Refusal } from '../operations/refusal.ts'

/** Largest body a route reads unless it says otherwise, in bytes. */
export const maxBodyBytes = 256 * 1024

/**
 * The parsed JSON of a request, or undefined when it is not JSON; the content type is not looked
 * at. Throws a Refusal (413) past `maxBytes` without reading on.
 */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const bytes = await readBytes(request, maxBytes)
  const text = bytes.toString('utf8')
  return parsed(text.startsWith('\uFEFF') ? text.slice(1) : text)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > maxBytes) return Promise.reject(tooLarge(maxBytes))
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
    request.on('error', reject)
    request.on('close', () => reject(brokenOff()))
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
  return new Refusal(400, 'bad_request', { detail: 'The body broke off; send it whole.' })
}
