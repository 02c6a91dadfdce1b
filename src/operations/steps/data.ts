import { z } from 'zod'
import { readCorpus, windowRange } from '../../core/corpus/corpus.ts'
import {
  type CorpusDrift,
  displacementFloor,
  maxTopWords,
  maxWindows,
  measureCorpus,
} from '../../core/corpus/windows.ts'
import type { Call, ReadRequest } from '../gate/declaration.ts'
import { badRequest, describeRefusal } from '../gate/declaration.ts'
import { inSlices } from '../gate/event-loop-turns.ts'
import { share } from '../gate/fields.ts'
import { lenient } from '../gate/lenient.ts'
import { keyed } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'

const maxBodyMiB = 8

const window = z
  .int()
  .min(windowRange.min)
  .max(windowRange.max)
  .default(windowRange.fallback)
  .optional()
  .describe('The number of lines in a window.')

const corpus = z.union([
  z.object({ text: z.string().describe('A text, read line by line.'), window }),
  z.object({ lines: z.array(z.string()), window }),
  z.object({
    documents: z.array(z.string()).describe('Several texts, read one after the other.'),
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
          from: lineNumber.describe('The number of the window’s first line, counted from 0.'),
          to: lineNumber.describe('The number of the window’s last line.'),
          phi: share.describe(
            'Displacement from the first window. 0: no farther apart than chance. 1: no word in common.',
          ),
          goal_score: share.describe(
            'Jaccard overlap of the window’s words with those of the first window.',
          ),
          drifting: z
            .boolean()
            .describe(
              `Whether phi is at least ${displacementFloor.toFixed(2)}, on enough words to rule out an accident.`,
            ),
          top_new: topWords.describe('Words of this window that the first window lacks.'),
          top_lost: topWords.describe('Words of the first window that this window lacks.'),
        }),
      )
      .describe(`At most ${maxWindows}.`),
    first_drift: z.int().min(1).nullable().describe('Index of the first drifting window.'),
    max_phi: share.describe('Over all windows except the first; 0 if there is only one.'),
    mean_phi: share.describe('Over all windows except the first; 0 if there is only one.'),
    tokens: z.int().min(0).describe('Words of all lines, including stop words.'),
    unusable_lines: z
      .int()
      .min(0)
      .describe('Lines without a word to compare. They are in no window.'),
  })
  .meta({ id: 'CorpusDrift' })

/** Measures the drift of an uploaded corpus from its own first window. Stores nothing. */
export const measureData = keyed({
  name: 'data.measure',
  group: 'detector',
  summary: 'Upload a corpus and measure its drift from its own first window.',
  description:
    'The server stores nothing. The content type decides how it reads the body: `text/plain` line by ' +
    'line; `text/csv` row by row, or with the parameter `column` one column, named in the first row; ' +
    '`application/x-ndjson` line by line, or with the parameter `field` one field of each line; ' +
    'anything else as JSON. For the first three types `window` is a parameter too. The server skips ' +
    'lines without a word to compare. It counts the last window if that is at least half full.',
  http: { method: 'POST', path: '/v1/data' },
  // The schema describes the sent body. The work gets the result, because `read` measures while it reads.
  input: lenient(corpus) as z.ZodType<CorpusDrift, z.input<typeof corpus>>,
  output,
  refusals: [
    badRequest,
    describeRefusal(413, 'payload_too_large', `The body is larger than ${maxBodyMiB} MiB.`),
  ],
  read: measureSent,
})(async (_, measured) => measured)

/** Measures in slices, so that other requests are served in between: a large corpus takes half a second. */
async function measureSent({ readBody, contentType, query }: Call): Promise<ReadRequest> {
  const body = await readBody(maxBodyMiB * 1024 * 1024)
  const corpus = readCorpus(body, contentType, query)
  if ('fault' in corpus) throw refuse(corpus.fault)
  const measured = await inSlices(measureCorpus(corpus))
  if ('fault' in measured) throw refuse(measured.fault)
  return { body, sent: measured }
}

function refuse(detail: string): Refusal {
  return new Refusal(400, 'bad_request', { detail })
}
