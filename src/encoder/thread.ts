// A thread that reads texts, so that the event loop of the server does not wait for arithmetic.
import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import type { Task, ThreadMessage, ThreadStart } from './messages.ts'
import { createNetwork, type Network } from './network.ts'
import { createReader } from './reader.ts'
import { readWeights } from './weights.ts'

/** What it keeps of the newest texts: some hundred errands and goals. */
const maxTextBytes = 128 * 1024 * 1024

const network = openNetwork((workerData as ThreadStart).weights)
if (typeof network === 'string') say({ kind: 'unusable', reason: network })
else {
  const reader = createReader(network, maxTextBytes)
  parentPort?.on('message', (tasks: readonly Task[]) => {
    for (const { errand, before, goal } of tasks) {
      const beside = errand === null ? null : reader.read(errand, before, goal)
      say({ kind: 'read', read: { beside, meaning: reader.meaning(goal) } })
    }
  })
  const { version, readsBefore, readsMessages } = network
  say({ kind: 'ready', version, readsBefore, readsMessages })
}

function say(message: ThreadMessage): void {
  parentPort?.postMessage(message)
}

/** The network of a file, or the reason why there is none. */
function openNetwork(path: string): Network | string {
  try {
    return createNetwork(readWeights(readFileSync(path)))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? 'the file does not exist' : (code ?? message)
  }
}
