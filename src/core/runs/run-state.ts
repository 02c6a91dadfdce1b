/** What a verdict says of a run. */
export const verdictStates = ['drifting', 'uncertain', 'calm'] as const

export type VerdictState = (typeof verdictStates)[number]

/** The states of a run, the most urgent first; a run has the first that applies. */
export const runStates = ['waiting', ...verdictStates] as const

export type RunState = (typeof runStates)[number]

/** The most points of a spark. */
export const mostPoints = 40

/** What a verdict says; `uncertain` is null if that is not known. */
export function verdictState(drifting: boolean, uncertain: boolean | null): VerdictState {
  if (drifting) return 'drifting'
  return uncertain === true ? 'uncertain' : 'calm'
}

/** The numbers of the steps that a spark shows of a run, ascending: all of a short run, else evenly spaced. */
export function sparkSteps(steps: number): number[] {
  if (steps <= mostPoints) return Array.from({ length: steps }, (_, at) => at + 1)
  const stride = (steps - 1) / (mostPoints - 1)
  return Array.from({ length: mostPoints }, (_, at) => 1 + Math.round(at * stride))
}
