import { computed, signal } from '@preact/signals'

const at = signal(new URL(location.href))

/** The address of the page. Filters, selection and tabs stand in it. */
export const path = computed(() => at.value.pathname)
export const query = computed(() => at.value.searchParams)

/** Goes to another address of the application. */
export function go(to: string, { replace = false } = {}): void {
  const next = new URL(to, location.href)
  if (next.href === location.href) return
  if (replace) history.replaceState(null, '', next)
  else history.pushState(null, '', next)
  const moved = next.pathname !== at.value.pathname
  at.value = next
  if (moved && !replace) scrollTo(0, 0)
}

/** Changes parameters of the address; null takes one away. */
export function setQuery(changes: Record<string, string | null>, { replace = true } = {}): void {
  const next = new URL(at.value)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.searchParams.delete(name)
    else next.searchParams.set(name, value)
  }
  go(next.href, { replace })
}

/** Makes links to this application work without loading the page anew. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    at.value = new URL(location.href)
  })
  document.addEventListener('click', (event) => {
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    const link = (event.target as Element).closest('a')
    if (!isPlain || event.defaultPrevented || link === null || link.target !== '') return
    const to = new URL(link.href)
    const isOurs =
      to.origin === location.origin && /^\/(app|signin|welcome)(\/|$)/.test(to.pathname)
    if (!isOurs || link.hasAttribute('download')) return
    event.preventDefault()
    go(to.href)
  })
}
