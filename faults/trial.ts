/** One run of an experiment, on the real server or on one with a deliberate fault. */
export interface Trial {
  /** The database or the other place of the trial, such as `SQLite`. */
  readonly on: string
  /** The deliberate fault and the promise that it breaks; null for the real server. */
  readonly wrong: Wrong | null
  /** Why the trial did not run, or null. */
  readonly skipped: string | null
  readonly measured: Measured
  /** The broken promises; empty if all held. */
  readonly broken: readonly Broken[]
}

/** A deliberate fault. */
export interface Wrong {
  readonly how: string
  /** The promise that the experiment must find broken. */
  readonly breaks: string
}

/** A broken promise. */
export interface Broken {
  readonly promise: string
  readonly found: string
}

/** The counts and times of a trial; null where one does not apply. */
export interface Measured {
  readonly acknowledged: number | null
  readonly lost: number | null
  readonly duplicated: number | null
  /** Answers of 500 and more. */
  readonly answers5xx: number | null
  /** The median time from spawning the process to the first 200 of /readyz. */
  readonly readyMs: number | null
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  /** The longest wait of a caller for an answer or a refusal. */
  readonly slowestMs: number | null
  /** Further results, in words. */
  readonly seen: string
}

/** An experiment: its trials on the real server and on the faulty ones. */
export interface Experiment {
  readonly name: string
  /** Runs the trials. `size` is their extent; null for the usual one. */
  play(size: number | null): Promise<Trial[]>
}

/** No measurements yet. */
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

/** A trial that cannot run here. */
export function skipped(on: string, why: string): Trial {
  return { on, wrong: null, skipped: why, measured: nothing, broken: [] }
}

/** Whether a trial ended as it must: the real server kept every promise, and the faulty one was caught. */
export function isGood({ wrong, broken, skipped }: Trial): boolean {
  if (skipped !== null) return true
  if (wrong === null) return broken.length === 0
  return broken.some(({ promise }) => promise === wrong.breaks)
}

/** The result of a trial in words. */
export function resultOf(trial: Trial): string {
  const { wrong, broken, skipped } = trial
  if (skipped !== null) return `skipped: ${skipped}`
  const found = broken.map(({ promise, found }) => `${promise}: ${found}`).join('; ')
  if (wrong === null) return isGood(trial) ? 'holds' : `BROKEN: ${found}`
  const proof = broken.find(({ promise }) => promise === wrong.breaks)
  return proof === undefined ? `NOT CAUGHT: ${found}` : `caught: ${proof.found}`
}

/** Collects the broken promises. */
export function createVerdict(): {
  readonly broken: Broken[]
  /** `found` describes the observation instead, with its numbers. */
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
