import { signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { api, type Fault, faultOf } from '../api.ts'
import { CopyButton } from '../copy.tsx'
import { Failed, Skeleton, useResource } from '../resource.tsx'
import { go } from '../router.ts'
import { session } from '../session.ts'
import { Hung } from '../signin/hung.tsx'
import { counted, whole } from '../time.ts'

/** The key is kept outside the view: the server shows it only once, however often the view is drawn. */
const key = signal<string | null>(null)
const fault = signal<Fault | null>(null)
let asked = false

async function askOnce(): Promise<void> {
  if (asked) return
  asked = true
  try {
    key.value = (await api.firstKey({})).key
    fault.value = null
  } catch (error) {
    fault.value = faultOf(error)
    asked = false
  }
}

/** The page after the first sign-in, which shows the key of the account this once. */
export default function Welcome() {
  const isSignedIn = session.value?.signed_in === true
  useEffect(() => {
    if (isSignedIn) void askOnce()
    else go('/signin', { replace: true })
  }, [])
  if (fault.value !== null) {
    return fault.value.word === 'already_shown' ? (
      <Shown />
    ) : (
      <Failed fault={fault.value} thing="key" onRetry={askOnce} />
    )
  }
  return key.value === null ? <Skeleton /> : <Key text={key.value} />
}

/** The key was shown before. */
function Shown() {
  return (
    <Hung isShort>
      <h1>Your key was shown already</h1>
      <p class="lead">The server keeps only its hash. You can make another one.</p>
      <p class="actions">
        <a class="button primary" href="/app/keys">
          Make a key
        </a>
        <a class="button" href="/app/runs">
          Open the dashboard
        </a>
      </p>
    </Hung>
  )
}

function Key({ text }: { text: string }) {
  const isSafe = useSignal(false)
  return (
    <Hung isShort>
      <h1>Your key</h1>
      <p class="lead">
        It is shown this once. The server keeps only its hash, so nobody can show it again.
      </p>
      <div class="welcome">
        <div class="block key-card">
          <div class="key-card-top">
            <code>{text}</code>
            <CopyButton text={text} isPrimary />
          </div>
          <TierFacts />
        </div>
        <h2>Send a first step with it</h2>
        <FirstStep text={text} />
        <div class="welcome-foot">
          <label class="check-line">
            <input
              type="checkbox"
              checked={isSafe.value}
              onChange={(event) => {
                isSafe.value = event.currentTarget.checked
              }}
            />
            I have put the key somewhere safe
          </label>
          <button
            type="button"
            class="button primary"
            disabled={!isSafe.value}
            onClick={() => {
              key.value = null
              go('/app/runs', { replace: true })
            }}
          >
            Open the dashboard
          </button>
        </div>
      </div>
    </Hung>
  )
}

function TierFacts() {
  const tiers = useResource(() => api.tiers())
  const name = session.value?.tier ?? 'ground'
  const tier = tiers.value.value?.tiers.find((each) => each.name === name)
  return (
    <div class="key-facts">
      <span>
        Tier <strong>{name}</strong>
      </span>
      {tier === undefined ? null : (
        <>
          <span>
            {tier.reads === null || tier.writes === null
              ? 'unlimited reads and writes'
              : `${whole(tier.reads)} reads and ${whole(tier.writes)} writes a day`}
          </span>
          <span>runs kept {counted(tier.retention_days, 'day')}</span>
        </>
      )}
      <a href="/app/settings#tier">Compare tiers</a>
    </div>
  )
}

const ground = 'write the getting started guide'

function FirstStep({ text }: { text: string }) {
  const [before = '', after = ''] = [
    `curl -s ${location.origin}/v1/drift \\
  -H "authorization: Bearer $PLUMBLINE_KEY" \\
  -d '{"run_id":"first","ground":"`,
    `",
       "goal":"list the commands of the client"}'`,
  ]
  return (
    <div class="block first-step">
      <pre>
        {`export PLUMBLINE_KEY=${text.slice(0, 14)}…\n`}
        {before}
        <em>{ground}</em>
        {after}
      </pre>
      <CopyButton
        text={`export PLUMBLINE_KEY=${text}\n${before}${ground}${after}\n`}
        label="Copy the commands"
      />
    </div>
  )
}
