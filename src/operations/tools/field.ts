import { z } from 'zod'
import { describeSignal, vocabulary, wordsRequired } from '../../core/field.ts'
import { currentSignal, signalSchema, speak } from '../field.ts'
import { type Tool, tool } from '../gate/tool.ts'

const reading = z.string().describe('The weather in one sentence.')

/** Returns the current signal with a sentence on it. */
export const readField = tool({
  name: 'read_field',
  title: 'Read the shared field',
  description:
    'The current signal of the field that all agents of this server share: heat, moisture, rain, vitality, stress, rotation, and a sentence on them. Reading it changes nothing. It is not the detector.',
  hints: { readOnlyHint: true },
  input: z.object({}),
  output: signalSchema.extend({ reading }),
})(async (context) => {
  const signal = await currentSignal(context)
  return { ...signal, reading: describeSignal(signal) }
})

/** Speaks into the field. */
export const speakToField = tool({
  name: 'speak_to_field',
  title: 'Speak eight words into the shared field',
  description: `Speaks exactly ${wordsRequired} words of the field’s vocabulary (field_vocabulary lists it) and reports how they moved the field.`,
  input: z.object({
    words: z
      .union([z.array(z.string()), z.string()])
      .describe(`${wordsRequired} words of the vocabulary, as a list or a text.`),
    agent: z.string().max(200).optional().describe('The name of the speaker.'),
  }),
  output: z.strictObject({ reply: z.string(), signal: signalSchema, reading }),
})(async (context, { words, agent }) => {
  const speaker = agent?.trim() ? `agent ${agent}` : `account ${context.account.id}`
  const { reply, signal } = await speak(context, words, speaker)
  return { reply, signal, reading: describeSignal(signal) }
})

const wordList = z.array(z.string())

/** Returns the vocabulary of the field. */
export const fieldVocabulary = tool({
  name: 'field_vocabulary',
  title: 'The words the shared field knows',
  description: 'The forty words of the field in their four groups, for speak_to_field.',
  hints: { readOnlyHint: true, idempotentHint: true },
  input: z.object({}),
  output: z.strictObject({
    ground: wordList,
    wind: wordList,
    form: wordList,
    change: wordList,
    words_required: z.int(),
    reading,
  }),
})(async (context) => {
  const { ground, wind, form, change } = vocabulary
  return {
    ground: [...ground],
    wind: [...wind],
    form: [...form],
    change: [...change],
    words_required: wordsRequired,
    reading: describeSignal(await currentSignal(context)),
  }
})

/** The tools about the field. */
export const fieldTools: readonly Tool[] = [readField, speakToField, fieldVocabulary]
