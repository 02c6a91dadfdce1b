import type { TierName } from './tiers.ts'

/** What a run has cost, as it is stored. */
export interface RunCost {
  readonly steps: number
  /** Steps that said how many tokens they cost. */
  readonly token_steps: number
  readonly tokens: number
  /** Tokens of steps that were marked as overhead. */
  readonly overhead_tokens: number
}

/** What an account's recent runs have cost together, as `GET /v1/cost` answers it. */
export interface CostSummary {
  tier: TierName
  runs: number
  /** Runs with a step that said how many tokens it cost. */
  runs_with_tokens: number
  /** All steps, whether they said so or not. */
  steps: number
  tokens: number
  overhead_tokens: number
  /** Tokens that were no overhead. */
  work_tokens: number
  /** Overhead over all tokens, 0–1, not rounded; 0 without tokens. */
  overhead_fraction: number
  /** Tokens over all steps, not rounded; 0 without steps. */
  tokens_per_step: number
}

/** Adds up what runs have cost. Tokens are answered whole, though steps may report parts of one. */
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
