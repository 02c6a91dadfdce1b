import { z } from 'zod'
import { progressValues } from '../../core/detector/contract/constants.ts'
import type { DetectorName } from '../../core/detector/contract/detector.ts'
import { detectorNames } from '../../core/detector/contract/detector.ts'
import type { Reads } from '../../core/detector/contract/reads.ts'
import { detectReading, type Verdict } from '../../core/detector/detect.ts'
import { newMemory } from '../../core/detector/memory.ts'
import { readStep, type Step } from '../../core/detector/step.ts'
import { readCheck, stepsRange } from '../../core/runs/check.ts'
import { type SimilarityOf, similarityIn } from '../../core/runs/similarity.ts'
import { maxTextLength } from '../../core/text.ts'
import { bytesOf } from '../gate/bytes.ts'
import type { Service } from '../gate/context.ts'
import { createSlices } from '../gate/event-loop-turns.ts'
import { keylessEmbeddings } from '../gate/keyless-limits.ts'
import { lenient } from '../gate/lenient.ts'
import { perAddress } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'
import { embeddingsWaitMs, pairOf, readMissing } from './learn-ahead.ts'
import { stepResultSchema, userWords, verdictBytes } from './verdict.ts'

const goal = z.string().min(1).max(maxTextLength)
const progress = z
  .enum(progressValues)
  .default('advancing')
  .describe(
    'Any other text gets the verdict ungrammatical. A value of another type counts as advancing.',
  )
const distance = z
  .union([z.int().min(0).max(10), z.string()])
  .default(5)
  .describe('The agent’s own estimate of how far it is from done. Unreadable values count as 5.')
const detector = z
  .enum(detectorNames)
  .optional()
  .describe('The detector that judges. Defaults to the server’s setting.')

const twoGoals = z
  .object({
    ground: goal.describe('The errand.'),
    goal: goal.describe('The agent’s current goal.'),
    progress: progress.optional(),
    distance: distance.optional(),
    detector,
  })
  .describe('Two goals. The server reads this form if `steps` is absent or not an array.')

const sequence = z
  .object({
    steps: z
      .array(
        z.object({
          goal,
          progress: progress.optional(),
          distance: distance.optional(),
          ...userWords,
        }),
      )
      .min(stepsRange.min)
      .max(stepsRange.max)
      .describe('The first entry is the ground: its user_message if it has one, else its goal.'),
    detector,
  })
  .describe(
    'A sequence. The server reads this form if `steps` is an array, and ignores the fields of the other form.',
  )

const output = z
  .strictObject({
    ground: z.string().describe('The goal of the first step, or its user_message.'),
    steps: z.array(stepResultSchema).describe('One result per step.'),
    verdict: stepResultSchema.describe('The last element of `steps`.'),
    stateless: z.literal(true),
    retained: z.literal('nothing'),
  })
  .meta({ id: 'CheckAnswer' })

const shapes = {
  two_step: {
    ground: 'add rate limiting to the login endpoint',
    goal: 'write a token bucket for the login endpoint',
    progress: 'advancing',
    distance: 6,
  },
  sequence: {
    steps: [
      { goal: 'add rate limiting to the login endpoint', progress: 'advancing', distance: 8 },
      { goal: 'write a token bucket for the login endpoint', progress: 'advancing', distance: 6 },
    ],
  },
}

const note =
  'The ground is the errand and does not move. The detector measures each goal against it. The server stores nothing you send.'

/**
 * The product page asks while a person types, at most three times a second. This is two hours of typing without a
 * pause, and no more than a script that claims to be the page may cost.
 */
const tryPerDay = 20_000

/** Judges two goals, or a sequence of steps, without a key and without storing them. */
export const check = perAddress(
  {
    counter: 'check',
    setting: 'PLUMBLINE_CHECK_PER_DAY',
    perDay: ({ checkPerDay }) => checkPerDay,
    fromPage: { counter: 'try', perDay: tryPerDay },
  },
  {
    name: 'check.judge',
    group: 'detector',
    summary: 'Judge two goals, or a sequence of steps, without a key.',
    description:
      'Stateless: the server stores only the daily count of the caller’s address. It ignores the content type.',
    http: { method: 'POST', path: '/v1/check' },
    input: lenient(z.union([twoGoals, sequence])),
    output,
    // The field `verdict` repeats the last step.
    write({ ground, steps }) {
      const written = steps.map(verdictBytes)
      return `{"ground":${bytesOf(JSON.stringify(ground))},"steps":[${written.join(',')}],"verdict":${written.at(-1)},"stateless":true,"retained":"nothing"}`
    },
    refusals: [
      {
        status: 400,
        words: ['bad_request', 'too_many_steps'],
        when: 'The body is not JSON, or it fits neither of the two forms.',
        fields: {
          detail: z.string(),
          shapes: z.object({ two_step: z.unknown(), sequence: z.unknown() }),
          note: z.string(),
        },
      },
    ],
  },
)(async (service, body) => {
  const request = readCheck(body)
  if ('error' in request) {
    throw new Refusal(400, request.error, { detail: request.detail, shapes, note })
  }
  const steps = await judge(service, request.detector ?? service.settings.detector, request.steps)
  for (const verdict of steps) service.countVerdict(verdict)
  const [first] = steps
  const verdict = steps.at(-1)
  if (first === undefined || verdict === undefined) throw new Error('a check without steps')
  return {
    ground: first.ground ?? first.goal,
    steps,
    verdict,
    stateless: true as const,
    retained: 'nothing' as const,
  }
})

/**
 * Judges the steps in slices, so that other requests are served in between. The encoder reads their texts
 * first. If embeddings are configured, fetches those of uncertain steps and judges again.
 */
async function judge(
  service: Service,
  detector: DetectorName,
  steps: readonly Step[],
): Promise<Verdict[]> {
  const { settings, encoder } = service
  const embeddings = keylessEmbeddings(service)
  const slice = createSlices()
  async function judgeAll(known: SimilarityOf, reads?: Reads): Promise<Verdict[]> {
    const verdicts: Verdict[] = []
    let memory = newMemory(detector)
    for (const step of steps) {
      await slice(step.goal)
      const reading = readStep(step)
      const detected = detectReading(memory, reading, {
        adaptation: settings.adaptation ?? undefined,
        limit: settings.limit ?? undefined,
        reads,
        similarity: embeddings === null ? undefined : similarityIn(memory, reading, known, reads),
      })
      memory = detected.memory
      verdicts.push(detected.verdict)
    }
    return verdicts
  }
  const unknown = () => undefined
  if (encoder !== null) await readMissing(encoder, (reads) => judgeAll(unknown, reads))
  const alone = await judgeAll(unknown, encoder?.reads)
  if (embeddings === null) return alone
  const pairs = alone.flatMap((verdict) => pairOf(verdict) ?? [])
  if (pairs.length === 0) return alone
  await embeddings.learn(pairs, embeddingsWaitMs)
  return judgeAll(embeddings.similarity, encoder?.reads)
}
