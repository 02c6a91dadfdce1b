import { linesIn, mostEvents } from '../../core/hosts/event-lines.ts'
import type { HostEvent } from '../../core/hosts/host-event.ts'
import { readEvent } from '../../core/hosts/read-event.ts'
import { parseJson } from '../../core/text.ts'
import { admitAccount } from '../gate/admission.ts'
import type { Keyed, Service } from '../gate/context.ts'
import type { Call } from '../gate/declaration.ts'
import { Refusal } from '../gate/refusal.ts'
import { logEvents } from './log-events.ts'
import { hostNamed } from './report-events.ts'

/** The largest body. */
const maxBytes = 4 * 1024 * 1024
/** How far ahead of this server's clock another machine's may be, in milliseconds. */
const aheadMs = 60_000

/** What one event is answered. */
export interface ReadAnswer {
  /** Whether it was an event. */
  ok: boolean
  /** What the agent, or the person who watches, is to be told; null if nothing. */
  told: string | null
  /** Whether the errand is told again after a compaction. */
  remind: boolean
  /** Whether a command that cannot be undone is held now. */
  holds: boolean
}

const noEvent: ReadAnswer = { ok: false, told: null, remind: true, holds: false }

/**
 * Takes events that were read out of the forms of hosts elsewhere, one a line, and logs the steps that they open; those
 * are durable when this resolves. An event that was taken before counts no second time. Returns an answer for each line,
 * in their order. `tells`: whom the answers reach.
 */
export async function reportReadEvents(
  service: Service,
  call: Call,
  tells: 'agent' | 'person',
): Promise<ReadAnswer[]> {
  const admitted = await admitAccount(service, call, { unmetered: true, isHook: true })
  const context: Keyed = { ...service, ...admitted, gone: call.gone }
  const lines = linesIn(await call.readBody(maxBytes))
  if (lines === null) {
    throw new Refusal(400, 'bad_request', {
      detail: `body: send 1 to ${mostEvents} events as lines of JSON`,
    })
  }
  const latest = context.now() + aheadMs
  const events = lines.map((line) => readAt(line, latest))
  const answers = events.map(() => noEvent)
  const placed = events.flatMap((event, place) => (event === null ? [] : [{ event, place }]))
  for (const [runId, own] of Map.groupBy(placed, ({ event }) => event.runId)) {
    const answer = await take(
      context,
      call,
      runId,
      own.map(({ event }) => event),
      tells,
    )
    // The last one is nearest to what the agent does now.
    const last = own.at(-1)?.place
    for (const { place } of own) {
      answers[place] = place === last ? answer : { ...answer, told: null }
    }
  }
  return answers
}

async function take(
  context: Keyed,
  call: Call,
  runId: string,
  events: readonly HostEvent[],
  tells: 'agent' | 'person',
): Promise<ReadAnswer> {
  const { store, account, now } = context
  const host = hostNamed(runId.slice(0, runId.indexOf(':')))
  if (host === null) return noEvent
  const { mode, remind } = await store.hookSettings.of(account.id, runId)
  const { told } = await logEvents(context, host, runId, events, {
    tells: mode === 'observe' ? 'nobody' : tells,
    countWrite: () => admitAccount(context, call, { isHook: true }),
  })
  const run = mode === 'gate' ? await store.runs.find(account.id, runId, now()) : null
  return { ok: true, told, remind, holds: run?.drifting === true }
}

function readAt(line: string, latest: number): HostEvent | null {
  const event = readEvent(parseJson(line))
  if (event?.at === undefined || event.at <= latest) return event
  return { ...event, at: latest }
}
