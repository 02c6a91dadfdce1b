import { digestOf } from './fields.ts'
import type { Act } from './host-event.ts'

/** What an agent's own acts show. Constants and rules: `evidence/1`. */
export const evidenceVersion = 'evidence/1'

/** The kinds of evidence, and the reason that each gives a step; null gives none. */
export const evidenceKinds = {
  'same-error': 'stalled',
  'back-and-forth': 'oscillating',
  'same-act': 'stalled',
  'tests-stuck': 'stalled',
  'no-change': 'stalled',
  wandering: null,
  unexplained: null,
} as const

export type EvidenceKind = keyof typeof evidenceKinds

/** Evidence that the acts of an agent show, with its numbers in one sentence. */
export interface ActEvidence {
  kind: EvidenceKind
  gives: 'stalled' | 'oscillating' | null
  says: string
}

/** When the acts of an agent count as evidence. Times are milliseconds. */
export const evidenceLimits = {
  /** Equal errors of equal calls, while nothing changed. */
  sameError: 3,
  /** Equal errors of one check, whatever was edited. */
  sameCheckError: 5,
  /** Failures of one check with equal failing tests, with edits in between. */
  testsStuck: 4,
  /** Equal calls with equal results among the newest `sameActOf`. */
  sameAct: 4,
  sameActOf: 8,
  /** Slower repeats are polling. */
  pollingMs: 20_000,
  /** Edits of one file that take another one of it back, among the newest `editsOf` of the file. */
  inverseEdits: 2,
  editsOf: 8,
  /** Nothing changed for so long, or for three times the median gap between acts, and in so many acts. */
  noChangeMs: 15 * 60_000,
  noChangeGaps: 3,
  noChangeActs: 12,
  /** Acts outside the project and on the web, without a word of the errand, among the newest `wanderingOf`. */
  wanderingOf: 12,
  wanderingWithWords: 8,
  wanderingShare: 0.9,
  /** Share of the acts that the errand explains, over so many acts. */
  unexplainedBelow: 0.2,
  unexplainedOf: 12,
} as const

/** An act as it is kept. */
interface KeptAct {
  args: string
  result: string | null
  at: number | null
  waits: boolean
  /** Whether it has words that could name the errand. */
  hasWords: boolean
  /** Whether it is outside the project or on the web. */
  isOutside: boolean
  /** Null if that is not known. */
  isCovered: boolean | null
}

/** The failures in a row of equal calls. */
interface Failing {
  args: string
  /** The class of the newest error; null after a success. */
  error: string | null
  /** Failures in a row with that class, and those while nothing changed. */
  same: number
  sameInWorld: number
  world: number
  /** Failures in a row with equal failing tests, and the edits that the first of them had seen. */
  set: string | null
  tests: number
  sameSet: number
  edits: number
  result: string | null
}

/** What is kept of the acts of one agent: bounded, and equal after equal acts. */
export interface Doings {
  /** Goes up at each edit that makes something new, and at each new result of a check. */
  world: number
  /** Edits that made something new. */
  edits: number
  recent: readonly KeptAct[]
  failing: readonly Failing[]
  /** The newest edits of each file, the newest file last. */
  files: readonly { path: string; pairs: readonly (readonly [from: string, to: string])[] }[]
  /** When something changed last, the plan included, and the acts since. */
  changedAt: number | null
  actsSinceChange: number
  acts: number
  failed: number
  covered: number
  /** Acts of which nobody knows whether the errand explains them; absent if there is none. */
  unplaced?: number
  /** Acts of which the host told how they ended. */
  outcomes: number
  /** Acts beyond those, which were counted and not read, and the greatest k of which every k-th was read. */
  skipped?: number
  every?: number
}

/** An agent that has done nothing. */
export const nothingDone: Doings = {
  world: 0,
  edits: 0,
  recent: [],
  failing: [],
  files: [],
  changedAt: null,
  actsSinceChange: 0,
  acts: 0,
  failed: 0,
  covered: 0,
  outcomes: 0,
  skipped: 0,
  every: 1,
}

/** The hash of no text. */
const nothing = digestOf('')
const mostRecent = 32
const mostFailing = 16
const mostFiles = 24
/** Hashes of what failed, joined, are cut to this length: equal sets stay equal. */
const longestSet = 400

/** What an act adds: whether the errand explains it (null: not known), and when it happened, milliseconds since 1970. */
export interface ActSeen {
  isCovered: boolean | null
  at: number | null
}

