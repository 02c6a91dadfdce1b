import { type Signal, useSignal } from '@preact/signals'
import { api } from '../api.ts'
import {
  ActionFault,
  AskFirst,
  Choice,
  Section,
  SelectField,
  TextField,
  useAction,
} from '../controls.tsx'
import { Shown, useResource } from '../resource.tsx'
import { clock } from '../time.ts'
import { words } from '../words.ts'

type Answer = Awaited<ReturnType<typeof api.digest>>
type Preview = Awaited<ReturnType<typeof api.previewDigest>>

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** The digest: how often, when and where to, and a test of it. */
export function DigestSettings({ hasAddress }: { hasAddress: boolean }) {
  const read = useResource(() => api.digest())
  const says = useSignal('')
  return (
    <Section
      title="Digest"
      says="The drift since the last one: the worst runs first, with reasons and cost, and who waits for a person."
      id="digest"
    >
      <Shown of={read} thing="digest">
        {(answer) => (
          <Form
            key={answer.digest?.created ?? ''}
            digest={answer.digest}
            hasAddress={hasAddress}
            says={says}
            onChanged={read.read}
          />
        )}
      </Shown>
    </Section>
  )
}

function Form({
  digest,
  hasAddress,
  says,
  onChanged,
}: {
  digest: Answer['digest']
  hasAddress: boolean
  /** Stays when a new digest draws the form anew. */
  says: Signal<string>
  onChanged: () => Promise<void>
}) {
  const cadence = useSignal<'daily' | 'weekly'>(digest?.cadence ?? 'daily')
  const hour = useSignal(String(digest?.hour_utc ?? 7))
  const weekday = useSignal(String(digest?.weekday ?? 1))
  const channel = useSignal<'email' | 'webhook'>(digest?.channel ?? 'email')
  const url = useSignal(digest?.url ?? '')
  const saving = useAction()
  const testing = useAction<Awaited<ReturnType<typeof api.testDigest>>>()
  const previewing = useAction<Preview>()
  const deleting = useAction()
  const isRefused = saving.fault.value?.word === 'invalid_webhook'
  const test = testing.answer.value
  return (
    <form
      class="digest"
      novalidate
      onSubmit={async (event) => {
        event.preventDefault()
        const answer = await saving.run(() =>
          api.setDigest({
            cadence: cadence.value,
            hour_utc: Number(hour.value),
            ...(cadence.value === 'weekly' ? { weekday: Number(weekday.value) } : {}),
            channel: channel.value,
            ...(channel.value === 'webhook' ? { url: url.value.trim() } : {}),
          }),
        )
        if (answer === null) return
        says.value = 'Saved.'
        await onChanged()
      }}
    >
      <div class="row">
        <Choice
          label="How often"
          value={cadence.value}
          options={[
            ['daily', 'daily'],
            ['weekly', 'weekly'],
          ]}
          onChoose={(chosen) => {
            cadence.value = chosen as 'daily' | 'weekly'
          }}
        />
        {cadence.value === 'weekly' ? (
          <SelectField
            label="Day"
            value={weekday.value}
            options={weekdays.map((name, day) => [String(day), name] as const)}
            onChoose={(chosen) => {
              weekday.value = chosen
            }}
          />
        ) : null}
        <SelectField
          label="Hour, UTC"
          value={hour.value}
          options={Array.from(
            { length: 24 },
            (_, each) => [String(each), `${String(each).padStart(2, '0')}:00`] as const,
          )}
          onChoose={(chosen) => {
            hour.value = chosen
          }}
        />
        <Choice
          label="Where to"
          value={channel.value}
          options={[
            ['email', 'mail'],
            ['webhook', 'webhook'],
          ]}
          onChoose={(chosen) => {
            channel.value = chosen as 'email' | 'webhook'
            saving.clear()
          }}
        />
      </div>
      {channel.value === 'webhook' ? (
        <div class="digest-url">
          <TextField
            label="Address of the webhook"
            type="url"
            placeholder="https://"
            value={url.value}
            error={isRefused ? words.addressRefused : undefined}
            onText={(text) => {
              url.value = text
              saving.clear()
            }}
          />
        </div>
      ) : hasAddress ? null : (
        <p class="hint">A digest by mail needs a confirmed address.</p>
      )}
      <div class="form-foot">
        <button type="submit" class="button" disabled={saving.busy.value}>
          Save the digest
        </button>
        <button
          type="button"
          class="button"
          disabled={previewing.busy.value}
          onClick={() => previewing.run(() => api.previewDigest({ cadence: cadence.value }))}
        >
          Show a preview
        </button>
        {digest === null ? null : (
          <>
            <button
              type="button"
              class="button"
              disabled={testing.busy.value}
              onClick={() => testing.run(() => api.testDigest())}
            >
              Send it now
            </button>
            <AskFirst
              label="Delete the digest"
              question="Delete the digest? No more of them are sent."
              confirm="Delete"
              isQuiet
              isBusy={deleting.busy.value}
              onConfirm={async () => {
                if ((await deleting.run(() => api.deleteDigest())) !== null) await onChanged()
              }}
            />
          </>
        )}
        <span role="status">{says.value}</span>
        {digest === null ? null : <span class="says">next at {clock(digest.next)}</span>}
      </div>
      {isRefused ? null : <ActionFault of={saving} />}
      <ActionFault of={previewing} />
      <ActionFault of={testing} />
      <ActionFault of={deleting} />
      {previewing.answer.value === null ? null : <PreviewText of={previewing.answer.value} />}
      {test === null ? null : (
        <p role="status" class={test.delivered ? 'sent' : 'sent drift-text'}>
          {test.delivered
            ? 'The digest arrived. Look at it where you read it; the next one comes as planned.'
            : `The digest did not arrive: ${test.detail.replace(/\.$/, '')}.`}
        </p>
      )}
    </form>
  )
}

/** What the digest would say if it were sent now. */
function PreviewText({ of: { subject, text } }: { of: Preview }) {
  return (
    <section class="block digest-preview" aria-label="Preview of the digest">
      <b>{subject}</b>
      <pre>{text}</pre>
    </section>
  )
}
