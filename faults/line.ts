import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Setting } from './server.ts'
import type { Stage } from './stage.ts'

/** A line to a database server that loses what the server says to some COMMITs. */
export interface Line {
  /** The setting of the database over this line. */
  readonly setting: Setting
  /** How many COMMITs reached the server unheard. */
  lost(): number
  /** From now on answers are lost. */
  harm(): void
  /** From now on all is heard. */
  mend(): void
}

/** One connection in this many that lose a COMMIT stays open and silent; the others end. */
const silentOneIn = 4

/** Starts a line that loses the answer to one COMMIT in `everyNth`, by chance, while it is harmed. */
export async function startLine(stage: Stage, { env }: Setting, everyNth: number): Promise<Line> {
  const url = new URL(env.DATABASE_URL ?? '')
  const { hostname, port } = url
  const open = new Set<Socket>()
  let lost = 0
  let isHarmed = false

  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    let hears = true
    near.on('data', (data) => {
      far.write(data)
      if (!hears || !isHarmed || !data.includes('COMMIT') || Math.random() >= 1 / everyNth) return
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
    harm() {
      isHarmed = true
    },
    mend() {
      isHarmed = false
    },
  }
}

/** Until the commit is durable on any disk. */
const unheardMs = 200
