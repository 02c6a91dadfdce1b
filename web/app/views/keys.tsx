import '../controls.css'
import '../keys/keys.css'
import { useSignal } from '@preact/signals'
import { api } from '../api.ts'
import {
  type Action,
  ActionFault,
  AskFirst,
  Choice,
  Secret,
  SelectField,
  TextField,
  useAction,
} from '../controls.tsx'
import { Shown, useResource } from '../resource.tsx'
import { Top } from '../shell.tsx'
import { agoInWords, clock } from '../time.ts'
import { closedIn } from '../words.ts'

type Me = Awaited<ReturnType<typeof api.me>>
type Key = Me['keys'][number]
type NewKey = Awaited<ReturnType<typeof api.createKey>>

const scopes = {
  full: 'All routes of the account.',
  hooks: 'May report what an agent does. It reads nothing.',
} as const

/** The keys of the account: made, rotated, revoked. */
export default function Keys() {
  const me = useResource(() => api.me())
  const made = useAction<NewKey>()
  return (
    <>
      <Top title={<h1>Keys</h1>} />
      <div class="text-page keys-page">
        <Create made={made} onMade={me.read} />
        {made.answer.value === null ? null : (
          <section class="new-key" aria-label="The new key">
            <Secret text={made.answer.value.key}>
              Your key is shown this once; the server keeps only its hash.
              {made.answer.value.expires === null
                ? ''
                : ` It expires at ${clock(made.answer.value.expires)}.`}
            </Secret>
          </section>
        )}
        <Shown of={me} thing="keys">
          {({ keys }) => (
            <section class="section" aria-label="Keys">
              <ul class="key-list">
                <li class="key-row key-head" aria-hidden="true">
                  <span>Label</span>
                  <span>Begins with</span>
                  <span>Scope</span>
                  <span>Created</span>
                  <span>Last used</span>
                  <span>Expires</span>
                  <span />
                </li>
                {keys.map((key) => (
                  <Row key={key.id} of={key} made={made} onChanged={me.read} />
                ))}
              </ul>
            </section>
          )}
        </Shown>
      </div>
    </>
  )
}

function Create({ made, onMade }: { made: Action<NewKey>; onMade: () => Promise<void> }) {
  const label = useSignal('')
  const scope = useSignal<keyof typeof scopes>('full')
  return (
    <form
      class="key-form"
      onSubmit={async (event) => {
        event.preventDefault()
        const named = label.value.trim()
        const wanted = { scope: scope.value, ...(named === '' ? {} : { label: named }) }
        if ((await made.run(() => api.createKey(wanted))) === null) return
        label.value = ''
        await onMade()
      }}
    >
      <TextField
        label="Label"
        value={label.value}
        maxLength={100}
        autocomplete="off"
        placeholder="laptop, CI, the agent of the shop"
        onText={(text) => {
          label.value = text
        }}
      />
      <div>
        <Choice
          label="Scope"
          value={scope.value}
          options={[
            ['full', 'full'],
            ['hooks', 'hooks'],
          ]}
          onChoose={(chosen) => {
            scope.value = chosen === 'hooks' ? 'hooks' : 'full'
          }}
        />
        <p class="hint">{scopes[scope.value]}</p>
      </div>
      <button type="submit" class="button primary" disabled={made.busy.value}>
        Make a key
      </button>
      <ActionFault of={made} />
    </form>
  )
}

function Row({
  of: { id, label, prefix, scope, created, last_used, expires },
  made,
  onChanged,
}: {
  of: Key
  made: Action<NewKey>
  onChanged: () => Promise<void>
}) {
  const isRotating = useSignal(false)
  const revoking = useAction()
  const name = label ?? prefix
  return (
    <li class="key-row">
      <span class="key-label">
        {label === null ? <span class="quiet-text">no label</span> : <bdi>{label}</bdi>}
      </span>
      <code>{prefix}…</code>
      <span>{scope}</span>
      <span class="key-time">
        <span class="key-small">created </span>
        <time dateTime={created}>{agoInWords(created)}</time>
      </span>
      <span class="key-time">
        <span class="key-small">used </span>
        {last_used === null ? 'never' : <time dateTime={last_used}>{agoInWords(last_used)}</time>}
      </span>
      <span class="key-time">
        <span class="key-small">expires </span>
        {expires === null ? 'never' : <time dateTime={expires}>{clock(expires)}</time>}
      </span>
      <div class="key-actions">
        {isRotating.value ? null : (
          <button
            type="button"
            class="button"
            aria-label={`Rotate ${name}`}
            onClick={() => {
              isRotating.value = true
            }}
          >
            Rotate
          </button>
        )}
        <AskFirst
          label="Revoke"
          question={`Revoke ${closedIn(name)}? It stops working at once.`}
          confirm="Revoke"
          isQuiet
          isBusy={revoking.busy.value}
          onConfirm={async () => {
            if ((await revoking.run(() => api.revokeKey({ id }))) !== null) await onChanged()
          }}
        />
      </div>
      <ActionFault of={revoking} />
      {isRotating.value ? (
        <Rotate
          id={id}
          name={name}
          made={made}
          onDone={async (isChanged) => {
            isRotating.value = false
            if (isChanged) await onChanged()
          }}
        />
      ) : null}
    </li>
  )
}

const graces = [
  ['0', 'stops at once'],
  ['1', 'stays valid for 1 hour'],
  ['24', 'stays valid for 24 hours'],
  ['168', 'stays valid for 7 days'],
] as const

function Rotate({
  id,
  name,
  made,
  onDone,
}: {
  id: string
  name: string
  made: Action<NewKey>
  onDone: (isChanged: boolean) => Promise<void>
}) {
  const grace = useSignal('24')
  return (
    <form
      class="rotate"
      aria-label={`Rotate ${name}`}
      onSubmit={async (event) => {
        event.preventDefault()
        const sent = { id, grace_hours: Number(grace.value) }
        if ((await made.run(() => api.rotateKey(sent))) !== null) await onDone(true)
      }}
    >
      <SelectField
        label="The old key"
        value={grace.value}
        options={graces}
        onChoose={(chosen) => {
          grace.value = chosen
        }}
      />
      <button type="submit" class="button" disabled={made.busy.value}>
        Make its successor
      </button>
      <button type="button" class="button quiet" onClick={() => onDone(false)}>
        Cancel
      </button>
    </form>
  )
}
