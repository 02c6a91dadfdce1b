import { logoPaths, shapes } from '../shared/signs.ts'

/** The name of a drawing in the text of a line. */
export type IconName = keyof typeof shapes

/** A small drawing beside a word, which says nothing that the word does not. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  )
}

/** The plumb line as a sign. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 16 24" width="14" height="21" aria-hidden="true">
      <path class="logo-line" d={logoPaths.line} />
      <path class="logo-bob" d={logoPaths.bob} />
    </svg>
  )
}
