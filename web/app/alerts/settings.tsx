import { type Signal, useSignal } from '@preact/signals'
import { api } from '../api.ts'
import {
  type Action,
  ActionFault,
  AskFirst,
  Choice,
  Section,
  TextField,
  useAction,
} from '../controls.tsx'
import { useKeys } from '../keys.ts'
import { useLiveReading } from '../live-reading.ts'
import { Shown, useResource } from '../resource.tsx'
import { session } from '../session.ts'
import { words } from '../words.ts'
import { bodyOf, type Draft, draftOf, isActs, isPhi, type ModeDraft } from './draft.ts'
import { Floor } from './floor.tsx'
import { Entries } from './log.tsx'
import { Modes } from './modes.tsx'
import { Signature } from './signature.tsx'
import { type TestOutcome, TestResult } from './test-result.tsx'

const latest = 8

/** Where alerts go, how loud they are, and what came of the latest. */
export function AlertSettings() {
  const read = useResource(async () => {
    const [alerts, { tiers }] = await Promise.all([api.alerts(), api.tiers()])
    const mayAlert = tiers.find(({ name }) => name === session.value?.tier)?.alerts ?? true
    return { alerts, mayAlert, from: tiers.find(({ alerts: has }) => has)?.name ?? 'solo' }
  })
  const log = useResource(() => api.alertLog())
  useLiveReading(log.read, ['delivery', 'incident'])
  const ended: Ended = {
    says: useSignal(''),
    refused: useSignal([]),
    outcome: useSignal(null),
    testing: useAction(),
  }
  return (
    <Shown of={read} thing="alerts">
      {({ alerts, mayAlert, from }) =>
        mayAlert ? (
          <div class="alerts">
            <Form
              key={alerts.alert?.created ?? ''}
              alerts={alerts}
              ended={ended}
              onSaved={read.read}
              onTested={log.read}
            />
            <aside class="latest" aria-label="Latest">
              <div class="latest-head">
                <h2>Latest</h2>
                <a href="/app/alerts/log">All {log.value.value?.log.length ?? ''}</a>
              </div>
              <Shown of={log} thing="log">
                {(answer) => <Entries log={answer.log.slice(0, latest)} />}
              </Shown>
            </aside>
          </div>
        ) : (
          <div class="notice">
            <h2>Alerts need tier {from} or above.</h2>
            <p>Checks and history stay free on {session.value?.tier ?? 'ground'}.</p>
            <p class="actions">
              <a class="button" href="/app/settings#tier">
                See the tiers
              </a>
            </p>
          </div>
        )
      }
    </Shown>
  )
}

type Alerts = Awaited<ReturnType<typeof api.alerts>>

/** How the last change and the last test ended. It stays when saving draws the form anew. */
interface Ended {
  says: Signal<string>
  /** The modes whose address the server refused. */
  refused: Signal<readonly string[]>
  outcome: Signal<TestOutcome | null>
  testing: Action<TestOutcome['answer']>
}

