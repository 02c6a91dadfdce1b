import { useSignal } from '@preact/signals'
import { api } from '../api.ts'
import { TextField, useAction } from '../controls.tsx'

/** Takes the seat that an invite code gives. */
export function Join({ onJoined }: { onJoined: () => Promise<void> }) {
  const code = useSignal('')
  const joining = useAction()
  return (
    <section class="section">
      <h2>Join a team</h2>
      <p class="says">You keep your tier and your runs.</p>
      <form
        class="team-form"
        novalidate
        onSubmit={async (event) => {
          event.preventDefault()
          const sent = { code: code.value.trim() }
          if ((await joining.run(() => api.joinTeam(sent))) !== null) await onJoined()
        }}
      >
        <TextField
          label="Invite code"
          value={code.value}
          autocomplete="off"
          spellcheck={false}
          placeholder="inv_…"
          error={joining.fault.value?.says}
          onText={(text) => {
            code.value = text
            joining.clear()
          }}
        />
        <button
          type="submit"
          class="button"
          disabled={joining.busy.value || code.value.trim() === ''}
        >
          Take the seat
        </button>
      </form>
    </section>
  )
}
