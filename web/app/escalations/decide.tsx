import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Escalation } from '../../../src/surfaces/client/client.ts'
import { api, faultOf } from '../api.ts'
import { useKeys } from '../keys.ts'
import { session } from '../session.ts'
import { clock } from '../time.ts'

type Decision = NonNullable<Escalation['decision']>

const decisions = [
  {
    decision: 'return',
    says: 'Return to the errand',
    key: 'r',
    effect: 'The agent reads it with your note.',
    look: 'button primary',
  },
  {
    decision: 'allow',
    says: 'Allow this once',
    key: 'a',
    effect: 'The work goes on. The ground stays where it is.',
    look: 'button',
  },
  {
    decision: 'stop',
    says: 'Stop the run',
    key: 's',
    effect: 'Irreversible acts of this run stay refused.',
    look: 'button danger',
  },
] as const

/** The note to the agent and the three decisions, each with its key. */
export function Decide({
  escalation,
  onDecided,
}: {
  escalation: Escalation
  /** Hears the escalation as it stands now, and whether this page decided it. */
  onDecided: (escalation: Escalation, isMine: boolean) => void
}) {
  const note = useSignal('')
  const fault = useSignal<string | null>(null)
  const isBusy = useSignal(false)
  async function decide(decision: Decision) {
    if (isBusy.value) return
    isBusy.value = true
    fault.value = null
    const id = escalation.esc_id
    const text = note.value.trim()
    try {
      onDecided(
        await api.decideEscalation({ id, decision, ...(text === '' ? {} : { note: text }) }),
        true,
      )
    } catch (error) {
      const { word, says } = faultOf(error)
      if (word === 'already_decided') onDecided(await readOne(id), false)
      else fault.value = says
    } finally {
      isBusy.value = false
    }
  }
  useKeys(
    Object.fromEntries(decisions.map(({ key, decision }) => [key, () => void decide(decision)])),
  )
  return (
    <form class="decide-form" onSubmit={(event) => event.preventDefault()}>
      <div class="field">
        <label class="label" for="note">
          Note to the agent <span>optional</span>
        </label>
        <textarea
          id="note"
          class="input"
          rows={1}
          maxLength={2_000}
          value={note.value}
          onInput={(event) => {
            note.value = event.currentTarget.value
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
        />
      </div>
      <div class="decisions">
        {decisions.map(({ decision, says, key, effect, look }) => (
          <div key={decision}>
            <button
              type="button"
              class={look}
              aria-keyshortcuts={key.toUpperCase()}
              aria-describedby={`does-${decision}`}
              disabled={isBusy.value}
              onClick={() => decide(decision)}
            >
              {says}
              <kbd>{key.toUpperCase()}</kbd>
            </button>
            <p id={`does-${decision}`}>{effect}</p>
          </div>
        ))}
      </div>
      {fault.value === null ? null : (
        <p class="fault" role="alert">
          {fault.value} Nothing was decided.
        </p>
      )}
      <p class="hint">A decision is final. The agent reads it the moment it asks.</p>
    </form>
  )
}

/** Who decided, when and what. It takes the focus where the buttons were, so that the keyboard goes on. */
export function Decided({ escalation, isMine }: { escalation: Escalation; isMine: boolean }) {
  const { decision, decided_at, decided_by, note } = escalation
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isMine) place.current?.focus()
  }, [isMine])
  const who = decided_by === session.value?.account ? 'this account' : (decided_by ?? 'somebody')
  const at = clock(decided_at ?? escalation.created)
  return (
    <div class="decided" role="status" tabIndex={-1} ref={place}>
      <p>
        <b>
          {isMine
            ? `Decided at ${at}: ${decision}.`
            : `Already decided by ${who} at ${at}: ${decision}.`}
        </b>
      </p>
      {note === undefined ? null : (
        <p>
          Note to the agent: <bdi>{note}</bdi>
        </p>
      )}
      {isMine ? <p>The agent reads it the moment it asks.</p> : null}
    </div>
  )
}

/** One escalation as it stands now. */
export async function readOne(id: string): Promise<Escalation> {
  return (await api.readEscalations({ id })) as Escalation
}
