import { hash } from 'node:crypto'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Reads } from '../core/detector/contract/reads.ts'
import { likeness } from './likeness.ts'
import type { Task, TaskRead, ThreadMessage, ThreadStart } from './messages.ts'
import { createQueue } from './queue.ts'
import type { BesideRead } from './reader.ts'
import { createRecent } from './recent.ts'

/**
 * Reads goals beside errands in a thread of this process. It never throws and never blocks the event loop, and no
 * caller waits longer than its `waitMs`.
 */
export interface Encoder {
  /** What has been read and is still kept. */
  reads: Reads
  /** Notes the texts that its `reads` are asked for and do not know. */
  listen(): Listener
  /** The version of the weights; null before they are loaded, and if they cannot be used. */
  version(): string | null
  /** Ends the thread. What is kept stays known. */
  close(): Promise<void>
}

/** Texts that were asked for. */
export interface Listener {
  reads: Reads
  /**
   * Reads the noted texts. Resolves when all are read or given up, at the latest after `waitMs`; the rest is not
   * read then.
   */
  learn(waitMs: number): Promise<Learned>
}

/**
 * What became of noted texts: some are known now, so that it is worth asking again; none is known yet, and a longer wait
 * can help; or there is nothing to wait for.
 */
export type Learned = 'some' | 'late' | 'nothing'

/** What the encoder tells the process. */
export interface EncoderWorld {
  /** Called when the thread has loaded the weights, with their version. */
  ready(version: string): void
  /** Called when the weights cannot be used or the thread has failed. The reason contains no text. */
  failed(reason: string): void
}

/** The weights that come with the program. They may be missing. */
export const shippedWeights = new URL('../../model/encoder/weights.bin', import.meta.url)

const maxPairs = 50_000
const maxMeanings = 20_000
const maxBatch = 8
/** A thread that takes longer over a batch is replaced, in milliseconds. */
const batchLimitMs = 20_000
const firstPauseMs = 1_000
const longestPauseMs = 60_000

