import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** A line to a database server that fails in the ways lines do. */
export interface Line {
  /** The url of the database over this line. */
  url: string
  /** Ends every connection and takes no new one. */
  cut(): Promise<void>
  /** Takes connections again after `cut`. */
  mend(): Promise<void>
  /** Passes the nth COMMIT from now on to the server and nothing that the server says after it, until `hear`. */
  swallowCommit(nth: number): void
  /** Passes nothing on in either direction, until `hear`. */
  freeze(): void
  /** New connections work again after `swallowCommit` or `freeze`; those that were affected are lost. */
  hear(): void
}

/** A line to the server of this url, which ends with the test. */
export async function lineTo(t: TestContext, databaseUrl: string): Promise<Line> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let state: 'hears' | 'deaf' | 'frozen' = 'hears'
  let commitsLeft = Number.POSITIVE_INFINITY
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname)
    pass(near, far, (data) => {
      if (state === 'frozen') return false
      if (data.includes('COMMIT')) commitsLeft -= 1
      if (commitsLeft === 0) state = 'deaf'
      return true
    })
    pass(far, near, () => state === 'hears')
  })

  function pass(from: Socket, to: Socket, mayPass: (data: Buffer) => boolean): void {
    sockets.add(from)
    from.on('data', (data) => {
      if (mayPass(data)) to.write(data)
    })
    from.on('error', () => {})
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
  }

  async function listen(port: number): Promise<number> {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as { port: number }).port
  }

  function dropAll(): void {
    for (const socket of sockets) socket.destroy()
  }

  async function cut(): Promise<void> {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    dropAll()
    await closed
  }

  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${await listen(0)}`
  t.after(cut)
  return {
    url: url.href,
    cut,
    mend: async () => {
      await listen(Number(url.port))
    },
    swallowCommit(nth) {
      commitsLeft = nth
    },
    freeze() {
      state = 'frozen'
    },
    hear() {
      state = 'hears'
      commitsLeft = Number.POSITIVE_INFINITY
      dropAll()
    },
  }
}
