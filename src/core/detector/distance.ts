import { distanceRange } from './contract/constants.ts'

/**
 * A reported distance as the sequence form reads it: the base-10 integer its string form begins
 * with, 5 when there is none, clamped to 0–10. `"8abc"` is 8, `7.9` is 7, `null` is 5.
 */
export function readDistance(value: unknown): number {
  const parsed = Number.parseInt(stringForm(value), 10)
  const { min, max, fallback } = distanceRange
  return Number.isNaN(parsed) ? fallback : Math.min(max, Math.max(min, parsed)) + 0
}

/**
 * A reported distance as the two-goal form reads it: like `readDistance`, but a value that is not
 * a finite number as a whole is 5. `"8abc"` is 5.
 */
export function readWholeDistance(value: unknown): number {
  const whole = isListOfMany(value) ? Number.NaN : Number(stringForm(value) || 0)
  return value === undefined || !Number.isFinite(whole)
    ? distanceRange.fallback
    : readDistance(value)
}

/** Whether a value says a distance, as the sequence form reads it; else `readDistance` stands in with 5. */
export function saysDistance(value: unknown): boolean {
  return !Number.isNaN(Number.parseInt(stringForm(value), 10))
}

/** `String(value)` for anything JSON can hold, without its recursion: nested lists begin with their first leaf. */
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
