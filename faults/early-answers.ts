import { once } from 'node:events'
import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { post } from './http.ts'
import type { Stage } from './stage.ts'

/** A stand-in for a server with a deliberate fault. */
export interface EarlyAnswers {
  readonly url: string
  /** Resolves when every answered step is stored or lost. */
  settle(): Promise<void>
}

const mostPending = 64

/** Starts a stand-in that answers a step at once and lets the real server store it afterwards. */
export async function startEarlyAnswers(stage: Stage, target: () => string): Promise<EarlyAnswers> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const numbers = new Map<string, number>()
  const pending = new Set<Promise<unknown>>()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    while (pending.size >= mostPending) await Promise.race(pending)
    const { authorization = '' } = request.headers
    const stored = post(`${target()}${request.url}`, body, { authorization }, agent)
    pending.add(stored)
    void stored.then(() => pending.delete(stored))
    const { run_id } = JSON.parse(body)
    const step = (numbers.get(run_id) ?? 0) + 1
    numbers.set(run_id, step)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ run_id, step }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stage.after(() => {
    agent.destroy()
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async settle() {
      await Promise.all(pending)
    },
  }
}
