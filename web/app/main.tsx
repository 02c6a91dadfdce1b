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

const fault = signal<Fault | null>(null)

/** Views that are fetched when they are first shown. */
const later: Record<string, () => Promise<{ default: ComponentType }>> = {
  run: () => import('./views/run.tsx'),
  escalations: () => import('./views/escalations.tsx'),
  alerts: () => import('./views/alerts.tsx'),
  quality: () => import('./views/quality.tsx'),
  cost: () => import('./views/cost.tsx'),
  fleet: () => import('./views/fleet.tsx'),
  keys: () => import('./views/keys.tsx'),
  settings: () => import('./views/settings.tsx'),
  field: () => import('./views/field.tsx'),
  more: () => import('./views/more.tsx'),
  signin: () => import('./views/signin.tsx'),
  welcome: () => import('./views/welcome.tsx'),
}

/** What the window is called; a run is called by its id. */
const titles: Record<string, string> = {
  runs: 'Runs',
  escalations: 'Escalations',
  alerts: 'Alerts',
  quality: 'Quality',
  cost: 'Cost',
  fleet: 'Fleet',
  keys: 'Keys',
  settings: 'Settings',
  field: 'Field',
  more: 'More',
  signin: 'Sign in',
  welcome: 'Your key',
}

/** The view of an address below `/app`. */
function viewOf(address: string): string {
  const [, place, name = 'runs', id] = address.split('/')
  if (place !== undefined && place !== 'app') return place
  return name === 'runs' && id !== undefined ? 'run' : name
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
  const title = view === 'run' ? decodeURIComponent(path.value.split('/')[3] ?? '') : titles[view]
  useEffect(() => {
    document.title = title === undefined ? 'Plumbline' : `${title} · Plumbline`
  }, [title])
  if (fault.value !== null) {
    return <Failed fault={fault.value} thing="session" onRetry={() => location.reload()} />
  }
  if (session.value === null) return <Skeleton />
  if (!path.value.startsWith('/app')) return <Later key={view} name={view} />
  if (!session.value.signed_in) return null
  return <Shell>{view === 'runs' ? <Runs /> : <Later key={view} name={view} />}</Shell>
}

const fetched = signal<Record<string, ComponentType>>({})

function Later({ name }: { name: string }) {
  const load = later[name]
  const View = fetched.value[name]
  useEffect(() => {
    if (load === undefined || View !== undefined) return
    load().then(
      (module) => {
        fetched.value = { ...fetched.value, [name]: module.default }
      },
      () => location.reload(),
    )
  }, [name])
  if (load === undefined) return <Nowhere />
  return View === undefined ? <Skeleton /> : <View />
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
