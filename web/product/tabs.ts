/** Makes tabs of the hosts; without this script their parts stand one below another. */
export function startTabs(): void {
  const list = document.querySelector<HTMLElement>('.tabs')
  if (list === null) return
  const tabs = [...list.querySelectorAll<HTMLAnchorElement>('a')]
  const panelOf = (tab: HTMLAnchorElement) => document.querySelector<HTMLElement>(tab.hash)
  list.closest('.hosts')?.classList.add('tabbed')
  list.setAttribute('role', 'tablist')
  list.setAttribute('aria-orientation', 'vertical')

  function select(tab: HTMLAnchorElement): void {
    for (const each of tabs) {
      const isChosen = each === tab
      each.setAttribute('aria-selected', String(isChosen))
      each.tabIndex = isChosen ? 0 : -1
      const panel = panelOf(each)
      if (panel !== null) panel.hidden = !isChosen
    }
  }

  for (const [at, tab] of tabs.entries()) {
    const panel = panelOf(tab)
    tab.setAttribute('role', 'tab')
    tab.setAttribute('aria-controls', tab.hash.slice(1))
    panel?.setAttribute('role', 'tabpanel')
    panel?.setAttribute('aria-labelledby', tab.id)
    panel?.removeAttribute('aria-label')
    tab.addEventListener('click', (event) => {
      event.preventDefault()
      history.replaceState(null, '', tab.hash)
      select(tab)
    })
    tab.addEventListener('keydown', (event) => {
      const places: Record<string, number> = {
        ArrowDown: at + 1,
        ArrowRight: at + 1,
        ArrowUp: at - 1,
        ArrowLeft: at - 1,
        Home: 0,
        End: tabs.length - 1,
      }
      const place = places[event.key]
      if (place === undefined) return
      event.preventDefault()
      const next = tabs[(place + tabs.length) % tabs.length]
      if (next === undefined) return
      select(next)
      next.focus()
    })
  }
  const named = tabs.find(({ hash }) => hash === location.hash)
  const first = named ?? tabs.find(({ id }) => id === 'tab-plain-http') ?? tabs[0]
  if (first !== undefined) select(first)
}
