import { tierNamed } from '../../core/accounts/tiers.ts'
import { eventsOfTrace } from '../../core/telemetry/trace.ts'
import { dayOf } from '../../core/time.ts'
import type { Keyed, Service } from '../gate/context.ts'
import { quotaBucket } from '../gate/daily-limit.ts'
import { logEvents } from './log-events.ts'
import { hostOf } from './report-telemetry.ts'

/** Most spans of a trace that are folded at once. */
const mostSpans = 10_000

/**
 * Folds the spans of a trace that wait, logs the steps that they show, and removes the spans in the same transaction.
 * A trace that shows several runs has one for each; when the process dies between them, the events that are told again
 * count once. The steps count as writes and are never refused: their spans were taken.
 */
export async function foldTrace(
  service: Service,
  accountId: string,
  traceId: string,
): Promise<void> {
  const { store, now } = service
  const notes = await store.pendingSpans.of(accountId, traceId, mostSpans)
  const account = await store.accounts.find(accountId)
  const runs = account === null ? [] : [...Map.groupBy(eventsOfTrace(notes), ({ runId }) => runId)]
  for (const [place, [runId, events]] of runs.entries()) {
    const [first] = events
    if (account === null || first === undefined) continue
    const tier = tierNamed(service.settings.tiers, account.tier)
    const context: Keyed = {
      ...service,
      account,
      tier,
      session: null,
      stands: async () => true,
      gone: () => nothingGone,
    }
    await logEvents(context, hostOf(first), runId, events, {
      countWrite: () => store.counters.count(quotaBucket(accountId, 'writes'), dayOf(now())),
      async alongside(tx) {
        if (place === runs.length - 1) await tx.pendingSpans.remove(accountId, notes)
      },
    })
  }
  if (runs.length === 0) await store.tx((tx) => tx.pendingSpans.remove(accountId, notes))
}

/** No caller waits for a trace, so none goes away. */
const nothingGone = new AbortController().signal
