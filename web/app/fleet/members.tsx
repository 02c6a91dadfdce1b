import { api } from '../api.ts'
import { ActionFault, AskFirst, useAction } from '../controls.tsx'
import { session } from '../session.ts'
import { ago, short, whole } from '../time.ts'
import { closedIn } from '../words.ts'

export type Team = NonNullable<Awaited<ReturnType<typeof api.team>>['team']>
export type Fleet = Awaited<ReturnType<typeof api.fleet>>

/** Whether this account owns the team. */
export function isOwner(team: Team | null): boolean {
  return team !== null && team.owner === session.value?.account
}

/** The members with their runs, and the way to remove one. */
export function Members({
  team,
  fleet: { members, totals },
  onChanged,
}: {
  team: Team | null
  fleet: Fleet
  onChanged: () => Promise<void>
}) {
  const removing = useAction()
  const mayRemove = isOwner(team)
  return (
    <section class="section">
      <h2>Members</h2>
      <div class="member-row member-head" aria-hidden="true">
        <span>Member</span>
        <span class="number">Runs</span>
        <span class="number">Drifting</span>
        <span class="number">Steps</span>
        <span class="number">Tokens</span>
        <span class="number">Last seen</span>
        <span />
      </div>
      <ul>
        {members.map((member) => {
          const { account, label } = member
          const role = team?.members.find((each) => each.account === account)?.role
          const isMe = account === session.value?.account
          return (
            <li key={account} class="member-row">
              <span class="member-name">
                <bdi>{label}</bdi>
                <small class="sub-code">
                  {role === undefined ? '' : `${role}, `}
                  {isMe ? 'this account' : account}
                </small>
              </span>
              <Counts of={member} />
              {mayRemove && !isMe ? (
                <div class="member-action">
                  <AskFirst
                    label="Remove"
                    question={`Remove ${closedIn(label)} from the team?`}
                    confirm="Remove"
                    isQuiet
                    isBusy={removing.busy.value}
                    onConfirm={async () => {
                      if ((await removing.run(() => api.removeMember({ account }))) !== null) {
                        await onChanged()
                      }
                    }}
                  />
                </div>
              ) : (
                <span />
              )}
            </li>
          )
        })}
        {members.length > 1 ? (
          <li class="member-row totals">
            <span class="member-name">Together</span>
            <Counts of={totals} />
            <span />
          </li>
        ) : null}
      </ul>
      <ActionFault of={removing} />
    </section>
  )
}

function Counts({ of }: { of: Fleet['totals'] }) {
  const { runs, drifting_runs, steps, tokens, last_seen } = of
  return (
    <>
      <span class="number">
        {whole(runs)}
        <span class="member-unit"> runs</span>
      </span>
      <span class={drifting_runs === 0 ? 'number' : 'number drift-text'}>
        {whole(drifting_runs)}
        <span class="member-unit"> drifting</span>
      </span>
      <span class="number">
        {whole(steps)}
        <span class="member-unit"> steps</span>
      </span>
      <span class="number">
        {tokens === 0 ? '–' : short(tokens)}
        <span class="member-unit"> tokens</span>
      </span>
      <span class="number quiet-text">
        {last_seen === null ? 'never' : <time dateTime={last_seen}>{ago(last_seen)}</time>}
      </span>
    </>
  )
}
