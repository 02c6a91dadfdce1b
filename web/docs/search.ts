import { findParts, type Part } from './find.ts'

/** Searches the docs while a person types. What is searched is read when the field gets the focus. */
export function startSearch(): void {
  const box = document.querySelector<HTMLElement>('.search')
  const field = document.querySelector<HTMLInputElement>('#search')
  const list = document.querySelector<HTMLElement>('#found')
  if (box === null || field === null || list === null) return
  box.hidden = false
  let parts: Part[] = []
  let isRead = false
  let chosen = -1

  async function read(): Promise<void> {
    if (isRead) return
    isRead = true
    try {
      const answer = await fetch('/docs/search.json')
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`)
      parts = await answer.json()
      show()
    } catch {
      // The next focus asks again.
      isRead = false
    }
  }

  function show(): void {
    const found = findParts(parts, field?.value ?? '')
    const isAsked = (field?.value ?? '').trim() !== '' && parts.length > 0
    chosen = -1
    list?.replaceChildren(
      ...found.map((part, at) => option(part, at)),
      ...(isAsked && found.length === 0 ? [nothing()] : []),
    )
    setOpen(isAsked)
  }

  function setOpen(isOpen: boolean): void {
    if (list !== null) list.hidden = !isOpen
    field?.setAttribute('aria-expanded', String(isOpen))
    if (!isOpen) field?.removeAttribute('aria-activedescendant')
  }

  function choose(place: number): void {
    const options = [...(list?.querySelectorAll<HTMLElement>('[role=option]') ?? [])]
    if (options.length === 0) return
    chosen = (place + options.length) % options.length
    for (const [at, each] of options.entries())
      each.setAttribute('aria-selected', String(at === chosen))
    const current = options[chosen]
    current?.scrollIntoView({ block: 'nearest' })
    field?.setAttribute('aria-activedescendant', current?.id ?? '')
  }

  field.addEventListener('focus', () => {
    void read()
    show()
  })
  field.addEventListener('input', show)
  field.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') choose(chosen + 1)
    else if (event.key === 'ArrowUp') choose(chosen - 1)
    else if (event.key === 'Escape') {
      field.value = ''
      show()
      field.blur()
    } else if (event.key === 'Enter') {
      const options = list.querySelectorAll<HTMLAnchorElement>('[role=option] a')
      options[Math.max(chosen, 0)]?.click()
    } else return
    event.preventDefault()
  })
  box.addEventListener('focusout', ({ relatedTarget }) => {
    if (!box.contains(relatedTarget as Node | null)) setOpen(false)
  })
  addEventListener('keydown', (event) => {
    const { target } = event
    const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select')
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    field.focus()
  })
}

function option({ at, title, heading, text }: Part, place: number): HTMLElement {
  const item = document.createElement('div')
  item.id = `found-${place}`
  item.setAttribute('role', 'option')
  item.setAttribute('aria-selected', 'false')
  const link = document.createElement('a')
  link.href = at
  link.tabIndex = -1
  // The link must not take the focus before it is followed.
  link.addEventListener('mousedown', (event) => event.preventDefault())
  const name = document.createElement('span')
  name.className = 'name'
  name.textContent = heading === '' ? title : `${title}: ${heading}`
  const says = document.createElement('span')
  says.className = 'says'
  says.textContent = text.slice(0, 90)
  link.append(name, says)
  item.append(link)
  return item
}

function nothing(): HTMLElement {
  const item = document.createElement('div')
  item.className = 'nothing'
  item.textContent = 'Nothing has these words.'
  return item
}
