import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { neverAttended } from '../../core/hosts/attended.ts'
import { eventsIn, linesIn, mostEventBytes, mostEvents } from '../../core/hosts/event-lines.ts'
import { emptyAnswer } from '../../core/hosts/host-answer.ts'
import { type HostName, hostNames } from '../../core/hosts/host-event.ts'
import type { PrivacyLevel } from '../../core/hosts/privacy.ts'
import { readEvent } from '../../core/hosts/read-event.ts'
import { mostUnknownEvents, unknownEvent } from '../../core/hosts/unknown-events.ts'
import { parseJson } from '../../core/text.ts'
import { isoTime } from '../../core/time.ts'
import { placeOfFile, transcripts } from '../../core/transcripts/transcript.ts'
import { keepFor, noteAudience } from './audience.ts'
import type { Clock } from './clock.ts'
import { createSender } from './sender.ts'
import { tailOf } from './session-tail.ts'
import { createSessions } from './sessions.ts'
import { type RelaySettings, relayFolderIn } from './settings.ts'
import { openSpool } from './spool.ts'

/** The most that waits on disk while the server is away. */
const maxSpoolBytes = 20 * 1024 * 1024
const requestMs = 5000
/** How long the disk may not yet hold an event that waits. */
const syncMs = 1000
/** How long no hook has come when session files are read. */
const idleMs = 2000
/** How often a relay looks for its settings, and how long they may be gone. */
const lookMs = 10_000
const goneMs = 60_000
const note = 'x-plumbline-note'

/** What a relay says of itself. */
export interface RelayStatus {
  server: string
  level: PrivacyLevel
  /** Events and bytes that wait, events that were dropped because they were too many, and those the server refused. */
  waiting: number
  bytes: number
  dropped: number
  refused: number
  /** Events that were dropped since it started, because they told more than its level or were for another server. */
  withheld: number
  breaker: 'closed' | 'open' | 'probing'
  failures: number
  /** What is wrong with the server; null if nothing. */
  fault: string | null
  /** The events of hosts that no reader understood since it started, by their names; they never leave the machine. */
  not_understood: { host: HostName; name: string; count: number }[]
  /** ISO 8601; null if it has sent nothing since it started. */
  sent_at: string | null
}

/** A relay that listens. */
export interface Relay {
  url: string
  status(): RelayStatus
  /** Sends what waits, once. */
  drain(): Promise<void>
  /** Ends it; what waits stays on disk. */
  stop(): Promise<void>
  /** Resolves when somebody has asked it to end, or has deleted its settings. */
  readonly ended: Promise<void>
}

/** What a relay needs. */
export interface RelayParts {
  /**
   * Reads the settings; null if there are none. They are asked for before each event and each batch, so that a change reaches
   * what waits.
   */
  settings(): RelaySettings | null
  /** The folder of what the hooks of hosts need. */
  folder: string
  clock: Clock
  log(line: string): void
  maxBytes?: number
}

/**
 * Starts a relay on 127.0.0.1: it answers the hooks of hosts at once and brings what it may tell to the server. Rejects if
 * it cannot listen, or there are no settings; only one process can listen, so that nobody else writes the spool.
 */
