import { rememberedSpellings } from './contract/constants.ts'

/**
 * Counts of each spelling as one text: entries separated by `|`, least recent first, each
 * `spelling:times:since`, where `since` counts from the ground. `spelling` alone means once, and since the
 * ground. Most occur once, and each step reads and stores the memory, so the length matters.
 */
export type Tally = string

/** Count of one spelling: in the whole run, and since the last change of the ground. */
export interface Times {
  times: number
  since: number
}

/**
 * Adds one occurrence of `spelling` as the newest entry. Past the limit it drops the least repeated entry,
 * and of those the least recent. A spelling contains neither `|` nor `:`.
 */
export function counted(tally: Tally, spelling: string): Tally {
  const known = placeOf(tally, spelling)
  const entry = known < 0 ? '' : entryAt(tally, known)
  const { times, since } = known < 0 ? { times: 0, since: 0 } : timesOf(entry)
  const leaves = known < 0 && isFull.test(tally) ? leastRepeated(tally) : known
  const kept = leaves < 0 ? tally : without(tally, leaves)
  const newest = written(spelling, { times: times + 1, since: since + 1 })
  return kept === '' ? newest : `${kept}|${newest}`
}

/** Count of the newest spelling. */
export function timesOfNewest(tally: Tally): Times {
  return timesOf(tally.slice(tally.lastIndexOf('|') + 1))
}

/** Resets the counts since the ground. */
export function beginAnew(tally: Tally): Tally {
  return entriesOf(tally)
    .map((entry) => written(spellingOf(entry), { times: timesOf(entry).times, since: 0 }))
    .join('|')
}

const isFull = new RegExp(`^(?:[^|]*\\|){${rememberedSpellings - 1}}`)

// The functions scan the text directly, because splitting it into a list would slow down each step.

/** Index of the entry of a spelling, or -1. */
function placeOf(tally: Tally, spelling: string): number {
  let at = tally.indexOf(spelling)
  while (at >= 0) {
    const next = tally[at + spelling.length]
    const begins = at === 0 || tally[at - 1] === '|'
    if (begins && (next === undefined || next === '|' || next === ':')) return at
    at = tally.indexOf(spelling, at + 1)
  }
  return -1
}

function entryAt(tally: Tally, at: number): string {
  const end = tally.indexOf('|', at)
  return end < 0 ? tally.slice(at) : tally.slice(at, end)
}

function without(tally: Tally, at: number): Tally {
  const end = tally.indexOf('|', at)
  return end < 0 ? tally.slice(0, Math.max(0, at - 1)) : tally.slice(0, at) + tally.slice(end + 1)
}

/** Index of the least recent of the least repeated entries. */
function leastRepeated(tally: Tally): number {
  let least = Number.POSITIVE_INFINITY
  let place = 0
  for (let at = 0; at <= tally.length && least > 1; ) {
    const entry = entryAt(tally, at)
    const { times } = timesOf(entry)
    if (times < least) {
      least = times
      place = at
    }
    at += entry.length + 1
  }
  return place
}

function entriesOf(tally: Tally): string[] {
  return tally === '' ? [] : tally.split('|')
}

function spellingOf(entry: string): string {
  const end = entry.indexOf(':')
  return end < 0 ? entry : entry.slice(0, end)
}

function timesOf(entry: string): Times {
  if (!entry.includes(':')) return { times: 1, since: 1 }
  const [, times, since] = entry.split(':')
  return { times: Number(times), since: Number(since) }
}

function written(spelling: string, { times, since }: Times): string {
  return times === 1 && since === 1 ? spelling : `${spelling}:${times}:${since}`
}
