import { z } from 'zod'
import { maxIdLength } from '../../core/runs/field-reader.ts'
import { maxTextLength, wellFormed } from '../../core/text.ts'

/** A time in an answer, ISO 8601 UTC. */
export const time = z.iso.datetime()

/** A number of tokens. It may be a mean, and so need not be whole. */
export const tokenCount = z.number().min(0)

/** A part of a whole, 0–1. */
export const share = z.number().min(0).max(1)

/** The answer of an operation that returns nothing else. */
export const okAnswer = z.strictObject({ ok: z.literal(true) })

/** An id that the caller has chosen: any text of 1–200 characters. */
export function idField() {
  const fault = `send a text of 1 to ${maxIdLength} characters`
  return z.string(fault).min(1, fault).max(maxIdLength, fault).overwrite(wellFormed)
}

/** A free text of at most 4,000 characters. */
export function textField() {
  const fault = `send a text of at most ${maxTextLength} characters`
  return z.string(fault).max(maxTextLength, fault).overwrite(wellFormed)
}
