import { dayMs, dayOf, hourMs } from '../core/time.ts'
import type { NewJob } from '../storage/database/jobs.ts'
import { deleteExpiredRuns } from '../storage/runs/expiry.ts'
import type { OpenStore } from '../storage/store.ts'
import type { JobContext, JobKind } from './scheduler.ts'

const gaveUpKeptMs = 30 * dayMs
const alertsKeptMs = 30 * dayMs
const escalationKeptMs = 365 * dayMs
const actKeptMs = hourMs
const spanKeptMs = dayMs
/** The provider repeats an event for some days. */
const paymentEventKeptMs = 30 * dayMs
const sliceRows = 500
const slicesARun = 100

/** The name of the kind, and the id of its only job. */
const kindName = 'expire'

/** The job that deletes expired rows, for a run at `due` (milliseconds since 1970) at the latest. */
export function expireJob(due: number): NewJob {
  return { id: kindName, kind: kindName, input: '', due }
}

/**
 * Deletes expired rows: runs, conversations, acts of more than an hour ago, escalations created and
 * decided more than a year ago, invites, mail links, sessions, sign-in links, payment events, alert events,
 * incidents and log entries, evaluation results, idempotency records, counters of the days before yesterday, tool sessions, spans
 * that could not be folded, and jobs that gave up a month ago. Timing
 * does not matter: expired rows are already invisible to readers. Each transaction deletes a few hundred
 * rows, so that other requests wait only for milliseconds. At the end, deleted texts are also removed from
 * the SQLite file.
 */
export function createExpireJob(store: OpenStore, now: () => number): JobKind {
  const slices: readonly ((at: number) => Promise<boolean>)[] = [
    (at) => store.db.tx((tx) => deleteExpiredRuns(tx, store.db.kind, at, sliceRows)),
    async (at) =>
      (await store.tx(({ idempotency }) => idempotency.expire(at, sliceRows))) === sliceRows,
    // Keep the counts of yesterday for a clock that is set back over midnight.
    async (at) => (await store.counters.expire(dayOf(at) - 1, sliceRows)) === sliceRows,
    async (at) =>
      (await store.tx(({ jobs }) => jobs.forget(at - gaveUpKeptMs, sliceRows))) === sliceRows,
    async (at) =>
      (await store.tx(({ escalations }) =>
        escalations.expire(at - escalationKeptMs, sliceRows),
      )) === sliceRows,
    (at) => store.tx(({ conversations }) => conversations.expire(at, sliceRows)),
    async (at) =>
      (await store.tx(({ acts }) => acts.expire(at - actKeptMs, sliceRows))) === sliceRows,
    async (at) => (await store.tx(({ teams }) => teams.expireInvites(at, sliceRows))) === sliceRows,
    async (at) => (await store.tx(({ emails }) => emails.expireLinks(at, sliceRows))) === sliceRows,
    async (at) => (await store.tx(({ sessions }) => sessions.expire(at, sliceRows))) === sliceRows,
    async (at) =>
      (await store.tx(({ signInLinks }) => signInLinks.expire(at, sliceRows))) === sliceRows,
    async (at) =>
      (await store.tx(({ subscriptions }) =>
        subscriptions.expireEvents(at - paymentEventKeptMs, sliceRows),
      )) === sliceRows,
    (at) => store.tx(({ deliveries }) => deliveries.expire(at - alertsKeptMs, sliceRows)),
    async (at) =>
      (await store.tx(({ results }) => results.expire(at - alertsKeptMs, sliceRows))) === sliceRows,
    async (at) =>
      (await store.tx(({ toolSessions }) => toolSessions.expire(at, sliceRows))) === sliceRows,
    async (at) =>
      (await store.tx(({ hostSessions }) => hostSessions.expire(at, sliceRows))) === sliceRows,
    async (at) =>
      (await store.tx(({ pendingSpans }) => pendingSpans.expire(at - spanKeptMs, sliceRows))) ===
      sliceRows,
    async (at) =>
      (await store.tx(({ hookSettings }) => hookSettings.expire(at, sliceRows))) === sliceRows,
    (at) => store.tx(({ stream }) => stream.expire(at, sliceRows)),
  ]
  return {
    name: kindName,
    everyMs: hourMs,
    leaseMs: 600_000,
    async run({ signal }: JobContext) {
      const at = now()
      let left = slicesARun
      for (const slice of slices) {
        let more = true
        while (more) {
          // The rest is deleted at once by a further run of the job, perhaps on another node.
          if (left === 0 || signal.aborted) return at
          left -= 1
          more = await slice(at)
        }
      }
      await store.db.scrub?.()
      return null
    },
  }
}
