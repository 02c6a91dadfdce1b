import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Load, Round } from './load.ts'
import { cpuMicrosOf, type Server, writtenBytesOf } from './server.ts'

/** The measurements of one round on one server. */
export interface Sample extends Load {
  /** Processor time of the server for each answer, in microseconds. */
  cpuMicros: number
  /** Bytes that the server writes to disk for each answer. */
  writtenBytes: number
  answersPerSecond: number
}

/** Sends requests to servers from a process of its own. */
export interface Asker {
  measure(server: Server, round: Omit<Round, 'url'>): Promise<Sample>
  stop(): void
}

/** Starts the process that sends the requests; see `load.ts`. */
export function startAsker(): Asker {
  const load = fork(fileURLToPath(new URL('load.ts', import.meta.url)))

  function ask(round: Round): Promise<Load> {
    const over = new AbortController()
    const { signal } = over
    const answered = once(load, 'message', { signal }).then(([message]) => message as Load)
    const ended = once(load, 'exit', { signal }).then(() => {
      throw new Error('The load generator ended; what it says stands above.')
    })
    load.send(round)
    return Promise.race([answered, ended]).finally(() => over.abort())
  }

  return {
    async measure({ url, pid }, round) {
      const before = { cpuMicros: cpuMicrosOf(pid), bytes: writtenBytesOf(pid) }
      const measured = await ask({ url, ...round })
      return {
        ...measured,
        cpuMicros: (cpuMicrosOf(pid) - before.cpuMicros) / measured.answers,
        writtenBytes: (writtenBytesOf(pid) - before.bytes) / measured.answers,
        answersPerSecond: (measured.answers / measured.ms) * 1000,
      }
    },
    stop: () => load.kill(),
  }
}