/** The doings of an agent after an act. Pure. */
export function doingsAfter(doings: Doings, act: Act, { isCovered, at }: ActSeen): Doings {
  const { files, isNew } = filesAfter(doings.files, act)
  const known = doings.failing.find(({ args }) => args === act.argsHash)
  const isOtherResult =
    act.family === 'verify' &&
    known !== undefined &&
    known.result !== null &&
    act.resultHash !== undefined &&
    act.resultHash !== known.result
  const world = doings.world + (isNew || isOtherResult ? 1 : 0)
  const edits = doings.edits + (isNew ? 1 : 0)
  const kept: KeptAct = {
    args: act.argsHash,
    result: act.resultHash ?? null,
    at,
    waits: act.family === 'wait',
    hasWords: act.words !== '' || act.paths.length > 0,
    isOutside: act.family === 'web' || act.paths.some((path) => path.startsWith('~')),
    isCovered,
  }
  const didChange = world > doings.world
  return {
    world,
    edits,
    recent: [...doings.recent, kept].slice(-mostRecent),
    failing: failingAfter(doings.failing, act, world, edits),
    files,
    changedAt: didChange ? at : doings.changedAt,
    actsSinceChange: didChange ? 0 : doings.actsSinceChange + 1,
    acts: doings.acts + 1,
    failed: doings.failed + (act.outcome === 'failed' ? 1 : 0),
    covered: doings.covered + (isCovered ? 1 : 0),
    ...unplacedAfter(doings, isCovered === null),
    outcomes: doings.outcomes + (act.outcome === 'unknown' ? 0 : 1),
    skipped: doings.skipped ?? 0,
    every: doings.every ?? 1,
  }
}

/** The doings after an act that was counted and not read, because only every k-th is. */
export function doingsAfterSkipped(doings: Doings, every: number): Doings {
  return {
    ...doings,
    skipped: (doings.skipped ?? 0) + 1,
    every: Math.max(doings.every ?? 1, every),
  }
}

/** The doings after a plan that is new or has moved on, which is a change too. */
export function doingsAfterPlan(doings: Doings, at: number | null): Doings {
  return at === null ? doings : { ...doings, changedAt: at, actsSinceChange: 0 }
}

function unplacedAfter({ unplaced = 0 }: Doings, isUnplaced: boolean): { unplaced?: number } {
  const after = unplaced + (isUnplaced ? 1 : 0)
  return after === 0 ? {} : { unplaced: after }
}

/** An act of which it has come out how it ended, and what was known when it happened. */
export interface ActEnded {
  /** Which act of the agent it was, 1-based, and what had changed by then. */
  nth: number
  world: number
  edits: number
  at: number | null
  /** Whether the errand explains it, as far as that is known now, and as it counted then. */
  isCovered: boolean | null
  wasCovered: boolean | null
}

/**
 * The doings after it has come out how an earlier act ended: what it failed with counts where it happened, among the edits
 * that it had seen. `isOther` says that its result differs from the one before, which the acts after it have seen too.
 */
export function doingsAfterEnd(
  doings: Doings,
  act: Act,
  { nth, world, edits, at, isCovered, wasCovered }: ActEnded,
): { doings: Doings; isOther: boolean } {
  const before = doings.failing.find(({ args }) => args === act.argsHash)?.result ?? null
  const isOther =
    act.family === 'verify' &&
    before !== null &&
    act.resultHash !== undefined &&
    act.resultHash !== before
  const place = doings.recent.length - 1 - (doings.acts - nth)
  const known = doings.recent[place]
  const isFound = isCovered === true && wasCovered !== true
  const { unplaced = 0 } = doings
  const left = isFound && wasCovered === null ? unplaced - 1 : unplaced
  const plus = isOther ? 1 : 0
  const after = {
    ...doings,
    ...(left > 0 || doings.unplaced !== undefined ? { unplaced: Math.max(0, left) } : {}),
    world: doings.world + plus,
    failing: failingAfter(doings.failing, act, world + plus, edits),
    changedAt: isOther ? Math.max(at ?? 0, doings.changedAt ?? 0) : doings.changedAt,
    actsSinceChange: isOther
      ? Math.min(doings.actsSinceChange, doings.acts - nth)
      : doings.actsSinceChange,
    recent:
      isFound && known !== undefined
        ? doings.recent.with(place, { ...known, isCovered })
        : doings.recent,
    covered: doings.covered + (isFound ? 1 : 0),
  }
  return { doings: withEnd(after, act), isOther }
}

/** The doings with an end that says nothing but that it is known, and whether it was a failure. */
export function withEnd(doings: Doings, { outcome }: Act): Doings {
  return {
    ...doings,
    failed: doings.failed + (outcome === 'failed' ? 1 : 0),
    outcomes: doings.outcomes + 1,
  }
}

