import { detectReading } from '../../core/detector/detect.ts'
import { packagedModel } from '../../core/detector/meaning/model.ts'
import { newMemory } from '../../core/detector/memory.ts'
import { readStep } from '../../core/detector/step.ts'
import { observe } from '../../core/hosts/observe.ts'
import { nothingObserved } from '../../core/hosts/observed.ts'
import { readers } from '../../core/hosts/readers.ts'
import { requestOf } from '../../core/runs/shown-step.ts'
import type { DriftRequest } from '../../core/runs/step-request.ts'
import type { Service } from '../gate/context.ts'
import { nextTurn } from '../gate/event-loop-turns.ts'
import { hintsOf, readMissing } from '../steps/learn-ahead.ts'

const prompt = {
  session_id: 'any',
  hook_event_name: 'UserPromptSubmit',
  prompt: 'sort the books on the shelf by their colour',
}
const call = {
  session_id: 'any',
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'npm test', description: 'Run the tests of the shelf' },
  tool_response: 'done',
}

/**
 * Reads and judges a session that nobody has, and stores nothing. The first one after a start costs many times what later
 * ones do, because tables, weights and code are made ready, and hosts do not wait so long.
 */
export async function warmUp({ settings, encoder, now }: Service): Promise<void> {
  const requests: DriftRequest[] = []
  let observed = nothingObserved
  // In slices: whoever has come meanwhile goes first.
  await nextTurn()
  for (const event of [prompt, call].flatMap((each) => readers['claude-code'](each))) {
    const after = observe(observed, { ...event, at: now() })
    observed = after.observed
    for (const step of after.steps) {
      const request = requestOf('claude-code', event.runId, step, observed)
      if (!('fault' in request)) requests.push(request)
    }
  }
  await nextTurn()
  if (settings.detector === 'meaning') packagedModel()
  const hints = hintsOf(settings)
  const judge = async (reads?: typeof hints.reads) => {
    let memory = newMemory(settings.detector)
    for (const { step } of requests) {
      await nextTurn()
      memory = detectReading(memory, readStep(step), { ...hints, reads }).memory
    }
  }
  // The words alone first, because the weights of the encoder may come later.
  await judge()
  if (encoder !== null) await readMissing(encoder, judge)
}
