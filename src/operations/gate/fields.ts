import { z } from 'zod'
import { maxIdLength } from '../../core/runs/drift.ts'
import { maxTextLength, wellFormed } from '../../core/text.ts'

/** An id the caller chose: any text of 1–200 characters. */
export function idField() {
  const fault = `send a text of 1 to ${maxIdLength} characters`
  return z.string(fault).min(1, fault).max(maxIdLength, fault).overwrite(wellFormed)
}

/** A free text of at most 4,000 characters. */
export function textField() {
  const fault = `send a text of at most ${maxTextLength} characters`
  return z.string(fault).max(maxTextLength, fault).overwrite(wellFormed)
}
