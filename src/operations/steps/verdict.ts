import { z } from 'zod'
import type { Assignment } from '../../core/detector/assignment.ts'
import { detectorNames } from '../../core/detector/contract/detector.ts'
import { userEffects } from '../../core/detector/user/effects.ts'
import { type EvidenceKind, evidenceKinds } from '../../core/hosts/evidence.ts'
import { hostNames } from '../../core/hosts/host-event.ts'
import { goalSources, mostKept } from '../../core/hosts/observed.ts'
import { isoTime } from '../../core/time.ts'
import { bytesOf } from '../gate/bytes.ts'
import { textField, time } from '../gate/fields.ts'

/** The reasons of a verdict on a step. */
export const reasonSchema = z.enum([
  'grounded',
  'advancing',
  'goal-drift',
  'ungrammatical',
  'stalled',
  'oscillating',
  'self-report:stuck',
  'self-report:circling',
  'excursion',
])

/** A judgment on a whole run. */
export const judgmentSchema = z
  .strictObject({
    verdict: z.enum(['abandon', 'wrong-problem', 'repeating', 'narrow']),
    because: z.string().describe('The measured facts.'),
    counsel: z.string().describe('Their possible meaning.'),
  })
  .describe('A judgment on the whole run. Present only if one applies, from the third step on.')

/** A share or a displacement, 0–1. */
export const score = z.number().min(0).max(1)

/** The parts of a verdict that say what was found, as data. */
export const findingSchemas = {
  evidence: z
    .strictObject({
      score: z.number().describe('What this step adds; above 0 it leans off the errand.'),
      sum: z.number().describe('What the run holds with this step.'),
      limit: z.number().describe('From this sum on, a step is drift.'),
    })
    .describe('The evidence of drift, in the unit of the detector.'),
  words: z
    .strictObject({ shared: z.array(z.string()), missing: z.array(z.string()) })
    .describe('The words of the goal that the ground has, and those that it lacks.'),
  swap: z
    .strictObject({
      ground: z.string(),
      goal: z.string(),
      kind: z.enum(['number', 'name', 'environment', 'opposite', 'forbidden']),
    })
    .describe('What the goal names or does instead of something of the ground.'),
  act: z
    .strictObject({ kind: z.string(), text: z.string() })
    .describe('An act with consequences that nobody asked for.'),
  stands_on: z
    .strictObject({ kind: z.enum(['assignment', 'plan', 'parent']), text: z.string() })
    .describe('The text that the step was nearest to.'),
  coverage: z
    .enum(['words', 'partly', 'none'])
    .describe('Whether the detector knows the language and the words.'),
} as const

const driftProbability = score.describe(
  'Calibrated probability that the step is drift: of all steps answered so, that share is drift.',
)

/** The findings of a verdict; absent under the published rules. */
const findings = {
  drift_probability: driftProbability.optional(),
  evidence: findingSchemas.evidence.nullable().optional(),
  words: findingSchemas.words.nullable().optional(),
  swap: findingSchemas.swap.nullable().optional(),
  act: findingSchemas.act.nullable().optional(),
  stands_on: findingSchemas.stands_on.nullable().optional(),
  coverage: findingSchemas.coverage.nullable().optional(),
}

/** What is kept of a verdict with its step; null is what a step does not have. */
export const keptVerdictSchemas = {
  why: z.string().nullable().describe('Null, as the others, for a step stored without it.'),
  advice: z.string().nullable(),
  confidence: score.nullable(),
  drift_probability: driftProbability.nullable(),
  uncertain: z.boolean().nullable(),
  detector: z.enum(detectorNames).nullable(),
  evidence: findingSchemas.evidence.nullable(),
  words: findingSchemas.words.nullable(),
  swap: findingSchemas.swap.nullable(),
  act: findingSchemas.act.nullable(),
  stands_on: findingSchemas.stands_on.nullable(),
  coverage: findingSchemas.coverage.nullable(),
  parent_overlap: score.nullable(),
  repetition: z.int().min(2).nullable(),
  distance_reported: z
    .boolean()
    .nullable()
    .describe('Whether the agent reported the distance; otherwise it stands for 5.'),
  host: z
    .enum(hostNames)
    .nullable()
    .describe(
      'The host whose hooks show the step; null, as what follows, if the agent reported it.',
    ),
  goal_source: z.enum(goalSources).nullable().describe('Where the goal comes from.'),
  acts: z.int().min(0).nullable().describe('The acts since the step before.'),
  failed_acts: z.int().min(0).nullable(),
  doing: z
    .array(z.string())
    .max(mostKept.doing)
    .nullable()
    .describe('The newest of them, in words.'),
  act_evidence: z
    .strictObject({
      kind: z.enum(Object.keys(evidenceKinds) as [EvidenceKind, ...EvidenceKind[]]),
      gives: z.enum(['stalled', 'oscillating']).nullable().describe('The reason that it gives.'),
      says: z.string().describe('The numbers, in one sentence.'),
    })
    .nullable()
    .describe('What the acts show; null if nothing.'),
  unattended_ms: z
    .int()
    .min(0)
    .nullable()
    .describe(
      'How long no person had been there at the step, or since the run began; null before this was stored.',
    ),
}

