import type { HostEvent } from '../../core/hosts/host-event.ts'
import { readHostLog } from '../../core/telemetry/host-logs.ts'
import { logsIn, spansIn } from '../../core/telemetry/records.ts'
import { readSpans } from '../../core/telemetry/spans.ts'
import { readWire, type TelemetryKind } from '../../core/telemetry/wire.ts'
import { parseJson } from '../../core/text.ts'
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

/**
 * Takes what an OpenTelemetry exporter sends, and logs the steps that it shows; those are durable when this resolves. A
 * step counts as one write. Refuses what is no body of the protocol (400).
 */
export async function reportTelemetry(
  service: Service,
  call: Call,
  { kind, isJson, readBody }: Telemetry,
): Promise<void> {
  const admitted = await admitAccount(service, call, { unmetered: true, isHook: true })
  const context: Keyed = { ...service, ...admitted, gone: call.gone }
  const bytes = await readBody()
  const body = isJson ? parseJson(new TextDecoder().decode(bytes)) : readWire(kind, bytes)
  if (typeof body !== 'object' || body === null) {
    throw new Refusal(400, 'bad_request', {
      detail: 'body: send an export request of OTLP, as JSON or as protocol buffers',
    })
  }
  const events: HostEvent[] =
    kind === 'logs' ? logsIn(body).flatMap(readHostLog) : readSpans(spansIn(body))
  for (const [runId, own] of Map.groupBy(events, (event) => event.runId)) {
    const [first] = own
    if (first !== undefined) await logEvents(context, call, hostOf(first), runId, own, false)
  }
}

/** The host stands before the id of the session. */
function hostOf({ runId }: HostEvent) {
  const name = runId.slice(0, runId.indexOf(':'))
  return name === 'claude-code' || name === 'codex' || name === 'gemini-cli' ? name : 'otlp'
}
