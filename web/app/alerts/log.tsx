import type { api } from '../api.ts'
import { clock } from '../time.ts'

type Entry = Awaited<ReturnType<typeof api.alertLog>>['log'][number]

const heldBack = /muted$|^below |^part of |^no valid webhook|budget|^held/

/** What became of an event, in a word or two. */
export function outcomeOf({ delivered, status, detail = '' }: Entry): string {
  if (delivered) return 'delivered'
  if (heldBack.test(detail)) return 'not sent'
  return status === 0 ? 'did not arrive' : `${status}, not taken`
}

/** The last events and what became of each. */
export function Entries({ log }: { log: readonly Entry[] }) {
  if (log.length === 0) {
    return <p class="says entries-none">Nothing was sent or held back in the last 30 days.</p>
  }
  return (
    <ol class="entries">
      {log.map((entry, at) => {
        const outcome = outcomeOf(entry)
        const isBad = !entry.delivered && outcome !== 'not sent'
        return (
          <li key={`${entry.ts}${at}`} class="entry">
            <time dateTime={entry.ts}>{clock(entry.ts)}</time>
            <RunName runId={entry.run_id} />
            <span class={isBad ? 'entry-outcome drift-text' : 'entry-outcome'}>{outcome}</span>
            <span class="entry-why">
              <bdi>{entry.reason}</bdi>, {entry.severity}
              {entry.detail === undefined ? '' : `; ${entry.detail}`}
            </span>
            <span class="entry-phi">phi {entry.phi.toFixed(2)}</span>
          </li>
        )
      })}
    </ol>
  )
}

/** The id of a run, which leads to it; a test event has none. */
export function RunName({ runId }: { runId: string }) {
  if (runId === 'test') return <code class="run-name">test</code>
  return (
    <a class="run-name" href={`/app/runs/${encodeURIComponent(runId)}`} title={runId}>
      <code>
        <bdi>{runId}</bdi>
      </code>
    </a>
  )
}
