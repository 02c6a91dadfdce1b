import { asUnattended } from '../../core/hosts/attended.ts'
import { eventsIn, mostEventBytes, mostEvents } from '../../core/hosts/event-lines.ts'
import { fieldsOf, textOf } from '../../core/hosts/fields.ts'
import {
  answerTo,
  canTell,
  emptyAnswer,
  heldAnswer,
  irreversibleBefore,
  isCompacted,
} from '../../core/hosts/host-answer.ts'
import { type HostName, hostNames } from '../../core/hosts/host-event.ts'
import { readers } from '../../core/hosts/readers.ts'
import { unknownEvent } from '../../core/hosts/unknown-events.ts'
import { admitAccount } from '../gate/admission.ts'
import type { Keyed, Service } from '../gate/context.ts'
import type { Call } from '../gate/declaration.ts'
import { Refusal } from '../gate/refusal.ts'
import { logEvents } from './log-events.ts'

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
  const began = performance.now()
  const admitted = await admitAccount(service, call, { unmetered: true, isHook: true })
  const context: Keyed = { ...service, ...admitted, gone: call.gone }
  const { answer, events } = await answerEvents(context, call, host, event, isUnattended)
  // What says nothing, such as the probe of plumbline init, is answered without work.
  if (events > 0)
    service.answerTimes.took(context.account.id, host, performance.now() - began, service.now())
  return answer
}

async function answerEvents(
  context: Keyed,
  call: Call,
  host: HostName,
  event: string,
  isUnattended: boolean,
): Promise<{ answer: Record<string, unknown>; events: number }> {
  const sent = eventsIn(await call.readBody(mostEventBytes))
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
  if (gated !== null) return { answer: gated, events: events.length }
  let answer = emptyAnswer(host, event)
  for (const [runId, own] of Map.groupBy(events, ({ runId }) => runId)) {
    const settings = await context.store.hookSettings.of(context.account.id, runId)
    const tells = settings.mode !== 'observe' && canTell(host, named)
    const { observed, told } = await logEvents(context, host, runId, own, {
      tells: tells ? 'agent' : 'nobody',
      mayWait: true,
      mayPostpone: true,
      countWrite: () => admitAccount(context, call, { isHook: true }),
    })
    const reminds = settings.remind && isCompacted(own)
    const errand = reminds ? ((await groundOf(context, runId)) ?? observed.errand) : null
    const given = answerTo(host, { event, named }, own, {
      observed,
      errand,
      takeFact: () => told,
    })
    if (Object.keys(given).length > 0) answer = given
  }
  return { answer, events: events.length }
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

/** The answer that holds a command back, if somebody has chosen that such commands are held. Null lets it run. */
async function held(
  { store, account, now }: Keyed,
  host: HostName,
  event: string,
  sent: readonly unknown[],
): Promise<Record<string, unknown> | null> {
  const command = irreversibleBefore(host, event, sent[0])
  if (command === null) return null
  const { mode } = await store.hookSettings.of(account.id, command.runId)
  if (mode !== 'gate') return null
  const run = await store.runs.find(account.id, command.runId, now())
  if (run === null || !run.drifting) return null
  return heldAnswer(host, event, run.ground ?? '', command)
}

async function groundOf({ store, account, now }: Keyed, runId: string): Promise<string | null> {
  return (await store.runs.find(account.id, runId, now()))?.ground ?? null
}