/** What an end that came out later shows, at the acts and the edits before it; the surest first. */
export function evidenceOfEnd(doings: Doings, act: Act, edits: number): ActEvidence[] {
  const found: ActEvidence[] = []
  const then = { ...doings, edits }
  for (const [kind, says] of [
    ['tests-stuck', testsStuck(then, act)],
    ['same-error', sameError(then, act)],
  ] as const) {
    if (says) found.push({ kind, gives: evidenceKinds[kind], says })
  }
  return found
}

/** The doings after the user has spoken: another assignment explains other acts, and a pause is no stall. */
export function doingsAfterPrompt(doings: Doings): Doings {
  return {
    ...nothingDone,
    world: doings.world,
    acts: doings.acts,
    failed: doings.failed,
    covered: doings.covered,
    ...unplacedAfter(doings, false),
    outcomes: doings.outcomes,
    skipped: doings.skipped ?? 0,
    every: doings.every ?? 1,
  }
}

function filesAfter(
  files: Doings['files'],
  { edits = [] }: Act,
): { files: Doings['files']; isNew: boolean } {
  let after = files
  let isNew = false
  for (const { path, from, to } of edits) {
    const place = after.findIndex((file) => file.path === path)
    const pairs = after[place]?.pairs ?? []
    // A file that is written whole does not say what it was before: it is what was written last.
    const before = from === nothing ? (pairs.at(-1)?.[1] ?? from) : from
    const isOther = !pairs.some((pair) => pair.includes(to))
    const earlier = isOther ? [] : pairs
    isNew ||= isOther
    const newest = [...earlier, [before, to] as const].slice(-evidenceLimits.editsOf)
    const others = place < 0 ? after.slice() : after.toSpliced(place, 1)
    others.push({ path, pairs: newest })
    after = others
  }
  return { files: after.length > mostFiles ? after.slice(-mostFiles) : after, isNew }
}

function failingAfter(
  failing: readonly Failing[],
  act: Act,
  world: number,
  edits: number,
): readonly Failing[] {
  const at = failing.findIndex(({ args }) => args === act.argsHash)
  const known = failing[at]
  const result = act.resultHash ?? null
  // Networks and rate limits say nothing of the work, and an unknown end neither.
  if (act.outcome === 'unknown' || act.errorClass === 'infra') return failing
  if (act.outcome === 'ok') {
    if (known === undefined && act.family !== 'verify') return failing
    return kept(failing, at, { ...passed, args: act.argsHash, result })
  }
  const before = known ?? { ...passed, args: act.argsHash }
  const error = act.errorClass ?? ''
  const isSame = before.error === error
  const set = (act.failing?.join(',') ?? error).slice(0, longestSet)
  const isSameSet = before.set === set
  return kept(failing, at, {
    args: act.argsHash,
    error,
    same: isSame ? before.same + 1 : 1,
    sameInWorld: isSame && before.world === world ? before.sameInWorld + 1 : 1,
    world,
    set,
    tests: act.failing?.length ?? 0,
    sameSet: isSameSet ? before.sameSet + 1 : 1,
    edits: isSameSet ? before.edits : edits,
    result,
  })
}

const passed: Omit<Failing, 'args'> = {
  error: null,
  same: 0,
  sameInWorld: 0,
  world: -1,
  set: null,
  tests: 0,
  sameSet: 0,
  edits: 0,
  result: null,
}

/** The list with one entry as its newest. */
function kept(failing: readonly Failing[], at: number, entry: Failing): readonly Failing[] {
  return [...failing.filter((_, place) => place !== at), entry].slice(-mostFailing)
}

/** What the acts of an agent show after the newest of them; the surest first. */
export function evidenceOf(
  doings: Doings,
  act: Act,
  { hasBegun, at }: { hasBegun: boolean; at: number | null },
): ActEvidence[] {
  const found: ActEvidence[] = []
  const tell = (kind: EvidenceKind, says: string | null) => {
    if (says) found.push({ kind, gives: evidenceKinds[kind], says })
  }
  tell('tests-stuck', testsStuck(doings, act))
  tell('same-error', sameError(doings, act))
  tell('back-and-forth', backAndForth(doings, act))
  tell('same-act', sameAct(doings, act))
  tell('no-change', hasBegun ? noChange(doings, at) : null)
  tell('unexplained', unexplained(doings))
  tell('wandering', wandering(doings))
  return found
}

