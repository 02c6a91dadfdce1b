import { z } from 'zod'
import { comparePhrasings, measurePhrasing } from '../../core/language/phrasing.ts'
import { share, textField } from '../gate/fields.ts'
import { type Tool, tool } from '../gate/tool.ts'

const phrasing = z.strictObject({
  words: z.int().min(0),
  sentences: z.int().min(0),
  variety: share.nullable().describe('Different content words divided by all content words.'),
  repetition: share.describe('Share of neighbouring word pairs that occurred before.'),
  claims: z.int().min(0).describe('English phrases that claim a cause or an outcome.'),
  observations: z.int().min(0).describe('English phrases that report an observation.'),
  shape: z.enum(['short', 'circling', 'connected', 'loose']),
  readability: z
    .number()
    .nullable()
    .describe('Flesch reading ease, about 0 to 100, higher is easier; null beyond English.'),
  notes: z.array(z.string()).describe('The measures that do not apply to this text, and why.'),
})

const text = textField()

/** Measures the shape of a text. */
export const analyzeLanguage = tool({
  name: 'analyze_language',
  title: 'Measure the shape of a text',
  description:
    'Counts the words and sentences of a text in any language. Measures how varied and how repetitive it is, how many claims and observations it holds, and how hard it is to read. Call it on a plan or a report of your own before you send it: circling text often comes from circling work.',
  hints: { readOnlyHint: true, idempotentHint: true },
  input: z.object({ text: text.describe('At most 4,000 characters.') }),
  output: phrasing,
})((_context, input) => measurePhrasing(input.text))

/** Compares two phrasings. */
export const comparePhrasingsTool = tool({
  name: 'compare_phrasings',
  title: 'Compare two ways to say something',
  description:
    'Measures two phrasings: how many words they share for the detector, and which one is clearer, with the reasons. A wording that names too little to be measured is never the clearer one. Call it to word a goal that the detector can measure: name the thing you work on.',
  hints: { readOnlyHint: true, idempotentHint: true },
  input: z.object({ a: text, b: text }),
  output: z.strictObject({
    a: phrasing,
    b: phrasing,
    overlap: share.describe('Jaccard overlap of their words.'),
    clearer: z.enum(['a', 'b', 'even']),
    why: z.string(),
  }),
})((_context, { a, b }) => comparePhrasings(a, b))

/** The tools about wording. */
export const languageTools: readonly Tool[] = [analyzeLanguage, comparePhrasingsTool]
