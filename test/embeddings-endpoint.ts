import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** What a stand-in for an embeddings endpoint was asked. */
export interface Asked {
  path: string
  authorization: string | undefined
  model: string
  input: string[]
}

/** Vectors in which texts with the same first letter are the same, and all others have little in common. */
export function vectorOf(text: string): number[] {
  const vector = Array.from({ length: 40 }, () => 1)
  vector[text.toLowerCase().charCodeAt(0) % 40] = 30
  return vector
}

/** The body of an answer in the protocol, last text first, as it may come. */
export function answerTo(input: readonly string[], vector: (text: string) => unknown = vectorOf) {
  const data = input.map((text, index) => ({ object: 'embedding', index, embedding: vector(text) }))
  return JSON.stringify({ object: 'list', model: 'small', data: data.toReversed() })
}

/** An embeddings endpoint on loopback that answers as it is told. */
export async function standIn(
  t: TestContext,
  answer: (response: ServerResponse, input: string[]) => void = (response, input) =>
    response.end(answerTo(input)),
): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { model, input } = JSON.parse(Buffer.concat(chunks).toString())
    const { authorization } = request.headers
    asked.push({ path: request.url ?? '', authorization, model, input })
    answer(response, input)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked }
}
