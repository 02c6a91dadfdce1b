import '../controls.css'
import '../alerts/alerts.css'
import { Deliveries } from '../alerts/deliveries.tsx'
import { Incidents } from '../alerts/incidents.tsx'
import { Entries } from '../alerts/log.tsx'
import { AlertSettings } from '../alerts/settings.tsx'
import { api } from '../api.ts'
import { Tabs } from '../controls.tsx'
import { useLiveReading } from '../live-reading.ts'
import { Shown, useResource } from '../resource.tsx'
import { path } from '../router.ts'
import { Top } from '../shell.tsx'

const tabs = [
  { name: 'Settings', href: '/app/alerts' },
  { name: 'Incidents', href: '/app/alerts/incidents' },
  { name: 'Deliveries', href: '/app/alerts/deliveries' },
  { name: 'Log', href: '/app/alerts/log' },
] as const

/** Where alerts go, and what became of them. */
export default function Alerts() {
  const here = tabs.find(({ href }) => href === path.value)?.href ?? '/app/alerts'
  return (
    <>
      <Top title={<h1>Alerts</h1>} live>
        <Tabs label="Alerts" here={here} tabs={tabs} />
      </Top>
      {here === '/app/alerts' ? <AlertSettings /> : null}
      {here === '/app/alerts/incidents' ? <Incidents /> : null}
      {here === '/app/alerts/deliveries' ? <Deliveries /> : null}
      {here === '/app/alerts/log' ? <Log /> : null}
    </>
  )
}

function Log() {
  const log = useResource(() => api.alertLog())
  useLiveReading(log.read, ['delivery', 'incident'])
  return (
    <div class="list-page log-page">
      <p class="says">The last 50 attempts and suppressions of the last 30 days.</p>
      <Shown of={log} thing="log">
        {(answer) => <Entries log={answer.log} />}
      </Shown>
    </div>
  )
}
