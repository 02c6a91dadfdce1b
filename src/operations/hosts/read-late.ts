import { tierNamed } from '../../core/accounts/tiers.ts'
import type { Keyed, Service } from '../gate/context.ts'
import { logEvents } from './log-events.ts'
import { hostNamed } from './report-events.ts'

/**
 * Judges the steps of a session that wait for the encoder; they were counted when they came. Returns false if the encoder
 * is still late and a longer wait can help.
 */
export async function readLate(
  service: Service,
  accountId: string,
  runId: string,
): Promise<boolean> {
  const { store, now, settings } = service
  const account = await store.accounts.find(accountId)
  const host = hostNamed(runId.slice(0, runId.indexOf(':')))
  if (account === null || host === null) return true
  if ((await store.hostSessions.find(accountId, runId, now()))?.unread === undefined) return true
  const context: Keyed = {
    ...service,
    account,
    tier: tierNamed(settings.tiers, account.tier),
    session: null,
    stands: async () => true,
    gone: () => nothingGone,
  }
  const { isLate } = await logEvents(context, host, runId, [], {
    mayPostpone: true,
    countWrite: async () => {},
  })
  return !isLate
}

/** No caller waits, so none goes away. */
const nothingGone = new AbortController().signal
