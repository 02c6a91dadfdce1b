import type { ToolUse } from './act.ts'
import { failingOf } from './failures.ts'
import type { HostFact } from './host-event.ts'
import { factsOfTool } from './tool-facts.ts'

/**
 * The facts of one use of a tool. Where the host does not tell how a test, check or build ended, it failed if its output
 * names tests that did.
 */
export function factsByOutput(use: ToolUse, answer?: unknown): HostFact[] {
  const facts = factsOfTool(use, answer)
  const isUntold = facts.some(
    (fact) => fact.kind === 'act' && fact.family === 'verify' && fact.outcome === 'unknown',
  )
  return isUntold && failingOf(use.output ?? '') !== undefined
    ? factsOfTool({ ...use, outcome: 'failed' }, answer)
    : facts
}
