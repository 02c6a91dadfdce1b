/**
 * How hooks are answered. `observe` tells the agent nothing; `advise` tells it a fact when the run has left its errand;
 * `gate` also holds commands that cannot be undone while it has.
 */
export const hookModes = ['observe', 'advise', 'gate'] as const

export type HookMode = (typeof hookModes)[number]

/** The settings of an account or a run. */
export interface HookSettings {
  mode: HookMode
  /** Whether the errand is told again after a compaction. */
  remind: boolean
}

/** The settings as they are stored; what is not set is as built in. */
export function readHookSettings(
  mode: string | null | undefined,
  remind: number | null | undefined,
): HookSettings {
  return { mode: hookModes.find((each) => each === mode) ?? 'observe', remind: remind !== 0 }
}
