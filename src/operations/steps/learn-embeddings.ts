import { detectReading } from '../../core/detector/detect.ts'
import { type Memory, newMemory } from '../../core/detector/memory.ts'
import { readStep } from '../../core/detector/step.ts'
import { similarityIn } from '../../core/runs/similarity.ts'
import type { DriftRequest } from '../../core/runs/step-request.ts'
import type { TextPair } from '../../outbound/embeddings.ts'
import type { Keyed } from '../gate/context.ts'
import { createSlices } from '../gate/event-loop-turns.ts'

/** The longest wait of an uncertain step for its embeddings, in milliseconds. */
export const embeddingsWaitMs = 250

/**
 * Fetches the embeddings of steps whose verdict would be `uncertain`, so that the later judgment finds them
 * in the cache. Call it outside of any transaction. Without an endpoint it does nothing and does not call
 * `requests`. If a run gets other steps meanwhile, the cache may lack the texts of the later judgment, and
 * the verdict stays without embeddings.
 */
export async function learnUncertain(
  { store, account, settings, embeddings, now }: Keyed,
  requests: () => readonly DriftRequest[],
): Promise<void> {
  if (embeddings === null) return
  const pairs: TextPair[] = []
  const memories = new Map<string, Memory | null>()
  const slice = createSlices()
  for (const { runId, agentId, step, detector } of requests()) {
    const agent = JSON.stringify([runId, agentId])
    let memory = memories.get(agent)
    if (memory === undefined) {
      const stored = await store.runs.memoryOf(account.id, runId, agentId, now())
      memory = stored === 'none' ? newMemory(detector ?? settings.detector) : stored
    }
    if (memory === null) continue
    await slice(step.goal)
    const reading = readStep(step)
    const similarity = similarityIn(memory, reading, embeddings.similarity)
    const adaptation = settings.adaptation ?? undefined
    const judged = detectReading(memory, reading, { adaptation, similarity })
    memories.set(agent, judged.memory)
    const pair = pairOf(judged.verdict)
    if (pair !== null && similarity === undefined) pairs.push(pair)
  }
  if (pairs.length > 0) await embeddings.learn(pairs, embeddingsWaitMs)
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
