import type { ReadRecords } from './records.ts'
import type { TelemetryKind } from './wire.ts'

/** What an answer says of the records that could not be read, as the protocol's JSON spells it. */
export type PartialSuccess = {
  /** Whole numbers are texts there. */
  [rejected in 'rejectedSpans' | 'rejectedLogRecords']?: string
} & { errorMessage: string }

/** Most faults that a message tells. */
const mostTold = 5
const longestMessage = 2000

/** What is answered to a request; null if all records could be read. */
export function partialSuccessOf(
  kind: TelemetryKind,
  { records, faults }: ReadRecords,
): PartialSuccess | null {
  if (faults.length === 0) return null
  const what = kind === 'traces' ? 'spans' : 'log records'
  const told = faults.slice(0, mostTold).join(' | ')
  const more = faults.length > mostTold ? ` | and ${faults.length - mostTold} more` : ''
  const all = records.length + faults.length
  const message = `${faults.length} of ${all} ${what} cannot be read, the others are taken: ${told}${more}`
  const rejected = kind === 'traces' ? 'rejectedSpans' : 'rejectedLogRecords'
  return {
    [rejected]: String(faults.length),
    errorMessage: message.slice(0, longestMessage).toWellFormed(),
  }
}