/** Creates an encoder from a file of weights, which it loads in the background. Texts wait until it is loaded. */
export function createEncoder(weights: URL | string, { ready, failed }: EncoderWorld): Encoder {
  const pairs = createRecent<BesideRead>(maxPairs, () => 1)
  const meanings = createRecent<Float32Array>(maxMeanings, () => 1)
  const queue = createQueue<Task>()
  let underWay = new Map<string, Task>()
  let state: 'loading' | 'ready' | 'paused' | 'over' = 'loading'
  let version: string | null = null
  let readsBefore = false
  let readsMessages = false
  let thread: Worker | null = null
  let pauseMs = firstPauseMs
  let timer: NodeJS.Timeout | undefined
  let progress = Promise.withResolvers<void>()

  function start(): void {
    state = 'loading'
    const started = new Worker(new URL(`thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: {
        weights: weights instanceof URL ? fileURLToPath(weights) : weights,
      } satisfies ThreadStart,
      execArgv: [],
      name: 'encoder',
    })
    thread = started
    const ended = (reason: string) => {
      if (thread === started) restart(reason)
    }
    started.on('message', hear)
    started.on('error', () => ended('its thread failed'))
    started.on('exit', () => ended('its thread ended'))
    // A program that has nothing else to do may end. A listener that is added later would hold it.
    started.unref()
  }

  function hear(message: ThreadMessage): void {
    if (message.kind === 'unusable') {
      void stop()
      failed(message.reason)
      return
    }
    if (message.kind === 'ready') {
      state = 'ready'
      version = message.version
      readsBefore = message.readsBefore
      readsMessages = message.readsMessages
      ready(version)
    } else {
      pauseMs = firstPauseMs
      for (const [key, task] of underWay) {
        remember(key, task, message.read)
        underWay.delete(key)
        break
      }
      if (underWay.size === 0) clearTimeout(timer)
      tellCallers()
    }
    begin()
  }

  function remember(key: string, { goal }: Task, read: TaskRead): void {
    meanings.set(keyOf(goal), read.meaning)
    if (read.beside !== null) pairs.set(key, read.beside)
  }

  /** Gives the thread the next tasks, unless it has some. */
  function begin(): void {
    if (state !== 'ready' || underWay.size > 0) return
    underWay = queue.take(maxBatch)
    if (underWay.size === 0) return
    timer = setTimeout(() => restart('its thread took too long'), batchLimitMs)
    timer.unref()
    thread?.postMessage([...underWay.values()])
  }

  function tellCallers(): void {
    const told = progress
    progress = Promise.withResolvers<void>()
    told.resolve()
  }

  /** Ends the thread; no caller waits for it any more. */
  function stop(): Promise<unknown> | undefined {
    const stopped = thread
    thread = null
    state = 'over'
    version = null
    queue.clear()
    clearTimeout(timer)
    underWay = new Map()
    tellCallers()
    return stopped?.terminate()
  }

  function restart(reason: string): void {
    void stop()
    state = 'paused'
    timer = setTimeout(start, pauseMs)
    timer.unref()
    pauseMs = Math.min(2 * pauseMs, longestPauseMs)
    failed(reason)
  }

  function isReading(): boolean {
    return state === 'loading' || state === 'ready'
  }

  /** Returns whether all are read or given up. */
  async function readAll(tasks: ReadonlyMap<string, Task>, waitMs: number): Promise<boolean> {
    const leave = queue.join(tasks)
    begin()
    const isWaiting = () => [...tasks.keys()].some((key) => underWay.has(key) || queue.has(key))
    let waiting: NodeJS.Timeout | undefined
    const waited = new Promise<'waited'>((resolve) => {
      waiting = setTimeout(resolve, waitMs, 'waited')
    })
    while (isWaiting() && (await Promise.race([waited, progress.promise])) !== 'waited') {}
    clearTimeout(waiting)
    const isOver = !isWaiting()
    // Nobody waits for the rest, and those who ask again should not wait behind it.
    leave()
    return isOver
  }

  function readsFor(missing: (key: string, task: Task) => void): Reads {
    const meaningOf = (goal: string) => {
      const key = keyOf(goal)
      const meaning = meanings.get(key)
      if (meaning === undefined) missing(key, { errand: null, before: [], goal })
      return meaning
    }
    const besideOf = (errand: string, before: readonly string[], goal: string) => {
      const key = keyOf(errand, ...before, goal)
      const read = pairs.get(key)
      if (read === undefined) missing(key, { errand, before, goal })
      return read
    }
    return {
      pair: (errand, goal) => besideOf(errand, [], goal),
      following: (errand, before, goal) =>
        readsBefore ? besideOf(errand, before, goal)?.serves : undefined,
      effects: (standing, message) =>
        readsMessages ? (besideOf(standing, [], message)?.effects ?? undefined) : undefined,
      alike(earlier, goal) {
        const a = meaningOf(earlier)
        const b = meaningOf(goal)
        return a === undefined || b === undefined ? undefined : likeness(a, b)
      },
    }
  }

  start()
  return {
    reads: readsFor(() => {}),
    version: () => version,
    listen() {
      const tasks = new Map<string, Task>()
      return {
        reads: readsFor((key, task) => tasks.set(key, task)),
        async learn(waitMs) {
          if (tasks.size === 0 || !isReading()) return 'nothing'
          const isOver = await readAll(tasks, waitMs)
          const isKnown = (key: string) => (pairs.get(key) ?? meanings.get(key)) !== undefined
          if ([...tasks.keys()].some(isKnown)) return 'some'
          return isOver || !isReading() ? 'nothing' : 'late'
        },
      }
    },
    async close() {
      await stop()
    },
  }
}

/** A short key for texts of any length. */
function keyOf(...texts: string[]): string {
  return hash('sha256', JSON.stringify(texts), 'base64url')
}
