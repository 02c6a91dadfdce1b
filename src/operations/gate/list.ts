import { z } from 'zod'
import { parseJson } from '../../core/text.ts'
import { Refusal } from './refusal.ts'

/** The parameter `limit` of a list: a whole number from 1 to `max`. */
export function limitField(max: number, fallback: number): z.ZodType<number, string | undefined> {
  return wholeField(1, max, `send a whole number from 1 to ${max}`, fallback)
}

/** The parameter `after` of a list in order of steps: the list begins with the one behind this number. */
export function afterField(): z.ZodType<number, string | undefined> {
  return wholeField(0, 999_999_999, 'send the number of a step, or 0', 0)
}

function wholeField(
  minimum: number,
  maximum: number,
  fault: string,
  fallback: number,
): z.ZodType<number, string | undefined> {
  return z
    .string()
    .regex(/^\d{1,9}$/, fault)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, fault)
    .default(fallback)
    .meta({ type: 'integer', minimum, maximum, default: fallback })
}

/**
 * Takes the first `limit` of the found rows, and a cursor to the next ones; null if there are no more. A
 * list reads `limit + 1` rows to know that.
 */
export function pageOf<Row>(
  found: readonly Row[],
  limit: number,
  placeOf: (last: Row) => object,
): { page: Row[]; next_cursor: string | null } {
  const page = found.slice(0, limit)
  const last = page.at(-1)
  const hasMore = found.length > limit && last !== undefined
  return { page, next_cursor: hasMore ? cursorOf(placeOf(last)) : null }
}

/** Encodes a place in a list as an opaque text. */
export function cursorOf(place: object): string {
  return btoa(String.fromCodePoint(...new TextEncoder().encode(JSON.stringify(place))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/** Decodes a cursor; null without one. Refuses a cursor that this list did not make (400). */
export function cursorFrom<Place>(
  cursor: string | undefined,
  place: z.ZodType<Place>,
): Place | null {
  if (cursor === undefined) return null
  const read = place.safeParse(parseJson(decoded(cursor)))
  if (read.success) return read.data
  throw new Refusal(400, 'bad_request', {
    detail: 'cursor: send next_cursor of the previous answer, unchanged',
  })
}

function decoded(cursor: string): string {
  if (!/^[\w-]*$/.test(cursor) || cursor.length % 4 === 1) return ''
  const bytes = atob(cursor.replaceAll('-', '+').replaceAll('_', '/'))
  return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.codePointAt(0) ?? 0))
}
