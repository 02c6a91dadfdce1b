import { readAppearance, showAppearance } from '../shared/appearance.ts'

/** The part of Redoc that this page uses. Its bundle is a file of its own, beside this one. */
interface Redoc {
  init(
    description: string,
    options: object,
    element: Element,
    done: (error?: Error | null) => void,
  ): Promise<void> | void
}

showAppearance()
const dark = matchMedia('(prefers-color-scheme: dark)')
const isDark = readAppearance() === 'dark' || (readAppearance() === 'system' && dark.matches)
const reference = document.querySelector('#reference')
// The theme of Redoc is fixed when it starts.
dark.addEventListener('change', () => location.reload())
// The bundle stands behind this script in the page.
addEventListener('load', () => {
  if (reference !== null) show(reference)
})

function show(element: Element): void {
  const { Redoc: redoc } = window as unknown as { Redoc?: Redoc }
  if (redoc === undefined) {
    fail(element)
    return
  }
  void redoc.init('/v1/openapi.json', options(), element, (error) => {
    if (error !== undefined && error !== null) fail(element)
  })
}

function fail(element: Element): void {
  const says = document.createElement('p')
  says.className = 'inner waiting'
  says.textContent = 'The description could not be shown. It is at /v1/openapi.json.'
  element.replaceChildren(says)
}

/** Redoc in the colours of the design. */
function options(): object {
  const style = getComputedStyle(document.documentElement)
  const token = (name: string) => style.getPropertyValue(name).trim()
  const [ink, quiet, line] = [token('--ink'), token('--ink-2'), token('--line')]
  const mono = token('--mono')
  const sans = token('--sans')
  return {
    // The search would need a worker made of text, which the policy of the page forbids.
    disableSearch: true,
    hideDownloadButtons: true,
    hideHostname: true,
    scrollYOffset: 57,
    sortPropsAlphabetically: false,
    nativeScrollbars: true,
    expandResponses: '200,201',
    theme: {
      colors: {
        // On white and below white text, so no token of the dark theme.
        primary: { main: isDark ? '#3f74c4' : token('--ground') },
        text: { primary: ink, secondary: quiet },
        border: { dark: line, light: line },
        success: { main: quiet },
        error: { main: token('--drift') },
        warning: { main: token('--warn') },
        gray: { 50: token('--sunken'), 100: token('--sunken') },
        responses: {
          success: { color: ink, backgroundColor: token('--sunken') },
          error: { color: token('--drift'), backgroundColor: token('--drift-soft') },
        },
        http: Object.fromEntries(
          ['get', 'post', 'put', 'delete', 'options', 'patch', 'basic', 'link', 'head'].map(
            (method) => [method, method === 'get' ? '#1c4f9c' : '#4c5257'],
          ),
        ),
      },
      schema: { linesColor: line, typeNameColor: quiet, nestedBackground: token('--sunken') },
      sidebar: {
        backgroundColor: token('--bg'),
        textColor: quiet,
        activeTextColor: ink,
        width: '260px',
      },
      rightPanel: { backgroundColor: '#1f2327', textColor: '#ecedeb' },
      codeBlock: { backgroundColor: '#121416' },
      typography: {
        fontSize: '14px',
        lineHeight: '1.5',
        fontFamily: sans,
        headings: { fontFamily: sans, fontWeight: '640', lineHeight: '1.3' },
        code: {
          fontFamily: mono,
          fontSize: '13px',
          color: ink,
          backgroundColor: token('--sunken'),
          wrap: true,
        },
        links: { color: token('--ground'), visited: token('--ground'), hover: token('--ground') },
      },
    },
  }
}
