import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { streamEventSchemas } from '../src/operations/stream-events.ts'
import type { Caller } from './caller.ts'

/** An event as it came. */
export interface Told {
  name: string
  id: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape
  data: any
}

/** A listener to a stream of events. */
export interface Listener {
  readonly headers: Headers
  /** The id of the last event, or of the place where the stream began. */
  readonly lastId: string
  /** Comments so far. */
  readonly comments: number
  /** Resolves with the next event of one of these names; of any without names. */
  next(...names: string[]): Promise<Told>
  /** Resolves when the server ends the stream. */
  ended: Promise<void>
  leave(): void
}

/** Listens as an account, and resolves when the stream is open; checks the data of every event. */
export async function startListener(
  t: TestContext,
  caller: Pick<Caller, 'app' | 'headers'>,
  query = '',
  headers: Record<string, string> = {},
): Promise<Listener> {
  const controller = new AbortController()
  t.after(() => controller.abort())
  const response = await fetch(`${caller.app.url}/v1/stream${query}`, {
    headers: { ...caller.headers, ...headers },
    signal: controller.signal,
  })
  assert.equal(response.status, 200, response.status === 200 ? '' : await response.text())
  const events: Told[] = []
  const changed = new EventTarget()
  const listener = { lastId: '', comments: 0 }
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()

  function take(block: string): void {
    const fields = block.split('\n').map((line) => /^(\w*): ?(.*)$/.exec(line))
    const fieldOf = (name: string) => fields.find((field) => field?.[1] === name)?.[2]
    listener.lastId = fieldOf('id') ?? listener.lastId
    if (fieldOf('') !== undefined) listener.comments++
    const name = fieldOf('event')
    if (name !== undefined) {
      const schema = streamEventSchemas[name as keyof typeof streamEventSchemas]
      const data = schema.parse(JSON.parse(fieldOf('data') ?? ''))
      events.push({ name, id: listener.lastId, data })
    }
    open()
    changed.dispatchEvent(new Event('change'))
  }

  async function read(): Promise<void> {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      rest += decoder.decode(chunk, { stream: true })
      const blocks = rest.split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) take(block)
    }
  }
  const ended = read().catch(() => {})
  await opened
  return {
    headers: response.headers,
    get lastId() {
      return listener.lastId
    },
    get comments() {
      return listener.comments
    },
    async next(...names) {
      for (;;) {
        const event = events.shift()
        if (event === undefined) await once(changed, 'change')
        else if (names.length === 0 || names.includes(event.name)) return event
      }
    },
    ended,
    leave: () => controller.abort(),
  }
}
