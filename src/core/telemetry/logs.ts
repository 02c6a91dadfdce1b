import { digestOfValue, given } from '../hosts/fields.ts'
import type { HostEvent } from '../hosts/host-event.ts'
import { idOf, placed } from '../hosts/place.ts'
import { sessionOf } from './conversation.ts'
import { readHostLog } from './host-logs.ts'
import { spanOf, type TelemetryRecord } from './records.ts'
import { hostIn } from './spans.ts'

/**
 * Reads a log record: what an agent reports of a step in attributes of our own, and the events of hosts. Others are no
 * events.
 */
export function readLog(record: TelemetryRecord): HostEvent[] {
  const span = spanOf(record)
  return [...readReport(record), ...readHostLog(record)].map((event) => ({
    ...event,
    ...(span === null ? {} : { span }),
    ...given('responseId', idOf(record.attributes['gen_ai.response.id'])),
    way: 'log' as const,
  }))
}

function readReport(record: TelemetryRecord): HostEvent[] {
  const { reported, traceId, spanId, at } = record
  const { agentId, report } = reported
  if (report === null) return []
  const id = `${digestOfValue({ traceId, spanId, at, agentId, report })}#report`
  const session = sessionOf(record) || traceId
  const place = { host: hostIn(record), session, agentId, at, id, event: record.attributes }
  return placed(place, [{ kind: 'report', ...report }])
}
