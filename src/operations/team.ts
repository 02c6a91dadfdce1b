import { z } from 'zod'
import { mayInvite } from '../core/accounts/team.ts'
import { tierNamed } from '../core/accounts/tiers.ts'
import { hourMs, isoTime } from '../core/time.ts'
import type { Store } from '../storage/store.ts'
import type { Seat, Team } from '../storage/teams.ts'
import type { Keyed, Service } from './gate/context.ts'
import { badRequest, describeRefusal } from './gate/declaration.ts'
import { idField, okAnswer, time } from './gate/fields.ts'
import { lenient } from './gate/lenient.ts'
import { keyed } from './gate/operation.ts'
import { Refusal } from './gate/refusal.ts'

const longestInviteHours = 720
const invitePaid =
  'Teams are a feature of group and above. A member who joins a team may have any tier.'

const teamSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    owner: z.string().describe('The account of the owner.'),
    seats_used: z.int().min(1).describe('The number of members and pending invites.'),
    seats_max: z
      .int()
      .min(1)
      .nullable()
      .describe('The seats of the owner’s current tier; null is unlimited.'),
    share_goals: z.boolean().describe('Whether members see each other’s goals.'),
    members: z.array(
      z.strictObject({
        account: z.string(),
        label: z.string(),
        role: z.enum(['owner', 'member']),
        joined: time,
      }),
    ),
  })
  .meta({ id: 'Team' })

const forbidden = describeRefusal(403, 'forbidden', 'The account does not own a team.')

const hoursFault = `send a number of hours from 1 to ${longestInviteHours}`

/** Returns the team of the account. */
export const readTeam = keyed({
  name: 'team.read',
  group: 'team',
  summary: 'The team of this account with its seats, or null.',
  http: { method: 'GET', path: '/v1/team' },
  input: z.object({}),
  output: z.strictObject({ team: teamSchema.nullable() }),
})(async (context) => {
  const team = await teamOf(context)
  return { team: team === null ? null : await shownTeam(context, team) }
})

/** Changes the name of the team, its sharing of goals, or the label of the caller's seat. */
export const changeTeam = keyed({
  name: 'team.change',
  group: 'team',
  summary: 'Change the name of the team, its sharing of goals, or your own label.',
  description:
    'A member may set only its own `label`. With `share_goals` every member sees the grounds and names of the other members’ live runs where these collide. It is off unless the owner turned it on.',
  http: { method: 'POST', path: '/v1/team' },
  input: z.object({
    name: idField().nullish(),
    share_goals: z.boolean('send true or false').nullish(),
    label: idField().nullish().describe('The name of this account in the team.'),
  }),
  output: z.strictObject({ ok: z.literal(true), team: teamSchema }),
  refusals: [badRequest, forbidden],
})((context, { name, share_goals, label }) =>
  context.store.tx(async (store) => {
    const team = await teamOf({ ...context, store })
    const onlyLabel = (name ?? null) === null && (share_goals ?? null) === null
    if (team === null || !(onlyLabel || isOwner(context, team))) throw notOwner()
    await store.teams.change(team.id, name ?? null, share_goals ?? null)
    if ((label ?? null) !== null) await store.teams.rename(context.account.id, label ?? '')
    const changed = await store.teams.find(team.id)
    return { ok: true as const, team: await shownTeam({ ...context, store }, changed ?? team) }
  }),
)

