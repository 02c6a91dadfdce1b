import { useSignal } from '@preact/signals'
import { api } from '../api.ts'
import { ActionFault, useAction } from '../controls.tsx'
import { useLiveReading } from '../live-reading.ts'
import { Shown, useResource } from '../resource.tsx'
import { query, setQuery } from '../router.ts'
import { clock, span } from '../time.ts'
import { RunName } from './log.tsx'

type Page = Awaited<ReturnType<typeof api.incidents>>

const pageSize = 50

/** The incidents: each drift of an agent for one reason, from its first step to its last. */
export function Incidents() {
  const isOpenOnly = query.value.get('open') === 'true'
  const filter = isOpenOnly ? { open: 'true' as const } : {}
  const older = useSignal<Page['incidents']>([])
  const cursor = useSignal<string | null>(null)
  const more = useAction<Page>()
  const first = useResource(async () => {
    const page = await api.incidents({ ...filter, limit: pageSize })
    older.value = []
    cursor.value = page.next_cursor
    return page
  }, [isOpenOnly])
  useLiveReading(first.read, ['incident'])
  return (
    <div class="list-page">
      <div class="filters">
        <div class="tabs">
          {[false, true].map((open) => (
            <button
              key={String(open)}
              type="button"
              class="tab"
              aria-pressed={open === isOpenOnly}
              onClick={() => setQuery({ open: open ? 'true' : null })}
            >
              {open ? 'Open' : 'All of 30 days'}
            </button>
          ))}
        </div>
      </div>
      <Shown of={first} thing="incidents">
        {({ incidents }) =>
          incidents.length === 0 ? (
            <div class="notice">
              <h2>{isOpenOnly ? 'No incident is open.' : 'No incidents in the last 30 days.'}</h2>
              <p>
                An incident opens when an agent begins to drift and alerts are told once per
                incident. It closes when the agent is back on its errand.
              </p>
            </div>
          ) : (
            <>
              <ul class="rows">
                <li class="rows-head incident-row" aria-hidden="true">
                  <span>Run</span>
                  <span>Reason</span>
                  <span>Opened</span>
                  <span class="number">Steps</span>
                  <span class="number">Furthest</span>
                  <span class="number">State</span>
                </li>
                {[...incidents, ...older.value].map((each) => (
                  <li key={each.id} class="incident-row">
                    <span>
                      <RunName runId={each.run_id} />
                      {each.agent_id === undefined ? null : (
                        <small class="sub-code">
                          agent <bdi>{each.agent_id}</bdi>
                        </small>
                      )}
                    </span>
                    <span>
                      {each.reason}, <Severity of={each.severity} />
                    </span>
                    <time dateTime={each.opened}>{clock(each.opened)}</time>
                    <span class="number">
                      {each.steps}
                      <span class="on-phone">{each.steps === 1 ? ' step' : ' steps'}</span>
                    </span>
                    <span class="number">
                      <span class="on-phone">furthest </span>
                      {each.max_phi.toFixed(2)}
                    </span>
                    {each.closed === null ? (
                      <b class="number drift-text">open</b>
                    ) : (
                      <span class="number quiet-text">
                        closed after {span(Date.parse(each.closed) - Date.parse(each.opened))}
                      </span>
                    )}
                  </li>
                ))}
              </ul>
              {cursor.value === null ? null : (
                <p class="more-row">
                  <button
                    type="button"
                    class="button"
                    disabled={more.busy.value}
                    onClick={async () => {
                      const from = cursor.value ?? ''
                      const page = await more.run(() =>
                        api.incidents({ ...filter, limit: pageSize, cursor: from }),
                      )
                      if (page === null) return
                      older.value = [...older.value, ...page.incidents]
                      cursor.value = page.next_cursor
                    }}
                  >
                    Show older ones
                  </button>
                </p>
              )}
              <ActionFault of={more} />
            </>
          )
        }
      </Shown>
    </div>
  )
}

/** A severity in its colour. */
export function Severity({ of }: { of: 'critical' | 'warn' | 'info' }) {
  return (
    <span class={of === 'critical' ? 'drift-text' : of === 'warn' ? 'warn-text' : ''}>{of}</span>
  )
}
