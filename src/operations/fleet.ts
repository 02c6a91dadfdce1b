import { z } from 'zod'
import {
  type Collision,
  collisionFloor,
  collisionsAmong,
  comparedOfMember,
  comparedOfTeam,
  type FleetRun,
  liveRuns,
  maxListedCollisions,
  type Overlap,
  overlapsAmong,
  type Rollup,
  rollUp,
} from '../core/accounts/team.ts'
import { rounded } from '../core/figures.ts'
import { isoTime } from '../core/time.ts'
import type { Team } from '../storage/teams.ts'
import type { Keyed, Service } from './gate/context.ts'
import { inSlices, nextTurn } from './gate/event-loop-turns.ts'
import { time, tokenCount } from './gate/fields.ts'
import { keyed } from './gate/operation.ts'
import { score } from './steps/verdict.ts'
import { teamOf } from './team.ts'

/** The most recent runs with which a member counts. */
const runsOfMember = 200

const rollup = {
  runs: z.int().min(0),
  drifting_runs: z.int().min(0).describe('Runs whose last verdict drifts.'),
  steps: z.int().min(0),
  tokens: tokenCount,
  last_seen: time.nullable().describe('The time of the last step.'),
}

const pair = (of: z.ZodString) => z.tuple([of, of])

const collision = z.strictObject({
  runs: pair(z.string()).describe(
    'Your own runs by their run_id. Runs of other members by a name that only this team knows, unless you own the team or it shares goals.',
  ),
  accounts: pair(z.string()),
  overlap: score,
  grounds: pair(z.string()).optional().describe('Present if the team shares goals.'),
})

/** Returns the totals of the members' runs, and the runs that collide. */
export const readFleet = keyed({
  name: 'team.fleet',
  group: 'team',
  summary: 'The runs of the team’s members, and where they collide.',
  description: `Each member counts with the ${runsOfMember} most recent runs. A collision is two runs of different members whose grounds overlap ${collisionFloor.toFixed(2)} or more. The server compares runs without an outcome and with a step in the last 24 hours: the newest ${comparedOfMember} of each member, and of those the newest ${comparedOfTeam}. \`compared\` is the number of these runs. The answer lists at most ${maxListedCollisions} collisions, the highest overlap first. Without a team the fleet is the account alone.`,
  http: { method: 'GET', path: '/v1/team/fleet' },
  input: z.object({}),
  output: z.strictObject({
    members: z.array(z.strictObject({ account: z.string(), label: z.string(), ...rollup })),
    totals: z.strictObject(rollup),
    collisions: z.array(collision).max(maxListedCollisions),
    compared: z
      .int()
      .min(0)
      .max(comparedOfTeam)
      .describe('The number of live runs that were compared.'),
  }),
})(async (context) => {
  const { store, account, now, findCollisions } = context
  const at = now()
  const team = await teamOf(context)
  const seats =
    team === null ? [{ account: account.id, label: account.id }] : await store.teams.seats(team.id)
  const runs = await readRuns(
    store,
    seats.map((seat) => seat.account),
    at,
  )
  const live = liveRuns(runs, at)
  const collisions = await findCollisions(live)
  return {
    members: seats.map(({ account: member, label }, place) => ({
      account: member,
      label,
      ...shownRollup(rollUp(runs[place] ?? [])),
    })),
    totals: shownRollup(rollUp(runs.flat())),
    collisions: collisions.map((each) => shownCollision(context, team, each)),
    compared: live.length,
  }
})

/** Members whose runs are read in one turn of the event loop. On PostgreSQL their queries are pipelined. */
const membersPerTurn = 4

/** Reads the newest runs of each account. */
async function readRuns(
  { teams }: Pick<Keyed['store'], 'teams'>,
  accounts: readonly string[],
  at: number,
): Promise<FleetRun[][]> {
  const runs: FleetRun[][] = []
  for (let from = 0; from < accounts.length; from += membersPerTurn) {
    if (from > 0) await nextTurn()
    const batch = accounts.slice(from, from + membersPerTurn)
    runs.push(...(await Promise.all(batch.map((each) => teams.runsOf(each, at, runsOfMember)))))
  }
  return runs
}

/** Fleets whose overlaps are cached. */
const cachedFleets = 16

/**
 * Creates `Service.findCollisions`. It compares one fleet after the other, in slices. The overlaps of the
 * last fleets are cached while their runs and grounds stay the same, so that frequent calls cost little.
 */
export function createCollisions(hash: Service['hash']): Service['findCollisions'] {
  const cache = new Map<string, Overlap[]>()
  let last: Promise<unknown> = Promise.resolve()

  async function compare(runs: readonly FleetRun[], key: string): Promise<Overlap[]> {
    const overlaps = cache.get(key) ?? (await inSlices(overlapsAmong(runs)))
    cache.delete(key)
    cache.set(key, overlaps)
    const [oldest] = cache.keys()
    if (cache.size > cachedFleets && oldest !== undefined) cache.delete(oldest)
    return overlaps
  }

  return async (live) => {
    // The order of `live` changes with every step, and the key of the cache must not.
    const keyed = live.map((run) => ({
      run,
      key: JSON.stringify([run.account, run.run_id, run.ground]),
    }))
    keyed.sort((a, b) => (a.key < b.key ? -1 : 1))
    const runs = keyed.map(({ run }) => run)
    const key = hash(keyed.map((each) => each.key).join('\n'))
    const overlaps = last.then(() => compare(runs, key))
    last = overlaps.catch(() => {})
    return collisionsAmong(live, runs, await overlaps)
  }
}

function shownRollup({ last_seen, ...counts }: Rollup) {
  return { ...counts, last_seen: last_seen === null ? null : isoTime(last_seen) }
}

/** Hides the names of other members' runs like their grounds, because a name may tell the goal. */
function shownCollision(
  { account, hash }: Keyed,
  team: Team | null,
  { runs: [a, b], overlap }: Collision,
): z.infer<typeof collision> {
  const shares = team?.share_goals === true
  const nameOf = (run: FleetRun) =>
    shares || run.account === account.id || team?.owner === account.id
      ? run.run_id
      : `run_${hash(JSON.stringify([team?.mask, run.account, run.run_id])).slice(0, 22)}`
  return {
    runs: [nameOf(a), nameOf(b)],
    accounts: [a.account, b.account],
    overlap: rounded(overlap),
    ...(shares ? { grounds: [a.ground ?? '', b.ground ?? ''] as [string, string] } : {}),
  }
}
