import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { TrainingPair } from './pairs.ts'
import { type Table, trainTable } from './table.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Trains a table in a thread of its own. The result equals that of `trainTable` to the bit. */
export function trainInThread(
  pairs: readonly TrainingPair[],
  vocabulary: Vocabulary,
): Promise<Table> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { pairs, vocabulary } })
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

if (!isMainThread) {
  const { pairs, vocabulary } = workerData as { pairs: TrainingPair[]; vocabulary: Vocabulary }
  parentPort?.postMessage(trainTable(pairs, vocabulary))
}
