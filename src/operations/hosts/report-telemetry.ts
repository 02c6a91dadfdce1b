import type { HostEvent } from '../../core/hosts/host-event.ts'
import { readLog } from '../../core/telemetry/logs.ts'
import { type PartialSuccess, partialSuccessOf } from '../../core/telemetry/partial-success.ts'
import { logsIn, spansIn } from '../../core/telemetry/records.ts'
import { readSpan } from '../../core/telemetry/spans.ts'
import type { SpanNote } from '../../core/telemetry/trace.ts'
import { readWire, type TelemetryKind } from '../../core/telemetry/wire.ts'
import { parseJson } from '../../core/text.ts'
import { spansJob } from '../../jobs/spans.ts'
import { admitAccount } from '../gate/admission.ts'
import type { Keyed, Service } from '../gate/context.ts'
import type { Call } from '../gate/declaration.ts'
import { Refusal } from '../gate/refusal.ts'
import { logEvents } from './log-events.ts'

/** What is exported: spans or log records, in one of the two encodings of the protocol. */
export interface Telemetry {
  kind: TelemetryKind
  isJson: boolean
  /** Reads and unpacks the body. */
  readBody(): Promise<Uint8Array>
}

/** Spans of an account that may wait to be folded. */
const mostPending = 10_000
const retryAfterS = 5

/**
 * Takes what an OpenTelemetry exporter sends. Log records are folded at once, and the steps that they show are durable
 * when this resolves; each counts as one write. Spans are durable then, and are folded with the others of their trace.
 * Records that cannot be read are left out, and are in the answer; null if there are none. What only tells of other things
 * than agents can be read. Refuses what is no body of the protocol (400), more spans than may wait at all (413), and spans beyond those that may wait
 * (429).
 */
export async function reportTelemetry(
  service: Service,
  call: Call,
  { kind, isJson, readBody }: Telemetry,
): Promise<PartialSuccess | null> {
  const admitted = await admitAccount(service, call, { unmetered: true, isHook: true })
  const context: Keyed = { ...service, ...admitted, gone: call.gone }
  const bytes = await readBody()
  const body = isJson ? parseJson(new TextDecoder().decode(bytes)) : readWire(kind, bytes)
  const read = kind === 'traces' ? spansIn(body) : logsIn(body)
  if (read === null) {
    throw new Refusal(400, 'bad_request', {
      detail: 'body: send an export request of OTLP, as JSON or as protocol buffers',
    })
  }
  const { records } = read
  const countWrite = () => admitAccount(context, call, { isHook: true })
  if (kind === 'traces') {
    const notes = records.flatMap((span) => readSpan(span) ?? [])
    await keepSpans(context, notes, countWrite)
    return partialSuccessOf(kind, read)
  }
  const events = records.flatMap(readLog)
  for (const [runId, own] of Map.groupBy(events, (event) => event.runId)) {
    const [first] = own
    if (first !== undefined) await logEvents(context, hostOf(first), runId, own, { countWrite })
  }
  return partialSuccessOf(kind, read)
}

/** Keeps spans until their traces are folded: those of agents, and those around them. */
async function keepSpans(
  { store, account, now }: Keyed,
  notes: readonly SpanNote[],
  countWrite: () => Promise<{ refund(): Promise<void> }>,
): Promise<void> {
  const traces = Map.groupBy(notes, ({ traceId }) => traceId)
  const ofAgents = [...traces].filter(([, own]) => own.some(isOfAgent)).map(([id]) => id)
  const others = [...traces.keys()].filter((id) => !ofAgents.includes(id))
  const known = await store.pendingSpans.known(account.id, others)
  const kept = [...ofAgents, ...known].sort()
  if (kept.length === 0) return
  // An account beyond its quota exports nothing; what the spans will show is counted when it is known.
  await (await countWrite()).refund()
  const own = kept.flatMap((id) => traces.get(id) ?? [])
  const once = new Map(own.map((note) => [`${note.traceId} ${note.spanId}`, note]))
  if (once.size > mostPending) {
    throw new Refusal(413, 'payload_too_large', {
      detail: `body: ${once.size} spans; send at most ${mostPending} at once`,
    })
  }
  const at = now()
  await store.tx(async ({ pendingSpans, jobs }) => {
    const waiting = await pendingSpans.count(account.id)
    if (waiting + once.size > mostPending) {
      throw new Refusal(
        429,
        'rate_limit',
        {
          detail: `${waiting} spans of this account wait to be read. Export again in ${retryAfterS} seconds.`,
          retry_after_s: retryAfterS,
        },
        { 'retry-after': String(retryAfterS) },
      )
    }
    await pendingSpans.add(account.id, [...once.values()], at)
    for (const traceId of kept) await jobs.add(spansJob({ account: account.id, traceId }, at))
  })
}

function isOfAgent({ kind, tells, facts }: SpanNote): boolean {
  return kind !== null || tells !== null || facts.length > 0
}

/** The host stands before the id of the session. */
export function hostOf({ runId }: HostEvent) {
  const name = runId.slice(0, runId.indexOf(':'))
  return name === 'claude-code' || name === 'codex' || name === 'gemini-cli' ? name : 'otlp'
}
