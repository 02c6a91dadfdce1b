import { irreversibleIn } from '../../core/acts/irreversible.ts'
import { asUnattended } from '../../core/hosts/attended.ts'
import { eventsIn, mostEvents } from '../../core/hosts/event-lines.ts'
import { fieldsOf, textOf } from '../../core/hosts/fields.ts'
import {
  answerWith,
  answerWithFact,
  canTell,
  commandBefore,
  emptyAnswer,
  heldReason,
  holdAnswer,
  reminderOf,
} from '../../core/hosts/host-answer.ts'
import { type HostName, hostNames } from '../../core/hosts/host-event.ts'
import type { Observed } from '../../core/hosts/observed.ts'
import { readers } from '../../core/hosts/readers.ts'
import { unknownEvent } from '../../core/hosts/unknown-events.ts'
import { admitAccount } from '../gate/admission.ts'
import type { Keyed, Service } from '../gate/context.ts'
import type { Call } from '../gate/declaration.ts'
import { Refusal } from '../gate/refusal.ts'
import { logEvents } from './log-events.ts'

/** The largest body that a hook may send. */
const maxEventBytes = 1024 * 1024

/** The names of hosts in an address. */
export function hostNamed(name: string): HostName | null {
  return hostNames.find((each) => each === name) ?? null
}

/**
 * Takes what a hook of a host sends: one event, or several as lines. Folds them into their sessions, and logs the steps
 * that they open; those are durable when this resolves. A step counts as one write, and an event without a step as
 * none. `isUnattended`: nobody can speak in the session. Returns the answer for the host.
 */
export async function reportEvents(
  service: Service,
  call: Call,
  host: HostName,
  event: string,
  isUnattended = false,
): Promise<Record<string, unknown>> {
  const admitted = await admitAccount(service, call, { unmetered: true, isHook: true })
  const context: Keyed = { ...service, ...admitted, gone: call.gone }
  const sent = eventsIn(await call.readBody(maxEventBytes))
  if (sent === null) {
    throw new Refusal(400, 'bad_request', {
      detail: `body: send the host's event as JSON, or at most ${mostEvents} events as lines of JSON`,
    })
  }
  const named = event || textOf(fieldsOf(sent[0]).hook_event_name)
  const read = sent.flatMap((each) => readers[host](each, event === '' ? undefined : event))
  const events = isUnattended ? asUnattended(read) : read
  await countUnknown(context, host, event, sent)
  const gated = await held(context, host, named, sent)
  if (gated !== null) return gated
  let answer = emptyAnswer(host, event)
  for (const [runId, own] of Map.groupBy(events, ({ runId }) => runId)) {
    const settings = await context.store.hookSettings.of(context.account.id, runId)
    const tells = settings.mode !== 'observe' && canTell(host, named)
    const { observed, told } = await logEvents(context, host, runId, own, {
      tells,
      mayWait: true,
      countWrite: () => admitAccount(context, call, { isHook: true }),
    })
    const isCompacted = own.some((each) => each.kind === 'session' && each.source === 'compact')
    if (isCompacted && settings.remind) {
      answer = await remind(context, host, event, runId, observed)
    } else if (told !== null) {
      answer = answerWithFact(host, named, told)
    }
  }
  return answer
}

/** Counts the events that no reader understands, by their names alone. */
async function countUnknown(
  { store, account, now }: Keyed,
  host: HostName,
  event: string,
  sent: readonly unknown[],
): Promise<void> {
  const names = sent.flatMap((each) => unknownEvent(host, each, event) ?? [])
  for (const [name, same] of Map.groupBy(names, (each) => each)) {
    await store.unknownEvents.count(account.id, host, name, same.length, now())
  }
}

/**
 * The answer that holds a command back: it cannot be undone, its run has left the errand, and somebody has chosen that
 * such commands are held. Null lets it run.
 */
async function held(
  { store, account, now }: Keyed,
  host: HostName,
  event: string,
  sent: readonly unknown[],
): Promise<Record<string, unknown> | null> {
  const command = commandBefore(host, event, sent[0])
  const kind = command === null ? null : irreversibleIn(command)
  if (kind === null) return null
  const { session_id, sessionId } = fieldsOf(sent[0])
  const runId = `${host}:${textOf(session_id, sessionId)}`
  const { mode } = await store.hookSettings.of(account.id, runId)
  if (mode !== 'gate') return null
  const run = await store.runs.find(account.id, runId, now())
  if (run === null || !run.drifting) return null
  return holdAnswer(host, event, heldReason(run.ground ?? '', kind))
}

async function remind(
  { store, account, now }: Keyed,
  host: HostName,
  event: string,
  runId: string,
  observed: Observed,
): Promise<Record<string, unknown>> {
  const run = await store.runs.find(account.id, runId, now())
  const ground = run?.ground ?? observed.errand
  return ground === null
    ? emptyAnswer(host, event)
    : answerWith(host, event, reminderOf(ground, observed))
}
