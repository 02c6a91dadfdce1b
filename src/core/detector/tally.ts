import { rememberedSpellings } from './constants.ts'

/**
 * How often each spelling was written, in one text: entries separated by `|`, least recent first,
 * each `spelling:times:since`, where `since` counts from the ground; `spelling` alone was written once
 * and since. Most were written once, and a memory is read and stored with every step, so its length
 * counts.
 */
export type Tally = string

/** How often one spelling was written: in the whole run, and since the ground was moved. */
export interface Times {
  times: number
  since: number
}

/**
 * The tally with `spelling` counted once more, as its newest entry. Past the limit the least repeated
 * goes, and of those the least recent. A spelling holds neither `|` nor `:`.
 */
export function counted(tally: Tally, spelling: string): Tally {
  const entries = entriesOf(tally)
  // Most spellings are new, and looking for the text at once is quicker than going through them.
  const known = tally.includes(spelling)
    ? entries.findIndex((entry) => spellingOf(entry) === spelling)
    : -1
  const { times, since } = known < 0 ? { times: 0, since: 0 } : timesOf(entries[known] ?? '')
  const isFull = known < 0 && entries.length >= rememberedSpellings
  const leaves = isFull ? leastRepeated(entries) : known
  if (leaves >= 0) entries.splice(leaves, 1)
  entries.push(written(spelling, { times: times + 1, since: since + 1 }))
  return entries.join('|')
}

/** How often the newest spelling was written. */
export function timesOfNewest(tally: Tally): Times {
  return timesOf(tally.slice(tally.lastIndexOf('|') + 1))
}

/** The tally where the ground has just been moved: nothing was written since. */
export function beginAnew(tally: Tally): Tally {
  return entriesOf(tally)
    .map((entry) => written(spellingOf(entry), { times: timesOf(entry).times, since: 0 }))
    .join('|')
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

function leastRepeated(entries: readonly string[]): number {
  const once = entries.findIndex((entry) => timesOf(entry).times === 1)
  if (once >= 0) return once
  const times = entries.map((entry) => timesOf(entry).times)
  return times.indexOf(Math.min(...times))
}
