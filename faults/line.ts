import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Setting } from './server.ts'
import type { Stage } from './stage.ts'

/** A line to a database server that fails in ways that end no connection at once. */
export interface Line {
  /** The setting of the database over this line. */
  readonly setting: Setting
  /** From now on the answer to one COMMIT in `oneIn`, by chance, is lost on its way. */
  loseCommits(oneIn: number): void
  /** How many COMMITs reached the server unheard. */
  lost(): number
  /** From now on nothing is passed on, in either direction, and no connection ends. */
  standStill(): void
  /** Passes on what was held back, and loses nothing more. */
  mend(): void
}

/** One connection in this many that lose a COMMIT stays open and silent; the others end. */
const silentOneIn = 4

/** Starts a line that passes everything on until it is told otherwise. */
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
      // The server works on what it was sent, whether or not anybody listens.
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

/** Until the commit is durable on any disk. */
const unheardMs = 200