function testsStuck({ failing, edits }: Doings, act: Act): string | null {
  if (act.family !== 'verify' || act.outcome !== 'failed') return null
  const entry = failing.find(({ args }) => args === act.argsHash)
  if (entry === undefined || entry.sameSet < evidenceLimits.testsStuck) return null
  const between = edits - entry.edits
  if (between === 0) return null
  const how = entry.tests === 0 ? 'the same error' : `the same ${counted(entry.tests, 'test')}`
  return `${named(act)} failed ${entry.sameSet} times with ${how}; ${counted(between, 'edit')} in between.`
}

function sameError({ failing }: Doings, act: Act): string | null {
  if (act.outcome !== 'failed' || act.errorClass === 'infra') return null
  const entry = failing.find(({ args }) => args === act.argsHash)
  if (entry === undefined) return null
  if (entry.sameInWorld >= evidenceLimits.sameError)
    return `${named(act)} failed ${entry.sameInWorld} times with the same error, and nothing changed in between.`
  return act.family === 'verify' && entry.same >= evidenceLimits.sameCheckError
    ? `${named(act)} failed ${entry.same} times with the same error.`
    : null
}

function backAndForth({ files }: Doings, { edits = [], isHidden }: Act): string | null {
  for (const { path } of edits) {
    const pairs = files.find((file) => file.path === path)?.pairs ?? []
    const inverse = pairs.filter(([from, to], at) =>
      pairs.slice(0, at).some((other) => other[0] === to && other[1] === from && from !== to),
    )
    if (inverse.length >= evidenceLimits.inverseEdits)
      return `${isHidden === true ? 'A file' : path} went back and forth between the same two texts ${inverse.length} times.`
  }
  return null
}

function sameAct({ recent }: Doings, act: Act): string | null {
  if (act.family === 'wait' || act.resultHash === undefined) return null
  const equal = recent
    .slice(-evidenceLimits.sameActOf)
    .filter(({ args, result }) => args === act.argsHash && result === act.resultHash)
  if (equal.length < evidenceLimits.sameAct) return null
  const gap = medianGap(equal)
  return gap !== null && gap < evidenceLimits.pollingMs
    ? `${named(act)} was done ${equal.length} times with the same result.`
    : null
}

function noChange(
  { recent, changedAt, actsSinceChange }: Doings,
  at: number | null,
): string | null {
  const { noChangeActs, noChangeGaps, noChangeMs } = evidenceLimits
  if (actsSinceChange < noChangeActs || at === null || changedAt === null) return null
  const least = Math.max(noChangeMs, noChangeGaps * (medianGap(recent) ?? 0))
  const minutes = Math.floor((at - changedAt) / 60_000)
  return at - changedAt >= least
    ? `Nothing has changed for ${minutes} minutes and ${actsSinceChange} acts.`
    : null
}

function wandering({ recent }: Doings): string | null {
  const { wanderingOf, wanderingWithWords, wanderingShare } = evidenceLimits
  const newest = recent.slice(-wanderingOf)
  const told = newest.filter(({ hasWords }) => hasWords)
  if (newest.length < wanderingOf || told.length < wanderingWithWords) return null
  const away = told.filter(({ isOutside, isCovered }) => isOutside && isCovered === false)
  return away.length >= wanderingShare * told.length
    ? `${away.length} of the last ${told.length} acts were outside the project or on the web, without a word of the errand.`
    : null
}

function unexplained({ recent }: Doings): string | null {
  const { unexplainedBelow, unexplainedOf } = evidenceLimits
  const newest = recent.slice(-20).filter(({ isCovered }) => isCovered !== null)
  if (newest.length < unexplainedOf) return null
  const covered = newest.filter(({ isCovered }) => isCovered).length
  return covered < unexplainedBelow * newest.length
    ? `${covered} of the last ${newest.length} acts share a word or a file with the errand.`
    : null
}

function medianGap(acts: readonly KeptAct[]): number | null {
  const times = acts.flatMap(({ at }) => (at === null ? [] : [at]))
  if (times.length < 2) return null
  const gaps = times.slice(1).map((time, place) => time - (times[place] as number))
  return gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? null
}

function named({ family, words, paths, tool, isHidden }: Act): string {
  if (isHidden === true) return hiddenNames[family]
  const text = words || paths[0] || tool
  return `"${text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text}"`
}

/** What an act is called whose words are hashes. */
const hiddenNames: Record<Act['family'], string> = {
  read: 'A read',
  search: 'A search',
  edit: 'An edit',
  run: 'A command',
  verify: 'A check',
  web: 'A web request',
  wait: 'A wait',
  other: 'A call of a tool',
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
