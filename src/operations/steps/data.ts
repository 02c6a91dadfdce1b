import { z } from 'zod'
import { readCorpus, windowRange } from '../../core/corpus/corpus.ts'
import {
  type CorpusDrift,
  displacementFloor,
  maxTopWords,
  maxWindows,
  measureCorpus,
} from '../../core/corpus/windows.ts'
import type { Call } from '../gate/declaration.ts'
import { badRequest } from '../gate/declaration.ts'
import { share } from '../gate/fields.ts'
import { lenient } from '../gate/lenient.ts'
import { keyed } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'
import { inSlices } from '../gate/turns.ts'

const maxBodyMiB = 8

const window = z
  .int()
  .min(windowRange.min)
  .max(windowRange.max)
  .default(windowRange.fallback)
  .optional()
  .describe('Lines of one window.')

const corpus = z.union([
  z.object({ text: z.string().describe('Read line by line.'), window }),
  z.object({ lines: z.array(z.string()), window }),
  z.object({
    documents: z.array(z.string()).describe('Texts, the lines of one after those of another.'),
    window,
  }),
])

const lineNumber = z.int().min(0)
const topWords = z.array(z.string()).max(maxTopWords)

const output = z
  .strictObject({
    windows: z
      .array(
        z.strictObject({
          index: z.int().min(0),
          from: lineNumber.describe('Number of its first line, from 0.'),
          to: lineNumber.describe('Number of its last line.'),
          phi: share.describe(
            'Displacement from the first window: 0 is no farther apart than chance, 1 is no word in common.',
          ),
          goal_score: share.describe(
            'Jaccard overlap of its words with those of the first window.',
          ),
          drifting: z
            .boolean()
            .describe(
              `phi is at least ${displacementFloor.toFixed(2)}, and on enough words to be no accident.`,
            ),
          top_new: topWords.describe('Words it has and the first window has not.'),
          top_lost: topWords.describe('Words the first window has and it has not.'),
        }),
      )
      .describe(`At most ${maxWindows}.`),
    first_drift: z.int().min(1).nullable().describe('Index of the first drifting window.'),
    max_phi: share.describe('Over all windows but the first; 0 when there is none.'),
    mean_phi: share.describe('Over all windows but the first; 0 when there is none.'),
    tokens: z.int().min(0).describe('Words of all lines, stop words among them.'),
    unusable_lines: z
      .int()
      .min(0)
      .describe('Lines without a word to compare; no window holds them.'),
  })
  .meta({ id: 'CorpusDrift' })

/** Measures an uploaded corpus against its own first window; nothing of it is stored. */
export const measureData = keyed({
  name: 'data.measure',
  group: 'detector',
  summary: 'Upload a corpus and measure its drift from its own first window.',
  description:
    'Nothing is stored. The content type says how the body is read: `text/plain` line by line; ' +
    '`text/csv` by its rows, with the parameter `column` one column of them, named in the first row; ' +
    '`application/x-ndjson` by its lines, with the parameter `field` one field of each; anything else ' +
    'as JSON. Beside the first three, `window` is a parameter too. Lines without a word to compare are ' +
    'passed over; a last window counts when at least half full.',
  http: { method: 'POST', path: '/v1/data' },
  // Described is what is sent; what arrives was measured while it was read.
  input: lenient(corpus) as z.ZodType<CorpusDrift, z.input<typeof corpus>>,
  output,
  maxBodyBytes: maxBodyMiB * 1024 * 1024,
  refusals: [
    badRequest,
    {
      status: 413,
      words: ['payload_too_large'],
      when: `The body is larger than ${maxBodyMiB} MiB.`,
      fields: { detail: z.string() },
    },
  ],
  read: measureSent,
})(async (_, measured) => measured)

/** In slices, between which other requests go on; a large corpus takes half a second. */
async function measureSent(body: string, { contentType, query }: Call): Promise<CorpusDrift> {
  const corpus = readCorpus(body, contentType, query)
  if ('fault' in corpus) throw refuse(corpus.fault)
  const measured = await inSlices(measureCorpus(corpus))
  if ('fault' in measured) throw refuse(measured.fault)
  return measured
}

function refuse(detail: string): Refusal {
  return new Refusal(400, 'bad_request', { detail })
}
