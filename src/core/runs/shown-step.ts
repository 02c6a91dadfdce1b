import { coverageOf } from '../hosts/coverage.ts'
import { nothingDone } from '../hosts/evidence.ts'
import type { HostName } from '../hosts/host-event.ts'
import type { Observed } from '../hosts/observed.ts'
import type { ObservedStep } from '../hosts/opened-step.ts'
import { wordsToldOf } from '../hosts/words-told.ts'
import type { Fault } from './field-reader.ts'
import { type DriftRequest, readDrift } from './step-request.ts'

/** The step to log for one that a session of a host shows; `observed` is what is known of the session then. */
export function requestOf(
  host: HostName,
  runId: string,
  step: ObservedStep,
  observed: Observed,
): DriftRequest | Fault {
  const { agents, personAt, isHeadless = false } = observed
  const { agentId, parentAgentId, goal, ground, userMessage, parentGoal, plan } = step
  const { distance, progress, userTurn, tokens } = step
  const request = readDrift({
    run_id: runId,
    goal,
    agent_id: agentId === '' ? null : agentId,
    parent_agent_id: parentAgentId === agentId ? null : parentAgentId,
    ground,
    user_message: userMessage,
    parent_goal: parentGoal,
    plan,
    ...(distance === null ? {} : { distance }),
    ...(progress === null ? {} : { progress }),
    user_turn: userTurn,
    tokens,
  })
  if ('fault' in request) return request
  const { source, acts, failedActs, doing, shown, span, responseId, isUnsure } = step
  const agent = Object.hasOwn(agents, agentId) ? agents[agentId] : undefined
  return {
    ...request,
    step: {
      ...request.step,
      isUnsure,
      acts: {
        gives: shown?.gives ?? null,
        isUnexplained: shown?.kind === 'unexplained',
        says: shown?.says ?? '',
      },
    },
    observation: {
      host,
      goalSource: source,
      acts,
      failedActs,
      doing,
      actEvidence: shown,
      coverage: { ...coverageOf(agent?.doings ?? nothingDone), words: wordsToldOf(observed) },
      personAt,
      span,
      responseId,
      isHeadless,
    },
  }
}
