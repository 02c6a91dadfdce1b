import type { Verdict } from '../detector/detect.ts'
import type { Reason } from '../detector/rules.ts'
import { rounded, two } from '../figures.ts'
import { given } from '../hosts/fields.ts'
import type { EventSpan } from '../hosts/host-event.ts'
import { isKeyless } from '../keyless.ts'
import type { Entry } from './entry.ts'
import type { Agent } from './run.ts'
import type { DriftRequest } from './step-request.ts'

/** What a result says of a step. */
export type ResultLabel = 'on_errand' | 'uncertain' | 'drifting' | 'stalled' | 'oscillating'

/** The verdict on a step as OpenTelemetry's event `gen_ai.evaluation.result`. */
export interface EvaluationResult {
  /** Milliseconds since 1970. */
  at: number
  /** Whether somebody should look at it. */
  warns: boolean
  /** The span that was judged; null if the step came another way. */
  span: EventSpan | null
  attributes: Readonly<Record<string, string | number>>
}

/** A result with its place; at most one for each step. */
export interface PlacedResult {
  account: string
  runId: string
  step: number
  result: EvaluationResult
}

/** The label of a step. A stall or a circle is told as such, whether it counts as drift or not. */
export function labelOf({
  reason,
  drifting,
  uncertain,
}: Pick<Verdict, 'drifting' | 'uncertain'> & { reason: string | null }): ResultLabel {
  if (reason === 'stalled' || reason === 'oscillating') return reason
  if (drifting) return 'drifting'
  return uncertain ? 'uncertain' : 'on_errand'
}

/** A judged step. */
interface Judged {
  step: number
  revision: number
  verdict: Verdict
}

/**
 * The result that a step reports: one or none. None without a collector, without a key, and, unless all are wanted, if
 * the label of the agent stays; an agent begins on its errand. `agent` is the agent before the step.
 */
export function resultsOf(entry: Entry, agent: Agent, judged: Judged): PlacedResult[] {
  const { account, request, results, now } = entry
  if (results === undefined || isKeyless(account)) return []
  const { last_reason: reason, drifting, totals } = agent
  // An agent of an earlier release does not know whether its last step was uncertain.
  const before = { reason, drifting, uncertain: totals?.uncertain ?? false }
  if (!results.all && labelOf(before) === labelOf(judged.verdict)) return []
  const result = resultOf(request, now, judged, results.text)
  return [{ account, runId: request.runId, step: judged.step, result }]
}

/** The result of a step that cannot be judged, because the stored state of its agent cannot be read: one or none. */
export function damagedResults(entry: Entry, step: number): PlacedResult[] {
  const { account, request, results, now } = entry
  if (results === undefined || isKeyless(account)) return []
  const attributes = { ...commonOf(request, step), 'error.type': 'damaged_state' }
  const result = { at: now, warns: true, span: request.observation?.span ?? null, attributes }
  return [{ account, runId: request.runId, step, result }]
}

function resultOf(
  request: DriftRequest,
  at: number,
  { step, revision, verdict }: Judged,
  withText: boolean,
): EvaluationResult {
  const { reason, phi, detector, drifting, confidence, ground, goal, why } = verdict
  const label = labelOf(verdict)
  const words: Record<string, string> = withText
    ? { 'plumbline.goal': goal, ...(ground === null ? {} : { 'plumbline.ground': ground }) }
    : {}
  return {
    at,
    warns: label !== 'on_errand' && label !== 'uncertain',
    span: request.observation?.span ?? null,
    attributes: {
      ...commonOf(request, step),
      'gen_ai.evaluation.score.value':
        verdict.drift_probability ?? rounded(drifting ? confidence : 1 - confidence),
      'gen_ai.evaluation.score.label': label,
      'gen_ai.evaluation.explanation': withText ? why : explanationOf(verdict),
      'plumbline.reason': reason,
      'plumbline.phi': phi,
      'plumbline.detector': detector,
      'plumbline.revision': revision,
      ...words,
    },
  }
}

function commonOf({ runId, observation }: DriftRequest, step: number) {
  // The host's own name of the session, so that the result stands beside the host's own telemetry.
  const isOfHost = observation !== null && runId.startsWith(`${observation.host}:`)
  return {
    'gen_ai.evaluation.name': 'plumbline.drift',
    'gen_ai.conversation.id': isOfHost ? runId.slice(observation.host.length + 1) : runId,
    ...given('gen_ai.response.id', observation?.responseId ?? undefined),
    'plumbline.run_id': runId,
    'plumbline.step': step,
  }
}

/** What a verdict says without a word of the errand or the goal: `why` quotes both. */
function explanationOf({ reason, uncertain, phi, evidence }: Verdict): string {
  const told = uncertain ? 'The texts say too little to decide.' : sentences[reason]
  const sum =
    evidence == null ? '' : ` Evidence ${two(evidence.sum)}, limit ${two(evidence.limit)}.`
  return `${told} Phi ${two(phi)}.${sum}`
}

const sentences: Readonly<Record<Reason, string>> = {
  ungrammatical: 'The goal is blank, or the progress is no known value.',
  grounded: 'The goal is the ground of the run.',
  advancing: 'The goal serves the errand.',
  excursion: 'The goal serves a larger goal that serves the errand.',
  'goal-drift': 'The goal has left the errand.',
  'self-report:stuck': 'The agent reports that it is stuck.',
  'self-report:circling': 'The agent reports that it is circling.',
  stalled: 'The work stands still.',
  oscillating: 'The work goes in circles.',
}