function Form({
  alerts,
  ended: { says, refused, outcome, testing },
  onSaved,
  onTested,
}: {
  alerts: Alerts
  ended: Ended
  onSaved: () => Promise<void>
  onTested: () => Promise<void>
}) {
  const saved = draftOf(alerts)
  const draft = useSignal<Draft>(saved)
  const saving = useAction<Awaited<ReturnType<typeof api.setAlerts>>>()
  const stopping = useAction()
  const now = draft.value
  const isChanged = JSON.stringify(now) !== JSON.stringify(saved)
  const isRefused = saving.fault.value?.word === 'invalid_webhook'
  const isReadable =
    isPhi(now.min_phi) &&
    (now.unattended.minutes === 0 || isActs(now.unattended.acts)) &&
    Object.values(now.modes).every(({ min_phi }) => min_phi === '' || isPhi(min_phi))
  const change = (changes: Partial<Draft>) => {
    draft.value = { ...draft.value, ...changes }
    says.value = ''
    if (changes.url !== undefined) saving.clear()
  }
  async function save(): Promise<boolean> {
    if (!isReadable) return false
    const answer = await saving.run(() => api.setAlerts(bodyOf(draft.value, alerts)))
    if (answer === null) return false
    // The server drops the address of a mode that it may not send to.
    refused.value = Object.entries(draft.value.modes).flatMap(([reason, { url }]) =>
      url !== '' && answer.alert.modes?.[reason as keyof typeof answer.alert.modes]?.url !== url
        ? [reason]
        : [],
    )
    says.value = 'Saved.'
    return true
  }
  async function test() {
    if (testing.busy.value) return
    const isNewAddress = draft.value.url.trim() !== saved.url
    if (isNewAddress && !(await save())) return
    const answer = await testing.run(() => api.testAlerts())
    if (answer !== null) outcome.value = { answer, at: new Date().toISOString() }
    if (isNewAddress) await onSaved()
    await onTested()
  }
  useKeys({ t: () => void test() })
  return (
    <form
      class="alerts-form"
      novalidate
      onSubmit={async (event) => {
        event.preventDefault()
        if (await save()) await onSaved()
      }}
    >
      <TextField
        label="Where alerts go"
        type="url"
        placeholder="https://"
        autocomplete="off"
        spellcheck={false}
        value={now.url}
        error={isRefused ? words.addressRefused : undefined}
        onText={(url) => change({ url })}
      >
        <button
          type="button"
          class="button test"
          aria-keyshortcuts="T"
          disabled={testing.busy.value || now.url.trim() === ''}
          onClick={test}
        >
          {now.url.trim() === saved.url ? 'Send a test' : 'Save and test'} <kbd>T</kbd>
        </button>
      </TextField>
      <ActionFault of={testing} />
      {outcome.value === null ? null : <TestResult outcome={outcome.value} />}
      <div class="loudness">
        <Floor value={now.min_phi} onText={(min_phi) => change({ min_phi: min_phi.trim() })} />
        <div>
          <Choice
            label="Tell me"
            value={now.incidents ? 'incident' : 'step'}
            options={[
              ['incident', 'once per incident'],
              ['step', 'every step'],
            ]}
            onChoose={(choice) => change({ incidents: choice === 'incident' })}
          />
          <p class="hint">
            {now.incidents ? (
              <>
                An incident is one drift of one agent for one reason.{' '}
                <label>
                  Told again{' '}
                  <select
                    class="in-text"
                    value={now.renotify_minutes}
                    onChange={(event) =>
                      change({ renotify_minutes: Number(event.currentTarget.value) })
                    }
                  >
                    {intervals(now.renotify_minutes).map((minutes) => (
                      <option key={minutes} value={minutes}>
                        {minutes === 0 ? 'never' : `after ${lengthOf(minutes)}`}
                      </option>
                    ))}
                  </select>
                </label>
              </>
            ) : (
              'Each drifting step above the mark is told.'
            )}
          </p>
        </div>
      </div>
      <Modes
        draft={now}
        refusedUrls={refused.value}
        onChange={(reason, changes) => {
          const mode = draft.value.modes[reason]
          if (mode === undefined) return
          refused.value = refused.value.filter((each) => each !== reason)
          const next: ModeDraft = { ...mode, ...changes }
          change({ modes: { ...draft.value.modes, [reason]: next } })
        }}
      />
      <Unattended value={now.unattended} onChange={(unattended) => change({ unattended })} />
      <div class="form-foot">
        <button
          type="submit"
          class="button primary"
          disabled={saving.busy.value || !isReadable || now.url.trim() === ''}
        >
          Save
        </button>
        <button
          type="button"
          class="button quiet"
          disabled={!isChanged}
          onClick={() => {
            draft.value = saved
            saving.clear()
          }}
        >
          Discard
        </button>
        <span role="status">{says.value}</span>
        <span class="says">Saving replaces the whole configuration.</span>
      </div>
      {isRefused ? null : <ActionFault of={saving} />}
      <Signature />
      {alerts.alert === null ? null : (
        <Section
          title="Stop"
          says="Nothing is sent any more. The log and the incidents stay."
          action={
            <AskFirst
              label="Stop alerts"
              question="Delete the address and its settings?"
              confirm="Stop alerts"
              isBusy={stopping.busy.value}
              onConfirm={async () => {
                if ((await stopping.run(() => api.deleteAlerts())) !== null) await onSaved()
              }}
            />
          }
        >
          <ActionFault of={stopping} />
        </Section>
      )}
    </form>
  )
}

/** When to tell that an agent has worked without a person. It need not drift. */
function Unattended({
  value: { minutes, acts },
  onChange,
}: {
  value: Draft['unattended']
  onChange: (value: Draft['unattended']) => void
}) {
  return (
    <p class="hint unattended">
      <label>
        Tell me that an agent works alone{' '}
        <select
          class="in-text"
          value={minutes}
          onChange={(event) => onChange({ acts, minutes: Number(event.currentTarget.value) })}
        >
          {[...new Set([0, 15, 30, 60, 120, minutes])]
            .sort((one, other) => one - other)
            .map((each) => (
              <option key={each} value={each}>
                {each === 0 ? 'never' : `after ${lengthOf(each)}`}
              </option>
            ))}
        </select>
      </label>
      {minutes === 0 ? null : (
        <label>
          {' '}
          and{' '}
          <input
            class="in-text"
            type="text"
            inputMode="numeric"
            size={5}
            value={acts}
            aria-invalid={!isActs(acts)}
            onInput={(event) => onChange({ minutes, acts: event.currentTarget.value.trim() })}
          />{' '}
          acts
        </label>
      )}
      {minutes === 0 || isActs(acts) ? null : (
        <span role="alert"> Write a number of acts from 1 to 99999.</span>
      )}
    </p>
  )
}

const offered = [0, 60, 360, 1_440]

function intervals(chosen: number): number[] {
  return [...new Set([...offered, chosen])].sort((a, b) => a - b)
}

function lengthOf(minutes: number): string {
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`
}
