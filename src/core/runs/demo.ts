import type { Step } from '../detector/step.ts'

const plan = [
  'read where the login endpoint needs rate limiting',
  'write a token bucket for rate limiting the login endpoint',
  'add tests for rate limiting on the login endpoint',
]

/** A run as an agent reported it: an errand with a plan, its sub-tasks, a departure, a redirect by the user. */
export const demoRun: readonly Step[] = [
  { ...step('add rate limiting to the login endpoint', 8), plan },
  step('read where the login endpoint needs rate limiting', 7),
  step('write a token bucket for rate limiting the login endpoint', 6),
  step('add tests for rate limiting on the login endpoint', 4),
  step('rename variables in the billing module', 4),
  step('reformat every file of the billing module', 4),
  step('finish rate limiting on the login endpoint', 2),
  { ...step('write release notes for version 2.4', 3), userTurn: true },
  step('write what changed into the release notes for version 2.4', 2),
]

function step(goal: string, distance: number): Step {
  return { goal, progress: 'advancing', distance }
}
