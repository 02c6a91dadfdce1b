import { fieldsOf } from '../hosts/fields.ts'
import type { EvaluationResult } from '../runs/evaluation-result.ts'
import { parseJson } from '../text.ts'

/** The event by the conventions for generative AI. */
const eventName = 'gen_ai.evaluation.result'

/** The body of an export request of OTLP in JSON: one log record for each result. */
export function resultRequest(results: readonly EvaluationResult[], version: string): string {
  const logRecords = results.map(({ at, warns, span, attributes }) => {
    const time = `${at}000000`
    return {
      timeUnixNano: time,
      observedTimeUnixNano: time,
      severityNumber: warns ? 13 : 9,
      severityText: warns ? 'WARN' : 'INFO',
      eventName,
      attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: typed(value) })),
      ...span,
    }
  })
  const resource = { attributes: [{ key: 'service.name', value: typed('plumbline') }] }
  const scope = { name: 'plumbline', version }
  return JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords }] }] })
}

/** Whole numbers are texts in the protocol's JSON; a score is always a double, also if it is 0 or 1. */
function typed(value: string | number): object {
  return typeof value === 'string' ? { stringValue: value } : { doubleValue: value }
}

/** How many records the collector says it has refused, in its answer to a request. */
export function refusedIn(answer: string): number {
  const { rejectedLogRecords } = fieldsOf(fieldsOf(parseJson(answer)).partialSuccess)
  const count = Number(rejectedLogRecords ?? 0)
  return Number.isSafeInteger(count) && count > 0 ? count : 0
}
