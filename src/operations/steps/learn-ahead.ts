import { detectReading } from '../../core/detector/detect.ts'
import { type Memory, newMemory } from '../../core/detector/memory.ts'
import { type Hints, type Reading, readStep } from '../../core/detector/step.ts'
import { similarityIn } from '../../core/runs/similarity.ts'
import type { DriftRequest } from '../../core/runs/step-request.ts'
import type { Encoder } from '../../encoder/encoder.ts'
import type { TextPair } from '../../outbound/embeddings.ts'
import type { Keyed, Service } from '../gate/context.ts'
import { createSlices } from '../gate/event-loop-turns.ts'

/** The longest wait of an uncertain step for its embeddings, in milliseconds. */
export const embeddingsWaitMs = 250

/** The longest wait of a request for the encoder, in milliseconds. Later, the first stage judges alone. */
export const encoderWaitMs = 2_000

/**
 * Most rounds of reading. A round reads the texts that the detector asked for; which texts the later steps
 * of a batch ask for can depend on the verdicts on the earlier ones, and on what the user is read to say.
 */
const mostRounds = 5

/**
 * Reads the texts that the judgment of steps will ask for, so that it finds them: first with the encoder,
 * then the embeddings of steps that would be `uncertain`. Call it outside of any transaction. Without
 * encoder and embeddings it does nothing and does not call `requests`. If a run gets other steps meanwhile,
 * the later judgment may ask for other texts, and judges without them. Returns false if the encoder has not read all
 * texts within `waitMs` and a longer wait can help.
 */
export async function learnAhead(
  context: Keyed,
  requests: () => readonly DriftRequest[],
  waitMs = encoderWaitMs,
): Promise<boolean> {
  const { encoder, embeddings } = context
  if (encoder === null && embeddings === null) return true
  const until = performance.now() + waitMs
  const steps = requests()
  const memories = await memoriesOf(context, steps)
  const judgeAll = async (judge: (memory: Memory, reading: Reading) => Memory) => {
    const newest = new Map(memories)
    const slice = createSlices()
    for (const request of steps) {
      const agent = agentOf(request)
      const memory = newest.get(agent)
      if (memory == null) continue
      await slice(request.step.goal)
      newest.set(agent, judge(memory, readStep(request.step)))
    }
  }
  const hints = hintsOf(context.settings)
  const isRead =
    encoder === null ||
    (await readMissing(
      encoder,
      (reads) =>
        judgeAll((memory, reading) => detectReading(memory, reading, { ...hints, reads }).memory),
      waitMs,
    ))
  if (embeddings === null) return isRead
  const pairs: TextPair[] = []
  await judgeAll((memory, reading) => {
    const reads = encoder?.reads
    const similarity = similarityIn(memory, reading, embeddings.similarity, reads)
    const judged = detectReading(memory, reading, { ...hints, reads, similarity })
    const pair = pairOf(judged.verdict)
    if (pair !== null && similarity === undefined) pairs.push(pair)
    return judged.memory
  })
  const restMs = Math.max(0, until - performance.now())
  if (pairs.length > 0) await embeddings.learn(pairs, Math.min(embeddingsWaitMs, restMs))
  return isRead
}

/**
 * Judges with what the encoder has read, has it read the missing texts, and judges again until none is
 * missing or `waitMs` are over. Returns false if a longer wait can help.
 */
export async function readMissing(
  encoder: Encoder,
  judge: (reads: Encoder['reads']) => Promise<unknown>,
  waitMs = encoderWaitMs,
): Promise<boolean> {
  const until = performance.now() + waitMs
  for (let round = 0; round < mostRounds; round++) {
    const asked = encoder.listen()
    await judge(asked.reads)
    const learned = await asked.learn(Math.max(0, until - performance.now()))
    if (learned !== 'some') return learned === 'nothing'
  }
  return true
}

/** The hints of all steps that a service judges. */
export function hintsOf(settings: Service['settings']): Hints {
  return { adaptation: settings.adaptation ?? undefined, limit: settings.limit ?? undefined }
}

/** The stored memory of each agent, a new one, or null if the stored one is damaged. */
async function memoriesOf(
  { store, account, settings, now }: Keyed,
  requests: readonly DriftRequest[],
): Promise<Map<string, Memory | null>> {
  const memories = new Map<string, Memory | null>()
  for (const request of requests) {
    const agent = agentOf(request)
    if (memories.has(agent)) continue
    const { runId, agentId, detector } = request
    const stored = await store.runs.memoryOf(account.id, runId, agentId, now())
    memories.set(agent, stored === 'none' ? newMemory(detector ?? settings.detector) : stored)
  }
  return memories
}

function agentOf({ runId, agentId }: DriftRequest): string {
  return JSON.stringify([runId, agentId])
}

/** Returns ground and goal of a verdict that embeddings could settle, or null for any other verdict. */
export function pairOf(verdict: {
  uncertain: boolean
  ground: string | null
  goal: string
}): TextPair | null {
  const { uncertain, ground, goal } = verdict
  return uncertain && ground !== null && goal !== '' ? { ground, goal } : null
}
