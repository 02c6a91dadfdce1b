import { signal } from '@preact/signals'
import { type ComponentType, render } from 'preact'
import { useEffect } from 'preact/hooks'
import { showAppearance } from '../shared/appearance.ts'
import { type Fault, faultOf, readSession } from './api.ts'
import { listenForKeys } from './keys.ts'
import { openStream } from './live.ts'
import { Failed, Skeleton } from './resource.tsx'
import { followLinks, go, path } from './router.ts'
import { session } from './session.ts'
import { Shell } from './shell.tsx'
import { Runs } from './views/runs.tsx'
import { closedIn } from './words.ts'

const fault = signal<Fault | null>(null)

/** What the window is called while a view is shown, and the view, fetched when it is first shown. */
interface View {
  title: string
  load: () => Promise<{ default: ComponentType }>
}

/**
 * All views but for the runs, which come with the page: those of the dashboard by their name in the address, and those
 * that no such name may lead to.
 */
const views: ReadonlyMap<string, View> = new Map([
  ['one run', { title: 'Run', load: () => import('./views/run.tsx') }],
  ['escalations', { title: 'Escalations', load: () => import('./views/escalations.tsx') }],
  ['alerts', { title: 'Alerts', load: () => import('./views/alerts.tsx') }],
  ['quality', { title: 'Quality', load: () => import('./views/quality.tsx') }],
  ['cost', { title: 'Cost', load: () => import('./views/cost.tsx') }],
  ['fleet', { title: 'Fleet', load: () => import('./views/fleet.tsx') }],
  ['keys', { title: 'Keys', load: () => import('./views/keys.tsx') }],
  ['settings', { title: 'Settings', load: () => import('./views/settings.tsx') }],
  ['field', { title: 'Field', load: () => import('./views/field.tsx') }],
  ['more', { title: 'More', load: () => import('./views/more.tsx') }],
  ['/signin', { title: 'Sign in', load: () => import('./views/signin.tsx') }],
  ['/welcome', { title: 'Your key', load: () => import('./views/welcome.tsx') }],
])

/** The view of an address. */
function viewOf(address: string): string {
  const [, place, name = '', id = ''] = address.split('/')
  if (place !== 'app') return `/${place}`
  if (name === '' || name === 'runs') return id === '' ? 'runs' : 'one run'
  return name
}

/** What the window is called; a run is called by its id. */
function titleOf(view: string): string {
  if (view === 'runs') return 'Runs · Plumbline'
  if (view !== 'one run') return [views.get(view)?.title, 'Plumbline'].filter(Boolean).join(' · ')
  return `${closedIn(decodeURIComponent(path.value.split('/')[3] ?? ''))} · Plumbline`
}

function App() {
  useEffect(() => {
    readSession().then(
      ({ signed_in }) => {
        const isInside = path.value.startsWith('/app')
        if (!signed_in && isInside) {
          go(`/signin?to=${encodeURIComponent(location.pathname + location.search)}`, {
            replace: true,
          })
        } else if (path.value === '/app' || path.value === '/app/') {
          go('/app/runs', { replace: true })
        }
        if (signed_in) openStream()
      },
      (error) => {
        fault.value = faultOf(error)
      },
    )
  }, [])
  const view = viewOf(path.value)
  const title = titleOf(view)
  useEffect(() => {
    document.title = title
  }, [title])
  if (fault.value !== null) {
    return <Failed fault={fault.value} thing="session" onRetry={() => location.reload()} />
  }
  if (session.value === null) return <Skeleton />
  if (!path.value.startsWith('/app')) return <Later key={view} name={view} />
  if (!session.value.signed_in) return null
  return <Shell>{view === 'runs' ? <Runs /> : <Later key={view} name={view} />}</Shell>
}

const fetched = signal<ReadonlyMap<string, ComponentType>>(new Map())

function Later({ name }: { name: string }) {
  const load = views.get(name)?.load
  const Fetched = fetched.value.get(name)
  useEffect(() => {
    if (load === undefined || Fetched !== undefined) return
    load().then(
      (module) => {
        fetched.value = new Map([...fetched.value, [name, module.default]])
      },
      () => location.reload(),
    )
  }, [name])
  if (load === undefined) return <Nowhere />
  return Fetched === undefined ? <Skeleton /> : <Fetched />
}

function Nowhere() {
  return (
    <div class="notice">
      <h2>There is no such page.</h2>
      <p class="actions">
        <a class="button" href="/app/runs">
          Go to the runs
        </a>
      </p>
    </div>
  )
}

showAppearance()
followLinks()
listenForKeys()
const root = document.querySelector('#app')
if (root !== null) render(<App />, root)
