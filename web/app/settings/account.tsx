import { useSignal } from '@preact/signals'
import { api } from '../api.ts'
import { ActionFault, AskFirst, Section, TextField, useAction } from '../controls.tsx'
import { closeStream } from '../live.ts'
import { clock, counted } from '../time.ts'

export type Me = Awaited<ReturnType<typeof api.me>>

/** The mail address of the account, and whether it is confirmed. */
export function Address({ me, onChanged }: { me: Me; onChanged: () => Promise<void> }) {
  const email = useSignal(me.email ?? '')
  const saving = useAction<Awaited<ReturnType<typeof api.setEmail>>>()
  const wanted = email.value.trim()
  const state =
    me.email === null
      ? 'Digests and notices go there once you have followed the link in the first mail.'
      : me.email_verified
        ? 'Confirmed.'
        : 'Not confirmed yet. Follow the link in the mail; it is valid for 24 hours.'
  return (
    <Section title="Mail address" id="address">
      <form
        novalidate
        onSubmit={async (event) => {
          event.preventDefault()
          if ((await saving.run(() => api.setEmail({ email: wanted || null }))) !== null) {
            await onChanged()
          }
        }}
      >
        <TextField
          label="Address"
          type="email"
          autocomplete="email"
          value={email.value}
          hint={state}
          error={saving.fault.value?.says}
          onText={(text) => {
            email.value = text
            saving.clear()
          }}
        >
          <button
            type="submit"
            class="button"
            disabled={saving.busy.value || (wanted === '' && me.email === null)}
          >
            {wanted === (me.email ?? '') && me.email !== null && !me.email_verified
              ? 'Send the link again'
              : 'Save the address'}
          </button>
        </TextField>
        <p role="status">{saving.answer.value === null ? '' : saysOfSaved(saving.answer.value)}</p>
      </form>
    </Section>
  )
}

function saysOfSaved({ email, verified }: { email: string | null; verified: boolean }): string {
  if (email === null) return 'The address is removed.'
  return verified ? 'Saved.' : `A link is on its way to ${email}.`
}

/** What the account may take with it. */
export function Export() {
  return (
    <Section
      title="Export"
      says="JSON Lines, made while you download it. Nothing is removed by an export."
      id="export"
    >
      <p class="actions">
        <a class="button" href="/v1/export" download="plumbline-runs.ndjson">
          Runs and steps
        </a>
        <a class="button" href="/v1/me/export" download="plumbline-account.ndjson">
          Everything the account has
        </a>
      </p>
    </Section>
  )
}

/** Ends the session of this browser. */
export function SignOut({ me }: { me: Me }) {
  const leaving = useAction()
  return (
    <Section
      title="This browser"
      says={
        <>
          Signed in as <code>{me.account}</code>. Keys stay valid after you sign out.
        </>
      }
      action={
        <button
          type="button"
          class="button"
          disabled={leaving.busy.value}
          onClick={() =>
            leaving.run(async () => {
              await api.signOut()
              closeStream()
              // Loads anew, so that the next person sees nothing of this account.
              location.assign('/signin')
            })
          }
        >
          Sign out
        </button>
      }
    >
      <ActionFault of={leaving} />
    </Section>
  )
}

export type Erased = Awaited<ReturnType<typeof api.deleteMe>>

/** Erases the account, after the person has typed its id. */
export function Erase({ me, onErased }: { me: Me; onErased: (erased: Erased) => void }) {
  const typed = useSignal('')
  const erasing = useAction<Erased>()
  const isSame = typed.value.trim() === me.account
  return (
    <Section
      title="Erase the account"
      says="Runs, escalations, alerts, labels, keys and this address are deleted. Nobody can bring them back."
      id="erase"
    >
      <TextField
        label={
          <>
            Type <code>{me.account}</code> to confirm
          </>
        }
        autocomplete="off"
        spellcheck={false}
        value={typed.value}
        onText={(text) => {
          typed.value = text
        }}
      >
        {isSame ? (
          <AskFirst
            label="Erase the account"
            question="Erase the account with all that belongs to it?"
            confirm="Erase everything"
            isBusy={erasing.busy.value}
            onConfirm={async () => {
              const erased = await erasing.run(() => api.deleteMe({ confirm: me.account }))
              if (erased === null) return
              closeStream()
              onErased(erased)
            }}
          />
        ) : (
          <button type="button" class="button danger" disabled>
            Erase the account
          </button>
        )}
      </TextField>
      <ActionFault of={erasing} />
    </Section>
  )
}

const erasedNames: readonly (readonly [keyof Erased['erased'], string, string?])[] = [
  ['keys', 'key'],
  ['runs', 'run'],
  ['steps', 'step'],
  ['conversations', 'conversation'],
  ['escalations', 'escalation'],
  ['selves', 'self', 'selves'],
  ['templates', 'template'],
  ['alerts', 'alert'],
]

/** What was erased, and by when the last of it is gone. */
export function ErasedNotice({ of: { account, erased, gone_by } }: { of: Erased }) {
  return (
    <div class="notice" role="status">
      <h2>The account is erased.</h2>
      <p>
        <code>{account}</code> and its keys work no more. The last row is gone by {clock(gone_by)}.
      </p>
      <ul class="erased">
        {erasedNames.map(([name, one, many]) => (
          <li key={name}>{counted(erased[name], one, many)}</li>
        ))}
      </ul>
      <p class="actions">
        <a class="button" href="/">
          Leave
        </a>
      </p>
    </div>
  )
}
