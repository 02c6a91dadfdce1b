/**
 * Makes work that anybody may ask for cost no more, however many ask. It begins at the earliest
 * `pauseMs` after it last ended, and all who ask before it begins get its one result or failure. So
 * nobody gets a result that is older than the question.
 */
export function shareWork<T>(work: () => Promise<T>, pauseMs: number): () => Promise<T> {
  let next: Promise<T> | null = null
  let rested: Promise<unknown> = Promise.resolve()

  async function begin(): Promise<T> {
    await rested
    next = null
    const result = work()
    rested = result
      .catch(() => {})
      .then(() => new Promise((resolve) => setTimeout(resolve, pauseMs)))
    return result
  }

  return () => {
    next ??= begin()
    return next
  }
}