/** Creates an invite. The first invite creates the team. */
export const invite = keyed({
  name: 'team.invite',
  group: 'team',
  summary: 'Create a code that gives one account a seat. Only this answer shows the code.',
  description:
    'The first invite creates the team. Its `label` becomes your own label and the name of the team; without a label the team is named after your account. The `label` of a later invite is the default label of the person who joins. A pending invite holds a seat until it is used or expires.',
  http: { method: 'POST', path: '/v1/team/invite' },
  secret: true,
  input: z.object({
    label: idField().nullish(),
    expires_in_hours: z
      .number(hoursFault)
      .min(1, hoursFault)
      .max(longestInviteHours, hoursFault)
      .default(72),
  }),
  output: z.strictObject({ code: z.string(), expires: time }),
  status: 201,
  refusals: [
    badRequest,
    {
      ...describeRefusal(402, 'upgrade_required', 'The tier of the account is below `group`.'),
      fields: { detail: z.string(), upgrade: z.string() },
    },
    describeRefusal(403, 'forbidden', 'The account has a seat in another account’s team.'),
    describeRefusal(409, 'conflict', 'All seats of the tier are taken.'),
  ],
})((context, { label, expires_in_hours }) =>
  context.store.tx(async (store) => {
    const { account, settings, now, newId, hash } = context
    const at = now()
    await store.accounts.lock(account.id)
    const own = await teamOf({ ...context, store })
    if (own !== null && !isOwner(context, own)) throw notOwner()
    if (!mayInvite(account.tier)) {
      throw new Refusal(402, 'upgrade_required', {
        detail: invitePaid,
        upgrade: settings.upgradeUrl(),
      })
    }
    const team = own ?? (await createTeam({ ...context, store }, label ?? account.id))
    await store.teams.lock(team.id)
    await refuseFull({ ...context, store }, team)
    const code = newId('inv')
    const expires = at + Math.round(expires_in_hours * hourMs)
    await store.teams.addInvite({
      hash: hash(code),
      team: team.id,
      label: own === null ? null : (label ?? null),
      expires,
    })
    return { code, expires: isoTime(expires) }
  }),
)

/** Takes the seat of an invite code. */
export const joinTeam = keyed({
  name: 'team.join',
  group: 'team',
  summary: 'Take the seat that an invite code gives. You keep your tier.',
  description: 'A code stays valid after a 409.',
  http: { method: 'POST', path: '/v1/team/join' },
  input: z.object({
    code: idField().describe('From POST /v1/team/invite.'),
    label: idField().nullish().describe('Your name in the team.'),
  }),
  output: z.strictObject({ ok: z.literal(true), team: teamSchema }),
  refusals: [
    badRequest,
    describeRefusal(404, 'no_invite', 'The code is unknown, used or expired.'),
    describeRefusal(409, 'conflict', 'The account has a seat, owns a team, or the team is full.'),
  ],
})((context, { code, label }) =>
  context.store.tx(async (store) => {
    const { account, now, hash } = context
    const { teams } = store
    const at = now()
    await store.accounts.lock(account.id)
    const found = await teams.findInvite(hash(code.trim()), at)
    // The lock of the team comes before the invite, in the order of all transactions that change its seats.
    const isLocked = found !== null && (await teams.lock(found.team))
    const team = isLocked ? await teams.find(found.team) : null
    if (found === null || team === null || !(await teams.takeInvite(found.hash, at))) {
      throw new Refusal(404, 'no_invite', {
        detail:
          'There is no such invite, or it was used, or it has expired. Ask the owner for another one.',
      })
    }
    // A refusal from here on rolls back, and the code stays valid.
    const seat = await teams.seatOf(account.id)
    if (seat !== null) throw alreadySeated(seat)
    await refuseFull({ ...context, store }, team)
    await teams.addSeat({
      account: account.id,
      team: team.id,
      label: label ?? found.label ?? account.id,
      role: 'member',
      joined: at,
    })
    return { ok: true as const, team: await shownTeam({ ...context, store }, team) }
  }),
)

/** Gives up the caller's seat. */
export const leaveTeam = keyed({
  name: 'team.leave',
  group: 'team',
  summary: 'Give up your seat. If the owner is alone, the team ends with its invites.',
  http: { method: 'POST', path: '/v1/team/leave' },
  input: lenient(z.object({})),
  output: okAnswer,
  refusals: [
    describeRefusal(404, 'no_seat', 'The account has no seat.'),
    describeRefusal(409, 'conflict', 'The account owns the team, and the team has members.'),
  ],
})((context) =>
  context.store.tx(async (store) => {
    const { account } = context
    await store.accounts.lock(account.id)
    const team = await teamOf({ ...context, store })
    if (team === null) throw noSeat('This account has no seat in a team.')
    await store.teams.lock(team.id)
    if (!isOwner(context, team)) {
      await store.teams.removeSeat(team.id, account.id)
      return { ok: true as const }
    }
    if ((await store.teams.seats(team.id)).length > 1) {
      throw new Refusal(409, 'conflict', {
        detail: 'You own this team, and it has members. Remove them first with POST /v1/team/seat.',
      })
    }
    await store.teams.dissolve(team.id)
    return { ok: true as const }
  }),
)

