/** Shows beside the page which heading is being read. */
export function followHeadings(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('.aside li a')].map((link) => [
      link.hash.slice(1),
      link,
    ]),
  )
  const headings = [...document.querySelectorAll<HTMLElement>('main h2[id]')]
  if (headings.length === 0) return

  function mark(): void {
    const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 4
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 160)
    const current = isAtEnd && scrollY > 0 ? headings.at(-1) : passed.at(-1)
    for (const [id, link] of links) {
      if (id === current?.id) link.setAttribute('aria-current', 'true')
      else link.removeAttribute('aria-current')
    }
  }
  let isAsked = false
  addEventListener(
    'scroll',
    () => {
      if (isAsked) return
      isAsked = true
      requestAnimationFrame(() => {
        isAsked = false
        mark()
      })
    },
    { passive: true },
  )
  mark()
}
