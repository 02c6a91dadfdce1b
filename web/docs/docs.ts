import { showAppearance } from '../shared/appearance.ts'
import { enableCopying } from '../shared/copying.ts'
import { followHeadings } from './headings.ts'
import { startSearch } from './search.ts'

showAppearance()
const narrow = matchMedia('(max-width: 900px)')
const sidebar = document.querySelector<HTMLDetailsElement>('details.sidebar')
if (sidebar !== null) {
  sidebar.open = !narrow.matches
  narrow.addEventListener('change', ({ matches }) => {
    sidebar.open = !matches
  })
}
// The commands name the server that this page came from.
for (const code of document.querySelectorAll('main code')) {
  const text = code.textContent ?? ''
  if (text.includes('http://127.0.0.1:8787'))
    code.textContent = text.replaceAll('http://127.0.0.1:8787', location.origin)
}
enableCopying()
followHeadings()
startSearch()
