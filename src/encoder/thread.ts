// A thread that reads texts, so that the event loop of the server does not wait for arithmetic.
import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { likeness } from './likeness.ts'
import type { Task, TaskRead, ThreadMessage, ThreadStart } from './messages.ts'
import { createNetwork, type Network, type ReadErrand, type ReadGoal } from './network.ts'
import { createRecent } from './recent.ts'
import { readWeights } from './weights.ts'

/** Numbers in all kept errands, four bytes each: some hundred errands. */
const maxErrandNumbers = 16_000_000
const maxGoalNumbers = 4_000_000

const network = openNetwork((workerData as ThreadStart).weights)
if (typeof network === 'string') say({ kind: 'unusable', reason: network })
else {
  const read = createReader(network)
  parentPort?.on('message', (tasks: readonly Task[]) => {
    say({ kind: 'read', reads: tasks.map(read) })
  })
  say({ kind: 'ready', version: network.version })
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

function createReader(network: Network): (task: Task) => TaskRead {
  const errands = createRecent<ReadErrand>(maxErrandNumbers, ({ tokens, keysAndValues }) =>
    keysAndValues.reduce((sum, rows) => sum + rows.length, tokens.length),
  )
  const goals = createRecent<ReadGoal>(
    maxGoalNumbers,
    ({ tokens, rows }) => tokens.length + rows.length,
  )

  function errandOf(text: string): ReadErrand {
    const kept = errands.get(text)
    if (kept !== undefined) return kept
    const read = network.readErrand(text)
    errands.set(text, read)
    return read
  }

  function goalOf(text: string): ReadGoal {
    const kept = goals.get(text)
    if (kept !== undefined) return kept
    const read = network.readGoal(text)
    goals.set(text, read)
    return read
  }

  return ({ errand, goal }) => {
    const ofGoal = goalOf(goal)
    const { meaning } = ofGoal
    if (errand === null) return { pair: null, meaning }
    const ofErrand = errandOf(errand)
    const serves = network.serves(ofErrand, ofGoal)
    return { pair: { serves, alike: likeness(ofErrand.meaning, meaning) }, meaning }
  }
}
