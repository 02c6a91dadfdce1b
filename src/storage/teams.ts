import type { FleetRun } from '../core/accounts/team.ts'
import type { Queries } from './database/database.ts'

/** A team. Its seats are those of its owner's tier. */
export interface Team {
  id: string
  /** The account that pays for it. */
  owner: string
  name: string
  share_goals: boolean
  /** The secret that hides the names of other members' runs. */
  mask: string
  /** Milliseconds since 1970. */
  created: number
}

/** A seat of a member. */
export interface Seat {
  account: string
  team: string
  label: string
  role: 'owner' | 'member'
  /** Milliseconds since 1970. */
  joined: number
}

/** A stored invite, without its code. */
export interface Invite {
  hash: string
  team: string
  /** The default label of the person who joins. */
  label: string | null
  /** Milliseconds since 1970. */
  expires: number
}

/** Teams, their seats and invites. An account has at most one seat. */
export interface Teams {
  /** Lists the accounts of the same team, or only this account if it has no team. */
  membersOf(account: string): Promise<string[]>
  seatOf(account: string): Promise<Seat | null>
  find(team: string): Promise<Team | null>
  /** Lists the seats: the owner first, then by the time of joining. */
  seats(team: string): Promise<Seat[]>
  /** Locks the team until the transaction ends, and returns whether it exists. */
  lock(team: string): Promise<boolean>
  /** Creates a team with the seat of its owner; returns false if the owner has a seat already. */
  create(team: Team, label: string): Promise<boolean>
  /** Sets the fields that are not null. */
  change(team: string, name: string | null, shareGoals: boolean | null): Promise<void>
  /** Sets the label of a seat. */
  rename(account: string, label: string): Promise<void>
  /** Adds a seat; returns false if the account has one already. */
  addSeat(seat: Seat): Promise<boolean>
  /** Deletes the seat and returns whether the account had one in the team. */
  removeSeat(team: string, account: string): Promise<boolean>
  /** Deletes the team with its seats and invites. */
  dissolve(team: string): Promise<void>
  addInvite(invite: Invite): Promise<void>
  /** Finds an invite; null if it is unknown, used or expired. */
  findInvite(hash: string, now: number): Promise<Invite | null>
  /** Uses up an invite; of concurrent calls, one returns true. */
  takeInvite(hash: string, now: number): Promise<boolean>
  countInvites(team: string, now: number): Promise<number>
  /** Deletes at most `limit` invites that expired at `now` or before and returns their number. */
  expireInvites(now: number, limit: number): Promise<number>
  /** Lists the most recent runs of an account that have not expired, newest first. */
  runsOf(account: string, now: number, limit: number): Promise<FleetRun[]>
}

/** Creates the teams on a database or a transaction. */
export function createTeams(db: Queries): Teams {
  const teams: Teams = {
    async membersOf(account) {
      const rows = await db.all<{ account: string }>(
        `SELECT account FROM team_seats
         WHERE team = (SELECT team FROM team_seats WHERE account = ?) ORDER BY account`,
        account,
      )
      return rows.length === 0 ? [account] : rows.map((row) => row.account)
    },
    async seatOf(account) {
      const row = await db.get<Seat>(
        'SELECT account, team, label, role, joined FROM team_seats WHERE account = ?',
        account,
      )
      return row ?? null
    },
    async find(team) {
      const row = await db.get<Omit<Team, 'share_goals'> & { share_goals: number }>(
        `SELECT id, account AS owner, name, share_goals, mask, created FROM teams WHERE id = ?`,
        team,
      )
      return row === undefined ? null : { ...row, share_goals: row.share_goals === 1 }
    },
    seats: (team) =>
      db.all<Seat>(
        `SELECT account, team, label, role, joined FROM team_seats WHERE team = ?
         ORDER BY CASE role WHEN 'owner' THEN 0 ELSE 1 END, joined, account`,
        team,
      ),
    async lock(team) {
      return (await db.run('UPDATE teams SET created = created WHERE id = ?', team)) > 0
    },
    async create({ id, owner, name, share_goals, mask, created }, label) {
      const seat: Seat = { account: owner, team: id, label, role: 'owner', joined: created }
      if (!(await teams.addSeat(seat))) return false
      await db.run(
        'INSERT INTO teams (id, account, name, share_goals, mask, created) VALUES (?, ?, ?, ?, ?, ?)',
        id,
        owner,
        name,
        share_goals ? 1 : 0,
        mask,
        created,
      )
      return true
    },
    async change(team, name, shareGoals) {
      await db.run(
        `UPDATE teams SET name = COALESCE(CAST(? AS TEXT), name),
           share_goals = COALESCE(CAST(? AS BIGINT), share_goals) WHERE id = ?`,
        name,
        shareGoals === null ? null : Number(shareGoals),
        team,
      )
    },
    async rename(account, label) {
      await db.run('UPDATE team_seats SET label = ? WHERE account = ?', label, account)
    },
    async addSeat({ account, team, label, role, joined }) {
      const added = await db.run(
        `INSERT INTO team_seats (account, team, label, role, joined) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (account) DO NOTHING`,
        account,
        team,
        label,
        role,
        joined,
      )
      return added > 0
    },
    async removeSeat(team, account) {
      const gone = await db.run(
        'DELETE FROM team_seats WHERE team = ? AND account = ?',
        team,
        account,
      )
      return gone > 0
    },
    async dissolve(team) {
      await db.run('DELETE FROM team_invites WHERE team = ?', team)
      await db.run('DELETE FROM team_seats WHERE team = ?', team)
      await db.run('DELETE FROM teams WHERE id = ?', team)
    },
    async addInvite({ hash, team, label, expires }) {
      await db.run(
        'INSERT INTO team_invites (hash, team, label, expires) VALUES (?, ?, ?, ?)',
        hash,
        team,
        label,
        expires,
      )
    },
    async findInvite(hash, now) {
      const row = await db.get<Invite>(
        'SELECT hash, team, label, expires FROM team_invites WHERE hash = ? AND expires > ?',
        hash,
        now,
      )
      return row ?? null
    },
    async takeInvite(hash, now) {
      const taken = await db.run(
        'DELETE FROM team_invites WHERE hash = ? AND expires > ?',
        hash,
        now,
      )
      return taken > 0
    },
    async countInvites(team, now) {
      const row = await db.get<{ count: number }>(
        'SELECT COUNT(*) AS count FROM team_invites WHERE team = ? AND expires > ?',
        team,
        now,
      )
      return row?.count ?? 0
    },
    expireInvites: (now, limit) =>
      db.run(
        `DELETE FROM team_invites WHERE hash IN (
           SELECT hash FROM team_invites WHERE expires <= ? ORDER BY expires LIMIT ?
         )`,
        now,
        limit,
      ),
    async runsOf(account, now, limit) {
      const rows = await db.all<StoredRun>(
        `SELECT account, run_id, ground, steps, drifting, tokens, outcome, updated, expires
         FROM runs WHERE account = ? ORDER BY updated DESC, run_id DESC LIMIT ?`,
        account,
        limit,
      )
      return rows
        .filter(({ expires, steps }) => expires > now && steps > 0)
        .map(({ expires: _, drifting, ...run }) => ({ ...run, drifting: drifting === 1 }))
    },
  }
  return teams
}

interface StoredRun extends Omit<FleetRun, 'drifting'> {
  drifting: number
  expires: number
}
