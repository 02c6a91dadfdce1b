import { z } from 'zod'
import { hostNames } from '../../core/hosts/host-event.ts'
import { readKept } from '../../core/runs/kept-verdict.ts'
import type { Run } from '../../core/runs/run.ts'
import {
  mostPoints,
  type RunState,
  runStates,
  sparkSteps,
  verdictStates,
} from '../../core/runs/run-state.ts'
import { missingIn, readSearch } from '../../core/runs/search.ts'
import {
  type ListedRun,
  mostCounted,
  mostLookedAt,
  type RunPlace,
  type RunRange,
} from '../../storage/runs/run-index.ts'
import type { Store } from '../../storage/store.ts'
import type { Keyed } from '../gate/context.ts'
import { badRequest } from '../gate/declaration.ts'
import { createSlices, nextTurn } from '../gate/event-loop-turns.ts'
import { cursorFrom, cursorOf, limitField } from '../gate/list.ts'
import { keyed } from '../gate/operation.ts'
import { maxListedParts, outcomes, runSchema, shownRuns } from './runs.ts'
import { findingSchemas, score } from './verdict.ts'

/** The most runs that a list looks at, and the most steps whose goals a search reads. */
const runsLookedAt = 1_000
const stepsSearched = 20_000
const runsAtATime = 200
const stepsAtATime = 500

const stateSchema = z.enum(runStates)

/** A run as a list shows it. */
export const listedRunSchema = runSchema
  .extend({
    state: stateSchema.describe(
      'waiting: an escalation of the run waits for an answer. Otherwise the last verdict on the main agent.',
    ),
    spark: z
      .array(z.tuple([score, z.enum(verdictStates)]))
      .max(mostPoints)
      .describe(
        `The course of the run: phi and state of its steps, ascending, of at most ${mostPoints} evenly spaced ones.`,
      ),
    swap: findingSchemas.swap
      .nullable()
      .describe(
        'What the newest step names or does instead of something of its ground; null if nothing.',
      ),
  })
  .meta({ id: 'ListedRun' })

const count = z.int().min(0).max(mostCounted)

const instant = z.iso.datetime({
  offset: true,
  error: 'send a time such as 2026-01-31T12:00:00Z',
})

/** Lists the runs of the account. */
export const listRuns = keyed({
  name: 'runs.list',
  group: 'detector',
  summary: 'The runs, by their last step, newest first.',
  description: `The list holds every run within its retention. One call looks at ${runsLookedAt} runs at most, and a search reads the goals of ${stepsSearched} steps at most. A page of a filtered list can therefore hold fewer runs than \`limit\`, even none, and still have a \`next_cursor\`. \`counts\` holds the runs of the whole list in each state, without regard to the filters, each up to ${mostCounted}; a state is counted among its newest ${mostLookedAt} runs, and calm among the newest ${mostLookedAt} of all.`,
  http: { method: 'GET', path: '/v1/drift/runs' },
  input: z.object({
    q: z
      .string()
      .max(200, 'send at most 200 characters')
      .optional()
      .describe(
        `Runs whose requests of the user and goals hold all these words, in any case, also as parts of words. Of a run the first ${stepsSearched} steps count.`,
      ),
    state: z.enum(runStates, `send ${runStates.join(', ')}`).optional(),
    drifting: z.enum(['true', 'false'], 'send true or false').optional(),
    outcome: z.enum(outcomes, `send ${outcomes.join(', ')}`).optional(),
    finished: z
      .enum(['true', 'false'], 'send true or false')
      .optional()
      .describe('Runs that have an outcome, or have none.'),
    host: z
      .enum(hostNames, `send ${hostNames.join(', ')}`)
      .optional()
      .describe('Runs that the hooks of this host show.'),
    since: instant.optional().describe('Runs updated at or after this time.'),
    until: instant.optional().describe('Runs updated before this time.'),
    limit: limitField(200, 50),
    cursor: z.string().optional(),
  }),
  output: z.strictObject({
    runs: z.array(listedRunSchema),
    counts: z.strictObject({
      waiting: count,
      drifting: count,
      uncertain: count,
      calm: count,
      finished: count.describe('Runs that have an outcome, whatever their state.'),
    }),
    next_cursor: z.string().nullable(),
  }),
  refusals: [badRequest],
})(async (context, { limit, cursor, ...asked }) => {
  const { store, account, now } = context
  const filter = filterOf(asked)
  const after = cursorFrom(cursor, z.object({ updated: z.int(), run_id: z.string() }))
  const { found, next } = await findRuns(context, filter, limit, after)
  const [runs, counts] = await Promise.all([
    shownListed(store, account.id, found, now()),
    store.runs.countListed(account.id, now()),
  ])
  return { runs, counts, next_cursor: next === null ? null : cursorOf(next) }
})

