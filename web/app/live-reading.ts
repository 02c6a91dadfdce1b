import { useEffect } from 'preact/hooks'
import { type LiveEvent, listen } from './live.ts'

/** How often what costs several reads is read again at most, while steps come. */
export const seldomMs = 10_000

/**
 * Reads again when events of these kinds come, or when some were missed; at most once in `pauseMs`, and then what is
 * true by then.
 */
export function useLiveReading(
  read: () => Promise<void>,
  kinds: readonly LiveEvent['event'][],
  pauseMs = 0,
): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let last = 0
    const unlisten = listen((events) => {
      if (!events.some(({ event }) => event === 'gap' || kinds.includes(event))) return
      const wait = last + pauseMs - Date.now()
      if (wait > 0 && timer !== undefined) return
      clearTimeout(timer)
      timer = setTimeout(
        () => {
          timer = undefined
          last = Date.now()
          void read()
        },
        Math.max(0, wait),
      )
    })
    return () => {
      unlisten()
      clearTimeout(timer)
    }
  }, [read])
}
