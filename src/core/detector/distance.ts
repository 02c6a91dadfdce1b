import { distanceRange } from './contract/constants.ts'

/**
 * Reads a reported distance of the sequence form: the base-10 integer at the start of its string form,
 * clamped to 0–10, or 5 if there is none.
 *
 * @example
 * ```ts
 * import { readDistance } from 'plumbline/detector'
 *
 * console.log(readDistance(7.9)) // → 7
 * console.log(readDistance('8abc')) // → 8
 * console.log(readDistance(-3)) // → 0
 * console.log(readDistance(null)) // → 5
 * ```
 */
export function readDistance(value: unknown): number {
  const parsed = Number.parseInt(stringForm(value), 10)
  const { min, max, fallback } = distanceRange
  return Number.isNaN(parsed) ? fallback : Math.min(max, Math.max(min, parsed)) + 0
}

/**
 * Reads a reported distance of the two-goal form: like `readDistance`, but 5 if the whole value is not a
 * finite number. `"8abc"` is 5.
 */
export function readWholeDistance(value: unknown): number {
  const whole = isListOfMany(value) ? Number.NaN : Number(stringForm(value) || 0)
  return value === undefined || !Number.isFinite(whole)
    ? distanceRange.fallback
    : readDistance(value)
}

/** Whether the sequence form can read a distance from the value; otherwise `readDistance` returns 5. */
export function saysDistance(value: unknown): boolean {
  return !Number.isNaN(Number.parseInt(stringForm(value), 10))
}

/**
 * As `String(value)` for JSON values, without recursion: the text of a nested list begins with its first
 * leaf.
 */
function stringForm(value: unknown): string {
  let leaf = value
  let depth = 0
  while (Array.isArray(leaf)) {
    leaf = leaf[0] ?? ''
    depth++
  }
  if (typeof leaf === 'object' && leaf !== null) return ''
  return leaf === null && depth > 0 ? '' : String(leaf)
}

function isListOfMany(value: unknown): boolean {
  let list = value
  while (Array.isArray(list)) {
    if (list.length > 1) return true
    list = list[0]
  }
  return false
}
