/** Characters of texts judged in one turn of the event loop. That many take some milliseconds. */
const charactersPerTurn = 4_000

/**
 * Waits for a turn of the event loop, so that other requests are served between two slices of a long
 * work. Each turn goes to one of the waiting works: many long works delay other requests no more than one
 * does. There is one queue a process, because a process has one event loop.
 */
export const nextTurn = createTurns()

function createTurns(): () => Promise<void> {
  let last = Promise.resolve()
  return () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return last
  }
}

/**
 * Cuts a work on texts into slices. Call the returned function before each text: it waits for the next
 * turn if the slice is full. A work of one slice never waits. Never call it in a transaction.
 */
export function createSlices(): (text: string) => Promise<void> {
  let taken = 0
  return async (text) => {
    taken += text.length
    if (taken <= charactersPerTurn) return
    taken = text.length
    await nextTurn()
  }
}

/** Runs a work in slices. The generator yields at the end of each slice. */
export async function inSlices<Result>(work: Generator<void, Result>): Promise<Result> {
  let slice = work.next()
  for (; !slice.done; slice = work.next()) await nextTurn()
  return slice.value
}
