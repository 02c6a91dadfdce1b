import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

const everyMs = 10_000

/**
 * Tells whoever does not see the page that `state` has changed, at most once in ten seconds and then what is true by
 * then. The first state is no news; null is none.
 */
export function News({ state, says }: { state: string | null; says: string }) {
  const news = useSignal('')
  const told = useRef<{ state: string | null; at: number }>({ state: null, at: 0 })
  useEffect(() => {
    if (state === null || state === told.current.state) return
    if (told.current.state === null) {
      told.current.state = state
      return
    }
    const tell = () => {
      told.current = { state, at: Date.now() }
      news.value = says
    }
    const timer = setTimeout(tell, Math.max(0, told.current.at + everyMs - Date.now()))
    return () => clearTimeout(timer)
  }, [state, says])
  return (
    <p class="visually-hidden" aria-live="polite">
      {news}
    </p>
  )
}
