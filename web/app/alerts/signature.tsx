import { api } from '../api.ts'
import { ActionFault, AskFirst, Secret, useAction } from '../controls.tsx'
import { clock } from '../time.ts'

/** The secret that signs the events: made, shown once, deleted. */
export function Signature() {
  const made = useAction<Awaited<ReturnType<typeof api.rotateAlertSecret>>>()
  const gone = useAction()
  const secret = made.answer.value
  return (
    <section class="section signature">
      <div class="section-head">
        <div>
          <h2>Signature</h2>
          <p class="says">Events are unsigned until you make a secret. It is shown once.</p>
        </div>
        <div class="ask">
          <AskFirst
            label="Delete the secret"
            question="Delete the secret? Events go out unsigned at once."
            confirm="Delete"
            isQuiet
            isBusy={gone.busy.value}
            onConfirm={() => {
              made.clear()
              return gone.run(() => api.deleteAlertSecret())
            }}
          />
          <button
            type="button"
            class="button"
            disabled={made.busy.value}
            onClick={() => {
              gone.clear()
              void made.run(() => api.rotateAlertSecret())
            }}
          >
            Make a secret
          </button>
        </div>
      </div>
      <ActionFault of={made} />
      <ActionFault of={gone} />
      {gone.answer.value === null ? null : (
        <p role="status">The secret is deleted. Events are unsigned.</p>
      )}
      {secret === null ? null : (
        <Secret text={secret.secret}>
          It is shown this once. Events are signed with it from now on.
          {secret.old_secret_until === null
            ? ''
            : ` The old secret signs too until ${clock(secret.old_secret_until)}.`}
        </Secret>
      )}
    </section>
  )
}
