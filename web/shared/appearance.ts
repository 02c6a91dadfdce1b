/** Which colours the pages have: those of the system, or a choice of this browser. */
export type Appearance = 'system' | 'light' | 'dark'

const key = 'plumbline-appearance'

/** What this browser chose. */
export function readAppearance(): Appearance {
  const kept = localStorage.getItem(key)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

/** Sets the colours of this browser, and shows them at once. */
export function setAppearance(appearance: Appearance): void {
  if (appearance === 'system') localStorage.removeItem(key)
  else localStorage.setItem(key, appearance)
  showAppearance()
}

/** Gives the page the colours that this browser chose. */
export function showAppearance(): void {
  const appearance = readAppearance()
  if (appearance === 'system') document.documentElement.removeAttribute('data-theme')
  else document.documentElement.setAttribute('data-theme', appearance)
}