/** What a message of the user does to the assignment. */
export const userEffect = z.enum(userEffects)

/** The fields of a step that hold the words of the user. */
export const userWords = {
  user_message: textField()
    .optional()
    .describe(
      'What the user just said, word for word. The server reads what it does to the assignment: nothing (thanks, go on, a question), a correction, a further request, or another request instead.',
    ),
  user_effect: userEffect
    .optional()
    .describe(
      'What user_message does to the assignment, if you know it better than its words say.',
    ),
}

/** The requests of the user, oldest first. */
export const assignmentSchema = z
  .array(
    z.strictObject({
      text: z.string().describe('The request, with its corrections on lines of their own.'),
      revision: z.int().min(0).describe('The revision that brought it or changed it last.'),
      by: z
        .enum(['first', 'user', 'host', 'unknown', 'machine'])
        .describe(
          'first began the run; user was read out of a message; host had its effect stated in user_effect; unknown came by a hook that does not say whether a person spoke, until a session file says it: then it is user, or machine and no longer stands.',
        ),
      at: time.nullable().describe('Null if it is older than this release.'),
      stands: z.boolean().describe('Whether steps are still measured against it.'),
    }),
  )
  .describe(
    'What the user has asked for, oldest first. A step serves the nearest of the requests that stand. At most 16 requests of 16,000 characters stand; beyond that the oldest no longer stands. Of those that do not stand, the newest are shown.',
  )

/** Shows an assignment on the wire. */
export function shownAssignment(assignment: Assignment): z.infer<typeof assignmentSchema> {
  return assignment.map((each) => ({ ...each, at: each.at === 0 ? null : isoTime(each.at) }))
}

/** The verdict on one step, the same on every route. */
export const stepResultSchema = z
  .strictObject({
    goal: z.string().describe('The trimmed goal, as measured.'),
    progress: z.string().describe('The progress, as measured.'),
    distance: z.int().min(0).max(10).describe('The distance after coercion.'),
    drifting: z.boolean(),
    reason: reasonSchema,
    phi: score.describe('Displacement from the ground; 0 for grounded and ungrammatical.'),
    advice: z.string().describe('The measured facts and their possible meaning.'),
    svcscore: z
      .string()
      .nullable()
      .describe('Canonical spelling: ⟨sorted|words⟩ progress dN; null exactly when ungrammatical.'),
    ground: z.string().nullable().describe('The goal this step was measured against.'),
    goal_score: score.describe('Jaccard overlap of this goal with the first goal.'),
    context: z
      .string()
      .nullable()
      .describe('Stable id of the goal’s words; null if the goal has none.'),
    repetition: z
      .int()
      .min(2)
      .optional()
      .describe('How often this spelling has occurred in the run.'),
    judgment: judgmentSchema.optional(),
    detector: z.enum(detectorNames).describe('The detector that judged the step.'),
    confidence: score.describe('How sure `drifting` is: a calibrated probability.'),
    uncertain: z
      .boolean()
      .describe('Whether the texts say too little to decide. Never true together with drifting.'),
    why: z.string().describe('What was found, in plain sentences.'),
    user_effect: userEffect
      .optional()
      .describe('What user_message did to the assignment. Present only with a message.'),
    adaptation: z
      .string()
      .optional()
      .describe(
        'The version of the adaptation table that the detector used; absent without a table.',
      ),
    ...findings,
  })
  .meta({ id: 'StepResult' })

const emptySpelling = '"svcscore":null'

/**
 * Writes the JSON of a verdict, or of an answer that extends one, in the form of `bytesOf`. The spelling
 * has brackets beyond Latin-1 and is inserted last. Its place is found safely, because quotes inside texts
 * are escaped.
 */
export function verdictBytes(verdict: { svcscore: string | null }): string {
  const { svcscore } = verdict
  const json = bytesOf(JSON.stringify({ ...verdict, svcscore: null }))
  if (svcscore === null) return json
  const end = json.indexOf(emptySpelling) + emptySpelling.length
  const begin = end - 'null'.length
  return json.slice(0, begin) + bytesOf(JSON.stringify(svcscore)) + json.slice(end)
}
