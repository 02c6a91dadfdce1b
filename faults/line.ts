import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Setting } from './server.ts'
import type { Stage } from './stage.ts'

/** A proxy to a database server whose failures do not end connections at once. */
export interface Line {
  /** The setting of the database behind this proxy. */
  readonly setting: Setting
  /** From now on loses the answer to one COMMIT in `oneIn`, by chance. */
  loseCommits(oneIn: number): void
  /** The number of COMMITs that reached the server and whose answers were lost. */
  lost(): number
  /** From now on passes nothing on in either direction, and ends no connection. */
  standStill(): void
  /** Passes on the held bytes, and loses nothing more. */
  mend(): void
}

/** One in this many connections that lose a COMMIT stays open and silent. The others end. */
const silentOneIn = 4

/** Starts a proxy that passes on everything at first. */
export async function startLine(stage: Stage, { env }: Setting): Promise<Line> {
  const url = new URL(env.DATABASE_URL ?? '')
  const { hostname, port } = url
  const open = new Set<Socket>()
  let lost = 0
  let chance = 0
  let isStill = false

  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    let hears = true
    near.on('data', (data) => {
      far.write(data)
      if (!hears || !data.includes('COMMIT') || Math.random() >= chance) return
      hears = false
      lost++
      // The server commits the transaction, whether or not its client hears of it.
      if (Math.random() >= 1 / silentOneIn) setTimeout(() => near.destroy(), unheardMs)
    })
    far.on('data', (data) => {
      if (hears) near.write(data)
    })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from)
      if (isStill) from.pause()
      from.on('error', () => {})
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  stage.after(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    setting: { env: { ...env, DATABASE_URL: url.href } },
    lost: () => lost,
    loseCommits(oneIn) {
      chance = 1 / oneIn
    },
    standStill() {
      isStill = true
      for (const socket of open) socket.pause()
    },
    mend() {
      chance = 0
      isStill = false
      for (const socket of open) socket.resume()
    },
  }
}

/** In this time a commit is durable on any disk. */
const unheardMs = 200