/** Removes a member. */
export const removeMember = keyed({
  name: 'team.remove',
  group: 'team',
  summary: 'Remove a member from your team.',
  http: { method: 'POST', path: '/v1/team/seat' },
  input: z.object({ account: idField().describe('From GET /v1/team.') }),
  output: okAnswer,
  refusals: [
    badRequest,
    forbidden,
    describeRefusal(404, 'no_seat', 'The account has no seat in your team.'),
    describeRefusal(409, 'conflict', 'The seat is your own.'),
  ],
})((context, { account }) =>
  context.store.tx(async (store) => {
    const team = await teamOf({ ...context, store })
    if (team === null || !isOwner(context, team)) throw notOwner()
    if (account === team.owner) {
      throw new Refusal(409, 'conflict', {
        detail: 'This is your own seat. Give it up with POST /v1/team/leave.',
      })
    }
    await store.teams.lock(team.id)
    if (await store.teams.removeSeat(team.id, account)) return { ok: true as const }
    throw noSeat('This account has no seat in your team. GET /v1/team lists its members.')
  }),
)

/** Finds the team of the caller, or null. */
export async function teamOf({
  store,
  account,
}: Pick<Keyed, 'store' | 'account'>): Promise<Team | null> {
  const seat = await store.teams.seatOf(account.id)
  return seat === null ? null : store.teams.find(seat.team)
}

function isOwner({ account }: Pick<Keyed, 'account'>, { owner }: Team): boolean {
  return owner === account.id
}

/** Creates the team of the caller, whose account is locked and has no seat. */
async function createTeam({ store, account, now, newId }: Keyed, label: string): Promise<Team> {
  const team: Team = {
    id: newId('team'),
    owner: account.id,
    name: label,
    share_goals: false,
    mask: newId('mask'),
    created: now(),
  }
  if (!(await store.teams.create(team, label))) throw new Error('a locked account took a seat')
  return team
}

/** Refuses if all seats of the owner's current tier are taken (409). */
async function refuseFull(
  context: Pick<Service, 'settings' | 'now'> & { store: Store },
  team: Team,
) {
  const { seats_used, seats_max } = await seatsOf(context, team)
  if (seats_max === null || seats_used < seats_max) return
  throw new Refusal(409, 'conflict', {
    detail: `All ${seats_max} seats of this team are taken by members and pending invites. The owner can free one with POST /v1/team/seat, or choose a higher tier.`,
  })
}

async function seatsOf(
  { store, settings, now }: Pick<Service, 'settings' | 'now'> & { store: Store },
  team: Team,
): Promise<{ seats: Seat[]; seats_used: number; seats_max: number | null }> {
  const seats = await store.teams.seats(team.id)
  const pending = await store.teams.countInvites(team.id, now())
  const owner = await store.accounts.find(team.owner)
  const seats_max = owner === null ? 1 : tierNamed(settings.tiers, owner.tier).seats
  return { seats, seats_used: seats.length + pending, seats_max }
}

async function shownTeam(
  context: Pick<Service, 'settings' | 'now'> & { store: Store },
  team: Team,
): Promise<z.infer<typeof teamSchema>> {
  const { seats, ...counts } = await seatsOf(context, team)
  return {
    id: team.id,
    name: team.name,
    owner: team.owner,
    ...counts,
    share_goals: team.share_goals,
    members: seats.map(({ account, label, role, joined }) => ({
      account,
      label,
      role,
      joined: isoTime(joined),
    })),
  }
}

function alreadySeated({ role }: Seat): Refusal {
  return new Refusal(409, 'conflict', {
    detail: `This account ${role === 'owner' ? 'owns a team' : 'has a seat in a team'}. Leave it first with POST /v1/team/leave. The code stays valid.`,
  })
}

function notOwner(): Refusal {
  return new Refusal(403, 'forbidden', { detail: 'Only the owner of a team may do this.' })
}

function noSeat(detail: string): Refusal {
  return new Refusal(404, 'no_seat', { detail })
}