/** What is asked of a run for it to be listed. */
interface Asked {
  q?: string | undefined
  state?: RunState | undefined
  drifting?: 'true' | 'false' | undefined
  outcome?: string | undefined
  finished?: 'true' | 'false' | undefined
  host?: string | undefined
  since?: string | undefined
  until?: string | undefined
}

function filterOf({ q, state, drifting, outcome, finished, host, since, until }: Asked): Filter {
  return {
    words: readSearch(q ?? ''),
    state: state ?? null,
    drifting: drifting === undefined ? null : drifting === 'true',
    outcome: outcome ?? null,
    finished: finished === undefined ? null : finished === 'true',
    host: host ?? null,
    since: since === undefined ? 0 : Date.parse(since),
    until: until === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(until),
  }
}

/** Shows runs as a list does. */
export async function shownListed(
  store: Store,
  account: string,
  found: readonly ListedRun[],
  at: number,
): Promise<z.infer<typeof listedRunSchema>[]> {
  const runs = found.map(({ run }) => run)
  const [shown, ...sparks] = await Promise.all([
    shownRuns(store, account, runs, { most: maxListedParts, at }),
    ...runs.map(({ run_id, steps }) => store.runs.spark(account, run_id, sparkSteps(steps))),
  ])
  return shown.flatMap((run, place) => {
    const [each, course] = [found[place], sparks[place]]
    if (each === undefined || course === undefined) return []
    const spark = course.points.map(({ phi, state }): [number, typeof state] => [phi, state])
    return [{ ...run, state: each.state, spark, swap: readKept(course.verdict).swap }]
  })
}

interface Filter extends Omit<RunRange, 'kind'> {
  /** The words of a search; an empty list finds all runs. */
  words: readonly string[]
  state: RunState | null
  drifting: boolean | null
  outcome: string | null
  finished: boolean | null
  host: string | null
}

/**
 * Finds the next `limit` runs that match. `next` is the last run looked at, from which the next call goes on;
 * null at the end.
 */
async function findRuns(
  { store, account, now }: Keyed,
  filter: Filter,
  limit: number,
  from: RunPlace | null,
): Promise<{ found: ListedRun[]; next: RunPlace | null }> {
  const at = now()
  const search = createSearch(store, account.id, filter.words)
  const range = { ...filter, kind: kindOf(filter) }
  const found: ListedRun[] = []
  let place = from
  let looked = 0
  while (looked < runsLookedAt) {
    // Without a filter, the first read finds the whole page.
    const wanted = Math.min(looked === 0 ? limit + 1 : runsAtATime, runsLookedAt - looked)
    const runs = await store.runs.list(account.id, range, wanted, place)
    for (const each of runs) {
      const { run } = each
      const isListed = run.expires > at && run.steps > 0 && isWanted(each, filter)
      const holds = isListed && (await search(run))
      if (holds === 'unknown' || (holds && found.length === limit)) return { found, next: place }
      if (holds) found.push(each)
      place = { updated: run.updated, run_id: run.run_id }
    }
    if (runs.length < wanted) return { found, next: null }
    looked += runs.length
    await nextTurn()
  }
  return { found, next: place }
}

/** The kind of runs that a filter is looked for among: one that few runs are of, if there is one. */
function kindOf({ state, drifting, finished }: Filter): RunRange['kind'] {
  if (state !== null && state !== 'calm') return state
  if (drifting === true) return 'drifting'
  return finished === true ? 'finished' : state
}

function isWanted({ run, state }: ListedRun, filter: Filter): boolean {
  return (
    (filter.state ?? state) === state &&
    (filter.drifting ?? run.drifting) === run.drifting &&
    (filter.outcome === null || filter.outcome === (run.outcome ?? 'unknown')) &&
    (filter.finished ?? run.outcome !== null) === (run.outcome !== null) &&
    (filter.host === null || filter.host === run.host)
  )
}

/**
 * Creates the search of one call. It says whether the texts of a run hold all words, or `unknown` when the
 * call has read as many steps as it may; then the next call reads the run. Of a run that alone is too long
 * for a call, it reads the first steps.
 */
function createSearch(store: Store, account: string, words: readonly string[]) {
  const slice = createSlices()
  let read = 0
  return async ({ run_id, ground, assignment, steps }: Run): Promise<boolean | 'unknown'> => {
    if (words.length === 0) return true
    const requests = [ground ?? '', ...(assignment ?? []).map(({ text }) => text)]
    let missing = missingIn(requests.join('\n'), words)
    const isFirst = read === 0
    for (let after = 0; missing.length > 0 && after < steps; ) {
      const limit = Math.min(stepsAtATime, stepsSearched - read)
      if (limit === 0) return isFirst ? false : 'unknown'
      const goals = await store.runs.goals(account, run_id, after, limit)
      read += goals.length
      for (const { goal } of goals) {
        await slice(goal)
        missing = missingIn(goal, missing)
      }
      after = goals.at(-1)?.step ?? steps
    }
    return missing.length === 0
  }
}
