/** Characters of texts that are judged in one turn of the event loop; the longest text takes some milliseconds. */
const textOfTurn = 4_000

/**
 * Waits for the next turn of the event loop, so that other requests go on between two slices of a long
 * work. Of all works that wait, one gets each turn: many long works at once hold up nobody longer than
 * one does.
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
 * Cuts a work on texts into slices: asked before each text, it waits for the next turn when the slice is
 * full. A work that is one slice never waits. Must not be asked in a transaction.
 */
export function createSlices(): (text: string) => Promise<void> {
  let taken = 0
  return async (text) => {
    taken += text.length
    if (taken <= textOfTurn) return
    taken = text.length
    await nextTurn()
  }
}

/** Does a work that says itself where a slice of it ends. */
export async function inSlices<Result>(work: Generator<void, Result>): Promise<Result> {
  let slice = work.next()
  for (; !slice.done; slice = work.next()) await nextTurn()
  return slice.value
}
