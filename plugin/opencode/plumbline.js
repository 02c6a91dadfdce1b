// Written by plumbline init opencode; plumbline uninstall opencode removes it.
//
// Reports to Plumbline what a session of opencode shows. It runs in the host's process, so it never throws, waits at most
// a quarter of a second for an answer, and leaves a server alone for half a minute that twice in a row did not answer in
// time: once may be the host's own process, which was too busy to read the answer. A relay that is not up is started, and
// waited for once in half a minute. It imports nothing but Node's own modules, because the first start of a plugin with
// others fetches them.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'

const folder = process.env.PLUMBLINE_HOME || `${homedir()}/.plumbline`
const waitMs = 250
const pauseMs = 30_000
const startMs = 1000
/** It is there where hooks go by a relay of this machine. */
const starter = `${folder}/start-relay`

/** What the bus tells that no hook does. */
const told = new Set([
  'todo.updated',
  'session.created',
  'session.idle',
  'session.compacted',
  'permission.asked',
  'permission.updated',
  'permission.replied',
  'question.asked',
  'question.replied',
])

/** The address of the server and the key, from the files that plumbline init has written; null without them. */
function readServer() {
  try {
    const conf = readFileSync(`${folder}/curl.conf`, 'utf8')
    const [, key] = /^header = "authorization: (Bearer \S+)"$/m.exec(conf) ?? []
    const url = readFileSync(`${folder}/url`, 'utf8').trim()
    return key === undefined ? null : { url, key }
  } catch {
    return null
  }
}

export const Plumbline = async ({ directory }) => {
  const parents = new Map()
  /** When a request first went unanswered after the last answer; null if none has. */
  let doubtedAt = null
  let leftAloneUntil = 0
  let startedUntil = 0
  let starting = Promise.resolve()

  const rootOf = (session) => (parents.has(session) ? rootOf(parents.get(session)) : session)

  async function tell(hook, session, input, output) {
    if (Date.now() < leftAloneUntil) return {}
    // Anew each time: plumbline init may have led it elsewhere while opencode runs.
    const server = readServer()
    if (server === null) return {}
    const body = JSON.stringify({ hook, input, output, directory, root: rootOf(session) })
    const sentAt = performance.now()
    try {
      const answer = await send(server, hook, body).catch(async (error) => {
        if (error?.name === 'TimeoutError' || !existsSync(starter)) throw error
        await startRelay()
        return send(server, hook, body)
      })
      doubtedAt = null
      return answer
    } catch (error) {
      if (error?.name === 'TimeoutError') doubt(sentAt)
      return {}
    }
  }

  /** Requests that were under way together with the first one without an answer say no more than it does. */
  function doubt(sentAt) {
    if (doubtedAt === null) {
      doubtedAt = performance.now()
    } else if (sentAt >= doubtedAt) {
      leftAloneUntil = Date.now() + pauseMs
      doubtedAt = null
    }
  }

  async function send({ url, key }, hook, body) {
    const answer = await fetch(`${url}/v1/hooks/opencode/${hook}`, {
      method: 'POST',
      headers: { authorization: key, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(waitMs),
    })
    return answer.ok ? await answer.json() : {}
  }

  /** Starts the relay of this machine, on which nobody listens, once in half a minute; resolves when it should be up. */
  function startRelay() {
    if (Date.now() < startedUntil) return starting
    startedUntil = Date.now() + pauseMs
    const child = spawn(starter, [], { detached: true, stdio: 'ignore' })
    child.on('error', () => {})
    child.unref()
    starting = new Promise((resolve) => setTimeout(resolve, startMs))
    return starting
  }

  return {
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {}
      if (event.type === 'session.created' && info?.parentID) parents.set(info.id, info.parentID)
      // Nothing is awaited that no answer is needed of.
      if (told.has(event.type)) void tell('event', sessionID ?? info?.id, event)
    },
    'chat.message': async (input, output) => {
      await tell('chat.message', input.sessionID, input, output)
    },
    'experimental.text.complete': async (input, output) => {
      void tell('experimental.text.complete', input.sessionID, input, output)
    },
    'tool.execute.after': async (input, output) => {
      const { fact } = await tell('tool.execute.after', input.sessionID, input, output)
      if (typeof fact === 'string' && typeof output.output === 'string')
        output.output += `\n${fact}`
    },
  }
}
