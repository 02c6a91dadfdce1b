// The listeners of bench/stream.ts: a process that opens many streams and notes when each has which event.

import { request } from 'node:http'
import { percentile } from './median.ts'

/** What the process is asked: to open streams, or what it has heard. */
export type Asked =
  | { open: { url: string; headers: Record<string, string>; listeners: number } }
  | { heard: { sentAtMs: readonly number[]; durableAtMs: readonly number[] } }

/** How long the events took to the listeners since their step was sent and was durable, and how many did not come. */
export interface Heard {
  sentP50Ms: number
  sentP99Ms: number
  p50Ms: number
  p99Ms: number
  missing: number
}

/** A step names its number in its goal behind this word. */
export const marker = 'part'

/** What stands before the number of a step in its event. */
const mark = Buffer.from(` ${marker} `)
const zero = 48
/** More bytes than mark and number have, which may stand across two pieces of a stream. */
const mostMarkBytes = 16
/** For each listener, when it had each step, in milliseconds of the clock that all processes share. */
const arrived: Map<number, number>[] = []

process.on('message', async (asked: Asked) => {
  if ('open' in asked) {
    const { url, headers, listeners } = asked.open
    const opened = Array.from({ length: listeners }, () => listen(url, headers))
    await Promise.all(opened)
    process.send?.('open')
  } else process.send?.(heard(asked.heard))
})

function listen(url: string, headers: Record<string, string>): Promise<void> {
  const mine = new Map<number, number>()
  arrived.push(mine)
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, agent: false }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${answer.statusCode}`))
      resolve()
      let tail: Buffer = Buffer.alloc(0)
      answer.on('data', (bytes: Buffer) => {
        const now = nowMs()
        note(mine, Buffer.concat([tail, bytes.subarray(0, mostMarkBytes)]), now)
        note(mine, bytes, now)
        tail = bytes.subarray(-mostMarkBytes)
      })
    })
    asked.on('error', reject).end()
  })
}

/**
 * Notes each number that stands whole in these bytes. Only looks for the numbers, because reading all of the events
 * would be more work than sending them.
 */
function note(mine: Map<number, number>, bytes: Buffer, now: number): void {
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) {
    let place = 0
    for (let next = at + mark.length; next < bytes.length; next++) {
      const digit = (bytes[next] ?? 0) - zero
      if (digit >= 0 && digit <= 9) {
        place = place * 10 + digit
        continue
      }
      if (!mine.has(place)) mine.set(place, now)
      break
    }
  }
}

function heard({
  sentAtMs,
  durableAtMs,
}: {
  sentAtMs: readonly number[]
  durableAtMs: readonly number[]
}): Heard {
  const sinceSent: number[] = []
  const sinceDurable: number[] = []
  let missing = 0
  for (const mine of arrived) {
    for (const [place, sentMs] of sentAtMs.entries()) {
      const at = mine.get(place)
      if (at === undefined) missing++
      else {
        sinceSent.push(at - sentMs)
        // The first listener may have an event before the answer has come back.
        sinceDurable.push(Math.max(0, at - (durableAtMs[place] ?? at)))
      }
    }
    mine.clear()
  }
  return {
    sentP50Ms: percentile(sinceSent, 50),
    sentP99Ms: percentile(sinceSent, 99),
    p50Ms: percentile(sinceDurable, 50),
    p99Ms: percentile(sinceDurable, 99),
    missing,
  }
}

/** Milliseconds of the monotonic clock of the machine. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
