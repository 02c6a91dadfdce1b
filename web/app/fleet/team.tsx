import { useSignal } from '@preact/signals'
import { api } from '../api.ts'
import {
  ActionFault,
  AskFirst,
  Secret,
  SelectField,
  Switch,
  TextField,
  useAction,
} from '../controls.tsx'
import { session } from '../session.ts'
import { clock } from '../time.ts'
import { closedIn } from '../words.ts'
import { isOwner, type Team } from './members.tsx'

/** Seats and invites, the name of the team, the sharing of goals, and the way out. */
export function TeamSettings({
  team,
  mayInvite,
  inviteFrom,
  onChanged,
}: {
  team: Team | null
  mayInvite: boolean
  /** The lowest tier that may invite. */
  inviteFrom: string
  onChanged: () => Promise<void>
}) {
  const isMine = isOwner(team)
  return (
    <>
      {team === null && !mayInvite ? (
        <section class="section">
          <h2>Teams need tier {inviteFrom} or above.</h2>
          <p class="says">
            A member who joins a team may have any tier. Checks and history stay free on{' '}
            {session.value?.tier ?? 'ground'}.
          </p>
          <p class="actions">
            <a class="button" href="/app/settings#tier">
              See the tiers
            </a>
          </p>
        </section>
      ) : null}
      {(team === null && mayInvite) || isMine ? <Invite team={team} onChanged={onChanged} /> : null}
      {team === null ? null : <About team={team} isMine={isMine} onChanged={onChanged} />}
      {team === null ? null : <Leave team={team} isMine={isMine} onChanged={onChanged} />}
    </>
  )
}

const validFor = [
  ['24', '1 day'],
  ['72', '3 days'],
  ['168', '7 days'],
  ['720', '30 days'],
] as const

function Invite({ team, onChanged }: { team: Team | null; onChanged: () => Promise<void> }) {
  const label = useSignal('')
  const hours = useSignal('72')
  const inviting = useAction<Awaited<ReturnType<typeof api.invite>>>()
  const code = inviting.answer.value
  const isFull = team !== null && team.seats_max !== null && team.seats_used >= team.seats_max
  return (
    <section class="section">
      <h2>Invite</h2>
      <p class="says">
        {team === null
          ? 'The first invite makes the team.'
          : `${team.seats_used}${team.seats_max === null ? '' : ` of ${team.seats_max}`} seats are taken, pending invites included.`}
      </p>
      <form
        class="team-form"
        onSubmit={async (event) => {
          event.preventDefault()
          const named = label.value.trim()
          const answer = await inviting.run(() =>
            api.invite({
              expires_in_hours: Number(hours.value),
              ...(named === '' ? {} : { label: named }),
            }),
          )
          if (answer === null) return
          label.value = ''
          if (team !== null) await onChanged()
        }}
      >
        <TextField
          label={team === null ? 'Name of the team' : 'Label of the new member'}
          value={label.value}
          autocomplete="off"
          onText={(text) => {
            label.value = text
          }}
        />
        <SelectField
          label="The code is valid for"
          value={hours.value}
          options={validFor}
          onChoose={(chosen) => {
            hours.value = chosen
          }}
        />
        <button
          type="submit"
          class="button primary"
          disabled={inviting.busy.value || isFull || (team === null && code !== null)}
        >
          Make an invite code
        </button>
      </form>
      <ActionFault of={inviting} />
      {code === null ? null : (
        <Secret text={code.code}>
          It is shown this once and gives one account a seat until {clock(code.expires)}.
        </Secret>
      )}
      {team === null && code !== null ? (
        <p class="actions">
          <button type="button" class="button" onClick={onChanged}>
            Show the team
          </button>
        </p>
      ) : null}
    </section>
  )
}

function About({
  team,
  isMine,
  onChanged,
}: {
  team: Team
  isMine: boolean
  onChanged: () => Promise<void>
}) {
  const mine = team.members.find(({ account }) => account === session.value?.account)
  const name = useSignal(team.name)
  const label = useSignal(mine?.label ?? '')
  const saving = useAction()
  async function change(changes: { name?: string; label?: string; share_goals?: boolean }) {
    if ((await saving.run(() => api.changeTeam(changes))) !== null) await onChanged()
  }
  return (
    <section class="section">
      <h2>The team</h2>
      <form
        class="team-form"
        onSubmit={(event) => {
          event.preventDefault()
          void change({
            ...(isMine && name.value.trim() !== team.name ? { name: name.value.trim() } : {}),
            ...(label.value.trim() === (mine?.label ?? '') ? {} : { label: label.value.trim() }),
          })
        }}
      >
        {isMine ? (
          <TextField
            label="Name"
            value={name.value}
            onText={(text) => {
              name.value = text
            }}
          />
        ) : null}
        <TextField
          label="Your label"
          value={label.value}
          onText={(text) => {
            label.value = text
          }}
        />
        <button type="submit" class="button" disabled={saving.busy.value}>
          Save
        </button>
      </form>
      {isMine ? (
        <div class="share-goals">
          <Switch
            label="Members see each other’s goals"
            isOn={team.share_goals}
            onChange={(share_goals) => void change({ share_goals })}
          />
          <span aria-hidden="true">Members see each other’s goals</span>
        </div>
      ) : (
        <p class="hint">
          {team.share_goals
            ? 'Members see each other’s goals.'
            : 'Members see counts of each other’s runs, and no goals.'}
        </p>
      )}
      <p role="status">{saving.answer.value === null ? '' : 'Saved.'}</p>
      <ActionFault of={saving} />
    </section>
  )
}

function Leave({
  team,
  isMine,
  onChanged,
}: {
  team: Team
  isMine: boolean
  onChanged: () => Promise<void>
}) {
  const leaving = useAction()
  const isAlone = team.members.length === 1
  return (
    <section class="section">
      <h2>{isMine ? 'End the team' : 'Leave'}</h2>
      <p class="says">
        {!isMine
          ? 'You give up your seat and keep your runs and your tier.'
          : isAlone
            ? 'The team ends with its invites.'
            : 'Remove the other members first. Their runs stay theirs.'}
      </p>
      {isMine && !isAlone ? null : (
        <p class="actions">
          <AskFirst
            label={isMine ? 'End the team' : 'Leave the team'}
            question={`${isMine ? 'End' : 'Leave'} ${closedIn(team.name)}?`}
            confirm={isMine ? 'End it' : 'Leave'}
            isBusy={leaving.busy.value}
            onConfirm={async () => {
              if ((await leaving.run(() => api.leaveTeam({}))) !== null) await onChanged()
            }}
          />
        </p>
      )}
      <ActionFault of={leaving} />
    </section>
  )
}
