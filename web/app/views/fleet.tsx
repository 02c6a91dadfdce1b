import '../controls.css'
import '../fleet/fleet.css'
import { api } from '../api.ts'
import { Collisions } from '../fleet/collisions.tsx'
import { Join } from '../fleet/join.tsx'
import { Members } from '../fleet/members.tsx'
import { TeamSettings } from '../fleet/team.tsx'
import { seldomMs, useLiveReading } from '../live-reading.ts'
import { Shown, useResource } from '../resource.tsx'
import { session } from '../session.ts'
import { Top } from '../shell.tsx'
import { counted, inWords } from '../time.ts'

/** The team: its seats, its runs, and where they collide. */
export default function Fleet() {
  const read = useResource(async () => {
    const [{ team }, fleet, { tiers }] = await Promise.all([api.team(), api.fleet(), api.tiers()])
    const seats = tiers.find(({ name }) => name === session.value?.tier)?.seats
    return {
      team,
      fleet,
      // The tier may have seats for others, or no limit of them.
      mayInvite: seats === null || (seats ?? 1) > 1,
      inviteFrom: tiers.find((tier) => tier.seats === null || tier.seats > 1)?.name ?? 'group',
    }
  })
  useLiveReading(read.read, ['run'], seldomMs)
  return (
    <>
      <Top title={<h1>Fleet</h1>} live />
      <Shown of={read} thing="fleet">
        {({ team, fleet, mayInvite, inviteFrom }) => (
          <div class="fleet-page">
            <h2 class="page-sentence">
              {team === null
                ? 'This account is alone.'
                : `${inWords(team.members.length)} ${team.members.length === 1 ? 'member' : 'members'} of `}
              {team === null ? null : <bdi>{team.name}</bdi>}
              {team === null ? null : '.'}
            </h2>
            <p class="says">{saysOfCollisions(fleet.collisions.length, fleet.compared)}</p>
            <div class="fleet">
              <div>
                <Members team={team} fleet={fleet} onChanged={read.read} />
                <Collisions fleet={fleet} />
              </div>
              <div>
                <TeamSettings
                  key={team?.name ?? ''}
                  team={team}
                  mayInvite={mayInvite}
                  inviteFrom={inviteFrom}
                  onChanged={read.read}
                />
                {team === null ? <Join onJoined={read.read} /> : null}
              </div>
            </div>
          </div>
        )}
      </Shown>
    </>
  )
}

function saysOfCollisions(collisions: number, compared: number): string {
  const of = `${counted(compared, 'live run')} ${compared === 1 ? 'was' : 'were'} compared`
  if (collisions === 0) return `${of}; no two members work on the same errand.`
  const work = collisions === 1 ? 'works' : 'work'
  return `${of}; ${counted(collisions, 'pair')} of members ${work} on nearly the same errand.`
}
