/** One run of an experiment: the server as it is, or one that is wrong on purpose. */
export interface Trial {
  /** What it ran on, such as `SQLite`. */
  readonly on: string
  /** How it was made wrong and which promise that breaks; null as it is. */
  readonly wrong: Wrong | null
  /** Why it did not run, or null. */
  readonly skipped: string | null
  readonly measured: Measured
  /** Promises that did not hold; empty when all did. */
  readonly broken: readonly Broken[]
}

/** A server that is wrong on purpose. */
export interface Wrong {
  readonly how: string
  /** The promise that the experiment must see broken. */
  readonly breaks: string
}

/** A promise that did not hold. */
export interface Broken {
  readonly promise: string
  readonly found: string
}

/** What a trial counted and timed; null where it does not apply. */
export interface Measured {
  readonly acknowledged: number | null
  readonly lost: number | null
  readonly duplicated: number | null
  /** Answers of 500 and more. */
  readonly answers5xx: number | null
  /** The median start, from spawning the process to /readyz answering 200. */
  readonly readyMs: number | null
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  /** The longest that a caller waited for an answer, a refusal too. */
  readonly slowestMs: number | null
  /** The rest, in words. */
  readonly seen: string
}

/** An experiment: the trials of the right server and of the wrong ones. */
export interface Experiment {
  readonly name: string
  /** Plays its trials; `size` is how much of it, or null for the usual. */
  play(size: number | null): Promise<Trial[]>
}

/** Nothing measured yet. */
export const nothing: Measured = {
  acknowledged: null,
  lost: null,
  duplicated: null,
  answers5xx: null,
  readyMs: null,
  p50Ms: null,
  p99Ms: null,
  slowestMs: null,
  seen: '',
}

/** A trial that cannot be played here. */
export function skipped(on: string, why: string): Trial {
  return { on, wrong: null, skipped: why, measured: nothing, broken: [] }
}

/** Whether a trial came out as it must: the right server kept every promise, the wrong one was caught. */
export function isGood({ wrong, broken, skipped }: Trial): boolean {
  if (skipped !== null) return true
  if (wrong === null) return broken.length === 0
  return broken.some(({ promise }) => promise === wrong.breaks)
}

/** What a trial came to, in words. */
export function resultOf(trial: Trial): string {
  const { wrong, broken, skipped } = trial
  if (skipped !== null) return `skipped: ${skipped}`
  const found = broken.map(({ promise, found }) => `${promise}: ${found}`).join('; ')
  if (wrong === null) return isGood(trial) ? 'holds' : `BROKEN: ${found}`
  const proof = broken.find(({ promise }) => promise === wrong.breaks)
  return proof === undefined ? `NOT CAUGHT: ${found}` : `caught: ${proof.found}`
}

/** Collects the promises that do not hold. */
export function createVerdict(): {
  readonly broken: Broken[]
  /** `found` says what was seen instead, with its numbers. */
  expect(holds: boolean, promise: string, found: string): void
} {
  const broken: Broken[] = []
  return {
    broken,
    expect(holds, promise, found) {
      if (!holds) broken.push({ promise, found })
    },
  }
}
