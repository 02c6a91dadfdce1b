import type { StreamData } from '../../operations/stream-events.ts'
import { type CallOptions, type Calls, isOwnError, passingStatuses, pause } from './calls.ts'

/**
 * An event of the stream: its name, the id behind which another stream can go on, and its data.
 *
 * @example
 * ```ts
 * import type { StreamEvent } from 'plumbline/client'
 *
 * const tell = ({ event, data }: StreamEvent) => (event === 'step' ? data.goal : event)
 * console.log(tell({ event: 'gap', id: '', data: { reason: 'slow' } })) // → gap
 * ```
 */
export type StreamEvent = {
  [Name in keyof StreamData]: { event: Name; id: string; data: StreamData[Name] }
}[keyof StreamData]

/** Which events a stream tells. */
export interface StreamFilter {
  /** Only the events of this run. */
  run_id?: string | undefined
  /** The id behind which the stream goes on. */
  last_event_id?: string | undefined
}

/** Options of a stream. `timeoutMs` limits the time without a sign of the service; the default is 40,000. */
export interface StreamOptions extends Pick<CallOptions, 'signal' | 'timeoutMs'> {
  /** Called each time the stream is open: nothing that changes after that is missing from it. */
  opened?: (() => void) | undefined
  /** Called each time the stream has broken, with the milliseconds until it connects again. */
  lost?: ((retryInMs: number) => void) | undefined
}

const usualTimeoutMs = 40_000
const firstReconnectMs = 1_000
const longestReconnectMs = 30_000

/** Reads the stream of an account, connecting again after each failure that may pass. */
export async function* readStream(
  calls: Calls,
  { run_id, last_event_id }: StreamFilter,
  { signal, timeoutMs = usualTimeoutMs, opened, lost }: StreamOptions,
): AsyncGenerator<StreamEvent> {
  let last = last_event_id
  let reconnectMs = firstReconnectMs
  for (;;) {
    try {
      const query = new URLSearchParams()
      if (run_id !== undefined) query.set('run_id', run_id)
      if (last !== undefined) query.set('last_event_id', last)
      const path = query.size === 0 ? '/v1/stream' : `/v1/stream?${query}`
      const blocks = calls.blocks({ method: 'GET', path, keyed: true }, { signal, timeoutMs })
      let isOpen = false
      for await (const block of blocks) {
        if (!isOpen) opened?.()
        reconnectMs = firstReconnectMs
        isOpen = true
        const { id = last, event, data } = readBlock(block)
        last = id
        if (event === undefined || data === undefined) continue
        yield { event, id: id ?? '', data: JSON.parse(data) } as StreamEvent
      }
    } catch (error) {
      if (!isOwnError(error) || !passingStatuses.includes(error.status)) throw error
    }
    lost?.(reconnectMs)
    await pause(reconnectMs, signal, undefined)
    reconnectMs = Math.min(longestReconnectMs, reconnectMs * 2)
  }
}

function readBlock(block: string): { id?: string; event?: string; data?: string } {
  const fields = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line))
  return Object.fromEntries(fields.flatMap((field) => (field ? [[field[1], field[2]]] : [])))
}
