import '../controls.css'
import './signin.css'
import type { ComponentChildren } from 'preact'

/** A page that hangs from the line: the line from the top, the bob, and below it what is asked or shown. */
export function Hung({
  isShort = false,
  children,
}: {
  isShort?: boolean
  children: ComponentChildren
}) {
  return (
    <main class={isShort ? 'hung short' : 'hung'}>
      <div class="hung-line" />
      <svg class="hung-bob" viewBox="0 0 18 42" aria-hidden="true">
        <path d="M0 0h18l-2 10-7 32L2 10z" />
      </svg>
      {children}
    </main>
  )
}
