import type { TierName } from './tiers.ts'

/** The stored cost of a run. */
export interface RunCost {
  readonly steps: number
  /** Steps that reported their tokens. */
  readonly token_steps: number
  readonly tokens: number
  /** Tokens of steps marked as overhead. */
  readonly overhead_tokens: number
}

/** The total cost of an account's recent runs, as `GET /v1/cost` returns it. */
export interface CostSummary {
  tier: TierName
  runs: number
  /** Runs with a step that reported its tokens. */
  runs_with_tokens: number
  /** All steps, with or without tokens. */
  steps: number
  tokens: number
  overhead_tokens: number
  /** Tokens that are not overhead. */
  work_tokens: number
  /** Overhead over all tokens, 0–1, not rounded; 0 without tokens. */
  overhead_fraction: number
  /** Tokens over all steps, not rounded; 0 without steps. */
  tokens_per_step: number
}

/** Sums the cost of runs. The sums are whole tokens, though steps may report fractions. */
export function summariseCost(tier: TierName, runs: readonly RunCost[]): CostSummary {
  const total = (count: (run: RunCost) => number) => runs.reduce((sum, run) => sum + count(run), 0)
  const steps = total((run) => run.steps)
  const tokens = Math.round(total((run) => run.tokens))
  const overhead = Math.round(total((run) => run.overhead_tokens))
  return {
    tier,
    runs: runs.length,
    runs_with_tokens: runs.filter(({ token_steps }) => token_steps > 0).length,
    steps,
    tokens,
    overhead_tokens: overhead,
    work_tokens: tokens - overhead,
    overhead_fraction: tokens === 0 ? 0 : overhead / tokens,
    tokens_per_step: steps === 0 ? 0 : tokens / steps,
  }
}
