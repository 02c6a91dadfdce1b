import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server of a page with nothing on it, and of one that only scrolls. */
export interface EmptyPage {
  url: string
  stop(): void
}

/** Starts it on a free loopback port. */
export async function startEmptyPage(): Promise<EmptyPage> {
  const server = createServer(({ url }, response) => {
    response.setHeader('content-type', 'text/html')
    const tall = '<div id=scroll style="height:700px;overflow:auto"><div style="height:230000px">'
    response.end(`<!doctype html><title>empty</title><p>empty</p>${url === '/tall' ? tall : ''}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
