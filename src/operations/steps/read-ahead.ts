import type { DetectorName } from '../../core/detector/contract/detector.ts'
import { readText } from '../../core/detector/meaning/texts.ts'
import { wordsOf } from '../../core/detector/words/words.ts'
import { wellFormed } from '../../core/text.ts'
import { createSlices } from '../gate/event-loop-turns.ts'

/**
 * Reads the texts of steps before the transaction that judges them. It works in slices, so that other
 * requests are served in between. The detector caches the texts. So a transaction of many long texts, which
 * cannot be sliced, takes half as long. Verdicts do not change.
 */
export async function readAhead(steps: readonly unknown[], detector: DetectorName): Promise<void> {
  const slice = createSlices()
  for (const text of steps.flatMap(textsOf)) {
    await slice(text)
    wordsOf(text)
    if (detector === 'meaning') readText(text)
  }
}

/** Returns the long texts of a step, trimmed and well-formed as the judgment will read them. */
function textsOf(step: unknown): string[] {
  const { goal, ground, parent_goal, user_message } = (step ?? {}) as Record<string, unknown>
  return [goal, ground, parent_goal, user_message].flatMap((text) =>
    typeof text === 'string' && text.length > longFrom ? wellFormed(text.trim()) : [],
  )
}

/** Texts up to this length are left out, because reading them takes only microseconds. */
const longFrom = 400
