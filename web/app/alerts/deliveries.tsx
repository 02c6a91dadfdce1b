import { useSignal } from '@preact/signals'
import { api } from '../api.ts'
import { ActionFault, useAction } from '../controls.tsx'
import { useLiveReading } from '../live-reading.ts'
import { Shown, useResource } from '../resource.tsx'
import { query, setQuery } from '../router.ts'
import { clock, counted } from '../time.ts'
import { Severity } from './incidents.tsx'
import { RunName } from './log.tsx'

type Page = Awaited<ReturnType<typeof api.deliveries>>
type Delivery = Page['deliveries'][number]

const pageSize = 50
const keptMs = 30 * 86_400_000

const states = [
  [null, 'All of 30 days'],
  ['waiting', 'Waiting'],
  ['failed', 'Failed'],
  ['delivered', 'Delivered'],
] as const

/** The events with their attempts, and the way to send them again. */
export function Deliveries() {
  const asked = query.value.get('state')
  const state: Delivery['state'] | null =
    asked === 'waiting' || asked === 'failed' || asked === 'delivered' ? asked : null
  const filter = state === null ? {} : { state }
  const older = useSignal<readonly Delivery[]>([])
  const cursor = useSignal<string | null>(null)
  const more = useAction<Page>()
  const again = useAction<Awaited<ReturnType<typeof api.replayDeliveries>>>()
  const first = useResource(async () => {
    const page = await api.deliveries({ ...filter, limit: pageSize })
    older.value = []
    cursor.value = page.next_cursor
    return page
  }, [state])
  useLiveReading(first.read, ['delivery'])
  const replay = async (what: { id: string } | { since: string }) => {
    if ((await again.run(() => api.replayDeliveries(what))) !== null) await first.read()
  }
  const sent = again.answer.value
  return (
    <div class="list-page">
      <div class="filters">
        <div class="tabs">
          {states.map(([each, name]) => (
            <button
              key={name}
              type="button"
              class="tab"
              aria-pressed={each === state}
              onClick={() => setQuery({ state: each })}
            >
              {name}
            </button>
          ))}
        </div>
        <button
          type="button"
          class="button"
          disabled={again.busy.value}
          onClick={() => replay({ since: new Date(Date.now() - keptMs).toISOString() })}
        >
          Send all failed again
        </button>
      </div>
      <p role="status" class="replayed">
        {sent === null
          ? ''
          : sent.replayed === 0
            ? 'Nothing had failed.'
            : `${counted(sent.replayed, 'event')} will be sent again.${sent.more ? ' There are more; press again.' : ''}`}
      </p>
      <ActionFault of={again} />
      <Shown of={first} thing="deliveries">
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <div class="notice">
              <h2>{state === null ? 'Nothing was sent yet.' : `No event is ${state}.`}</h2>
              <p>Each event that is sent stands here with its attempts for 30 days.</p>
            </div>
          ) : (
            <>
              <ul class="rows">
                <li class="rows-head delivery-row" aria-hidden="true">
                  <span>Run</span>
                  <span>Reason</span>
                  <span>Emitted</span>
                  <span>Last attempt</span>
                  <span class="number">State</span>
                  <span />
                </li>
                {[...deliveries, ...older.value].map((each) => (
                  <Row
                    key={each.id}
                    delivery={each}
                    isBusy={again.busy.value}
                    onAgain={() => replay({ id: each.id })}
                  />
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
                        api.deliveries({ ...filter, limit: pageSize, cursor: from }),
                      )
                      if (page === null) return
                      older.value = [...older.value, ...page.deliveries]
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

function Row({
  delivery: { id, run_id, reason, severity, ts, state, next, attempts, detail },
  isBusy,
  onAgain,
}: {
  delivery: Delivery
  isBusy: boolean
  onAgain: () => void
}) {
  const last = attempts.at(-1)
  return (
    <li class="delivery-row" data-state={state}>
      <span>
        <RunName runId={run_id} />
      </span>
      <span>
        <bdi>{reason}</bdi>, <Severity of={severity} />
      </span>
      <time dateTime={ts}>{clock(ts)}</time>
      <span>
        {last === undefined ? (
          (detail ?? 'none yet')
        ) : (
          <details>
            <summary>
              {last.delivered
                ? `${last.status} after ${last.latency_ms} ms`
                : (last.detail ?? `${last.status}`)}
              {attempts.length > 1 ? `, attempt ${last.attempt}` : ''}
            </summary>
            <ol class="attempts">
              {attempts.map((each) => (
                <li key={each.attempt}>
                  {clock(each.ts)} to {each.host}: {each.status === 0 ? '' : `${each.status} `}
                  {each.detail ?? ''} after {each.latency_ms} ms
                </li>
              ))}
            </ol>
            <code class="quiet-text">{id}</code>
          </details>
        )}
      </span>
      <span class={state === 'failed' ? 'number drift-text' : 'number'}>
        {state}
        {state === 'waiting' && next !== null ? (
          <small class="sub-code">next at {clock(next)}</small>
        ) : null}
      </span>
      {state === 'waiting' ? (
        <span />
      ) : (
        <button type="button" class="button" disabled={isBusy} onClick={onAgain}>
          Send again
        </button>
      )}
    </li>
  )
}