export async function startRelay(parts: RelayParts): Promise<Relay> {
  const { folder, clock, log, maxBytes = maxSpoolBytes } = parts
  let settings = parts.settings() ?? missing()
  const server = createServer({ requestTimeout: requestMs, headersTimeout: requestMs })
  server.listen(settings.port, '127.0.0.1')
  await once(server, 'listening')

  const hide = (text: string) =>
    createHmac('sha256', settings.hashKey).update(text).digest('hex').slice(0, 16)
  const spoolFolder = relayFolderIn(folder)
  const spool = openSpool(spoolFolder, maxBytes, (lines) => {
    noteAudience(spoolFolder, settings)
    log(`the files of ${spoolFolder} were deleted, and ${lines} events that waited there are lost`)
  })
  const unknown: RelayStatus['not_understood'] = []
  let withheld = 0
  withhold(settings)
  const sessions = createSessions(() => ({ level: settings.level, hide }), clock.now)
  const sender = createSender({
    spool,
    remote: heed,
    clock,
    onAnswers: sessions.remember,
    onChange: (fault) =>
      log(fault === null ? 'the server is back' : `the server takes no event: ${fault}`),
  })
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let lost = 0
  let disarmSync: (() => void) | null = null
  let disarmSettle: (() => void) | null = null
  let goneSince: number | null = null
  let disarmLook = clock.later(lookMs, look)

  /** Ends a relay that somebody has removed by deleting its settings. */
  function look(): void {
    if (parts.settings() !== null) goneSince = null
    else goneSince ??= clock.now()
    if (goneSince !== null && clock.now() - goneSince >= goneMs) {
      log(`it ends: for a minute there have been no settings in ${folder}`)
      end()
    } else disarmLook = clock.later(lookMs, look)
  }

  /** The settings as they are now. A change counts from here on, for what waits too. */
  function heed(): RelaySettings {
    const before = settings
    const next = parts.settings() ?? before
    const isOther = next.url !== before.url || next.level !== before.level
    if (isOther) withhold(next)
    settings = next
    if (isOther) log(`it tells ${next.url} ${next.level} from now on`)
    if (next.url !== before.url) {
      sessions.forgetAnswers()
      sender.forgive()
    }
    return settings
  }

  function withhold({ url, level }: RelaySettings): void {
    const lines = keepFor(spoolFolder, spool, { url, level })
    withheld += lines
    if (lines > 0) {
      log(
        `${lines} events that waited are dropped: they told more than ${level}, or to another server`,
      )
    }
  }

  function status(): RelayStatus {
    return {
      server: settings.url,
      level: settings.level,
      waiting: spool.waiting,
      bytes: spool.bytes,
      dropped: spool.dropped + lost,
      refused: sender.refused,
      withheld,
      breaker: sender.state,
      failures: sender.failures,
      fault: sender.fault,
      not_understood: unknown,
      sent_at: sender.sentAt === null ? null : isoTime(sender.sentAt),
    }
  }

  function isKnown({ headers }: IncomingMessage): boolean {
    const [, key = ''] = /^bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? []
    return timingSafeEqual(hashOf(key), hashOf(settings.localKey))
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://relay')
    const isUnattended = searchParams.get(neverAttended.name) === neverAttended.value
    if (!isFromHere(request)) return reply(response, 403, { error: 'forbidden' })
    heed()
    const [, name = '', event = ''] = /^\/v1\/hooks\/([\w-]+)(?:\/([\w.-]+))?$/.exec(pathname) ?? []
    if (request.method === 'POST' && name === 'plain') return answerRead(request, response)
    if (request.method === 'POST' && name !== '') {
      return answerHook(request, response, { name, event, isUnattended })
    }
    if (!isKnown(request)) return reply(response, 401, { error: 'bad_key' })
    if (request.method === 'GET' && pathname === '/relay') return reply(response, 200, status())
    if (request.method === 'POST' && pathname === '/relay/stop') {
      // The asker shall read it before the connections close.
      response.once('close', end)
      response.setHeader('connection', 'close')
      return reply(response, 200, { ok: true })
    }
    return reply(response, 404, { error: 'not_found' })
  }

  /** As a server does: always 200 and an object that the host accepts. What was wrong stands in a header. */
  async function answerHook(
    request: IncomingMessage,
    response: ServerResponse,
    { name, event, isUnattended }: { name: string; event: string; isUnattended: boolean },
  ): Promise<void> {
    const host = hostNames.find((each) => each === name)
    const body = await readText(request)
    const noted = (says: string) => {
      response.setHeader(note, says)
      reply(response, 200, host === undefined ? {} : emptyAnswer(host, event))
    }
    if (host === undefined) return noted(`unknown host; send one of ${hostNames.join(', ')}`)
    if (!isKnown(request)) return noted('bad_key; plumbline init HOST writes it again')
    if (body === null) return noted('too_large; a body has at most 1 MiB')
    const sent = eventsIn(body)
    if (sent === null) return noted(`bad_request; send JSON, or at most ${mostEvents} lines of it`)
    reply(response, 200, take(host, event, sent, isUnattended))
    sender.wake()
    settleLater()
  }

  /** Reads, when no hook has come for a moment, what hooks do not say: who spoke a prompt, and how an act ended. */
  function settleLater(): void {
    disarmSettle?.()
    disarmSettle = null
    if (sessions.unsettled().length === 0) return
    disarmSettle = clock.later(idleMs, () => {
      for (const place of sessions.unsettled()) {
        const named = placeOfFile(place.host, place.path)
        // The first line of a long file, which names the session, may be out of reach.
        const session = place.runId.slice(place.host.length + 1)
        const agentId = place.agentId || named.agentId
        const read = transcripts[place.host]({ session, agentId })
        const events = tailOf(place.path).flatMap((line) => read(parseJson(line)))
        for (const line of sessions.settle(place, events)) keep(line)
      }
      sender.wake()
      settleLater()
    })
  }

  /** Events that were read out of session files here: answered as a server does, and kept as those of hooks are. */
  async function answerRead(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(request)
    if (!isKnown(request)) return reply(response, 401, { error: 'bad_key' })
    if (body === null) return reply(response, 413, { error: 'too_large' })
    const sent = linesIn(body)
    if (sent === null) {
      const detail = `body: send 1 to ${mostEvents} events as lines of JSON`
      return reply(response, 400, { error: 'bad_request', detail })
    }
    const events = sent.map((line) => readEvent(parseJson(line)))
    const answers = events.map((event) => ({
      ok: event !== null,
      told: event === null ? null : sessions.waitingFact(event),
      remind: true,
      holds: false,
    }))
    for (const event of events) {
      if (event !== null) for (const line of sessions.takeRead(event)) keep(line)
    }
    reply(response, 200, { answers })
    sender.wake()
  }

  function take(
    host: HostName,
    event: string,
    sent: readonly unknown[],
    isUnattended: boolean,
  ): Record<string, unknown> {
    let told = emptyAnswer(host, event)
    for (const each of sent) {
      countUnknown(host, unknownEvent(host, each, event))
      const { lines, answer } = sessions.take(host, event, each, isUnattended)
      if (Object.keys(answer).length > 0) told = answer
      for (const line of lines) keep(line)
    }
    return told
  }

  function countUnknown(host: HostName, name: string | null): void {
    if (name === null) return
    const own = unknown.filter((each) => each.host === host)
    const known = own.find((each) => each.name === name)
    if (known !== undefined) known.count++
    else if (own.length < mostUnknownEvents) unknown.push({ host, name, count: 1 })
  }

  function keep(line: string): void {
    try {
      spool.append(line)
      disarmSync ??= clock.later(syncMs, () => {
        disarmSync = null
        syncSpool()
      })
    } catch (error) {
      // The disk is full or gone; the host goes on.
      if (lost++ === 0) log(`an event is lost: ${error instanceof Error ? error.message : error}`)
    }
  }

  function syncSpool(): void {
    try {
      if (spool.waiting > 0) spool.sync()
    } catch (error) {
      log(`the disk holds no event for sure: ${error instanceof Error ? error.message : error}`)
    }
  }

  server.on('request', (request, response) => {
    answer(request, response).catch((error: unknown) => {
      log(`a request failed: ${error instanceof Error ? error.name : 'fault'}`)
      if (!response.headersSent) reply(response, 200, {})
    })
  })
  sender.wake()
  log(`started; ${spool.waiting} events wait`)

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    status,
    drain: sender.drain,
    ended,
    async stop() {
      sender.stop()
      disarmSync?.()
      disarmSettle?.()
      disarmLook()
      server.close()
      server.closeAllConnections()
      spool.close()
      log('stopped')
    },
  }
}

function reply(response: ServerResponse, status: number, body: object): void {
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(bytes)
}

/**
 * Whether a request can come from a host on this machine, and not from a page in a browser: such a page sends its
 * origin, or the name of its own server, which leads here only for it.
 */
function isFromHere({ headers }: IncomingMessage): boolean {
  const { host = '', origin } = headers
  const isLocal = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i.test(host)
  return isLocal && origin === undefined && headers['sec-fetch-site'] === undefined
}

/** The body as a text; null if it is too large, and then it is read to its end, as a program in the middle of it waits. */
async function readText(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes <= mostEventBytes) parts.push(part)
    if (bytes > 8 * mostEventBytes) return null
  }
  return bytes > mostEventBytes ? null : Buffer.concat(parts).toString()
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

function missing(): never {
  throw new Error('a relay needs settings')
}
