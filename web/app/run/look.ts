import { useEffect } from 'preact/hooks'
import { api } from '../api.ts'

const everyMs = 5 * 60_000

/** Tells the service that a person has a run on the screen: at once, and then every five minutes while the page is seen. */
export function useLook(runId: string): void {
  useEffect(() => {
    let lastMs = Number.NEGATIVE_INFINITY
    const look = () => {
      if (document.visibilityState !== 'visible' || performance.now() - lastMs < everyMs) return
      lastMs = performance.now()
      // A look that is not told costs nothing: the next one follows.
      void api.look({ run_id: runId }).catch(() => {})
    }
    look()
    const timer = setInterval(look, everyMs)
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [runId])
}
