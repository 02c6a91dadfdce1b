import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { type Caller, newCaller } from './caller.ts'
import { type App, type Setup, start } from './harness.ts'
import { answerOf, startReceiver } from './receiver.ts'

/** A webhook on loopback that answers as it is told. */
export interface Hook {
  readonly port: number
  /** An address of the webhook; its path is a secret. */
  readonly url: string
  /** What it was sent so far, in order. */
  readonly sent: readonly Sent[]
  /** Answers this status from now on, with these header lines. */
  answer(status: number, headers?: readonly string[]): void
  /** Answers nothing from now on. */
  hang(): void
  /** Answers the requests that were left without an answer. */
  release(): void
  /** Resolves with what it was sent once that is `count` requests. */
  wait(count: number): Promise<readonly Sent[]>
}

/** One request as it came. */
export interface Sent {
  method: string
  path: string
  headers: Record<string, string>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any
}

/** The path of a hook, which no log may hold. */
export const hookPath = '/services/T0P/S3CRET'

/** Starts a webhook that answers 200 until told otherwise. */
export async function startHook(t: TestContext): Promise<Hook> {
  const sent: Sent[] = []
  const waiting: (() => void)[] = []
  const hanging: Socket[] = []
  let answer: string | null = answerOf('200 OK', 'ok')
  const { port } = await startReceiver(t, (socket, request) => {
    sent.push(readRequest(request))
    for (const look of waiting.splice(0)) look()
    if (answer === null) hanging.push(socket)
    else socket.end(answer)
  })
  return {
    port,
    url: `http://127.0.0.1:${port}${hookPath}`,
    sent,
    answer(status, headers) {
      answer = answerOf(`${status} Told`, 'told', headers)
    },
    hang() {
      answer = null
    },
    release() {
      for (const socket of hanging.splice(0)) socket.end(answer ?? '')
    },
    async wait(count) {
      while (sent.length < count) await new Promise<void>((look) => waiting.push(look))
      return sent
    },
  }
}

function readRequest(request: string): Sent {
  const [head = '', ...body] = request.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const [method = '', path = ''] = first.split(' ')
  const headers = lines.map((line) => {
    const [name = '', ...value] = line.split(': ')
    return [name.toLowerCase(), value.join(': ')]
  })
  const text = body.join('\r\n\r\n')
  return { method, path, headers: Object.fromEntries(headers), text, body: JSON.parse(text) }
}

/** An account whose alerts go to a webhook. */
export interface Alerted extends Caller {
  readonly hook: Hook
  /** Sets the config, with the hook's address unless another is given. */
  set(config?: object): Promise<void>
  /** Logs one step that drifts from the errand of the run, which begins with one that does not. */
  drift(runId?: string): Promise<void>
  /** Waits until nothing that is due is left to do. */
  settle(): Promise<void>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into entries of every shape
  readLog(): Promise<any[]>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into deliveries of every shape
  deliveries(query?: string): Promise<any[]>
}

/** What an alerted account says it is doing, and what it does instead. */
export const errand = 'refund order 1041'
export const astray = 'refund order 2093'

/** A service with an account whose webhook is on loopback. */
export async function startAlerted(t: TestContext, setup: Setup = {}): Promise<Alerted> {
  const hook = await startHook(t)
  const allow = [`127.0.0.1:${hook.port}`, setup.env?.PLUMBLINE_WEBHOOK_ALLOW ?? []].flat().join()
  const app = await start(t, { ...setup, env: { ...setup.env, PLUMBLINE_WEBHOOK_ALLOW: allow } })
  return alertedOf(await newCaller(app), hook)
}

/** The account with what tests of alerts ask of it. */
export function alertedOf(caller: Caller, hook: Hook): Alerted {
  const begun = new Set<string>()
  return {
    ...caller,
    hook,
    async set(config = {}) {
      const answer = await caller.post('/v1/alerts', { url: hook.url, ...config })
      if (answer.status !== 200) throw new Error(answer.text)
    },
    async drift(runId = 'run') {
      if (!begun.has(runId)) await caller.log({ run_id: runId, goal: errand })
      begun.add(runId)
      await caller.log({ run_id: runId, goal: astray })
    },
    settle: () => settle(caller.app),
    readLog: async () => (await caller.get('/v1/alerts/log')).body.log,
    deliveries: async (query = '') =>
      (await caller.get(`/v1/alerts/deliveries${query}`)).body.deliveries,
  }
}

/** Waits until nothing that is due is left to do. */
export async function settle({ running }: App): Promise<void> {
  // What was under way at the first look may leave more to do.
  let quietLooks = 0
  while (quietLooks < 2) quietLooks = (await running.runDue()) === 0 ? quietLooks + 1 : 0
}
