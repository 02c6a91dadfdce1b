import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { api, type Fault, faultOf, readSession } from '../api.ts'
import { openStream } from '../live.ts'
import { go, query } from '../router.ts'
import { session } from '../session.ts'
import { Hung } from '../signin/hung.tsx'

/** Why a sign-in with the provider did not work, as the address says it. */
const faultsOfProvider: Record<string, string> = {
  expired: 'The sign-in took too long and was dropped. Start again.',
  state: 'The sign-in took too long and was dropped. Start again.',
  provider: 'The sign-in service did not answer. Nothing was changed. Try again, or use a key.',
  denied: 'The sign-in service let nobody in. Start again, or use a key.',
}

/** The page that lets a person in: with the provider of this server, or with a key. */
export default function SignIn() {
  const { provider, name } = session.value?.sign_in ?? { provider: false, name: null }
  const to = placeAfter(query.value.get('to'))
  const isSignedIn = session.value?.signed_in === true
  useEffect(() => {
    if (isSignedIn) land(to)
  }, [isSignedIn])
  const why = faultsOfProvider[query.value.get('error') ?? '']
  return (
    <Hung>
      <h1>Sign in to Plumbline</h1>
      <p class="lead">
        {provider
          ? 'The first sign-in makes your account and a key.'
          : 'A key of this server opens the dashboard.'}
      </p>
      <div class="signin">
        {why === undefined ? null : (
          <p class="fault" role="alert">
            {why}
          </p>
        )}
        {provider ? (
          <a class="button primary wide" href={`/auth/start?to=${encodeURIComponent(to)}`}>
            Continue with {name ?? 'single sign-on'}
          </a>
        ) : null}
        <KeyForm to={to} isAlone={!provider} />
        <p class="note">
          {provider ? 'No account? ' : 'No key? '}Whoever runs this server makes keys with
          <code>npm run -s plumbline -- keys create</code>
        </p>
      </div>
      <ul class="hung-foot">
        <li>
          <a href="/docs">Docs</a>
        </li>
        <li>
          <a href="/docs/api">API</a>
        </li>
        <li>This server keeps your data</li>
      </ul>
    </Hung>
  )
}

function KeyForm({ to, isAlone }: { to: string; isAlone: boolean }) {
  const key = useSignal('')
  const fault = useSignal<string | null>(null)
  const isBusy = useSignal(false)
  const input = useRef<HTMLInputElement>(null)
  async function open(event: Event) {
    event.preventDefault()
    if (isBusy.value) return
    const sent = key.value.trim()
    isBusy.value = true
    try {
      if (sent === '') fault.value = 'Paste a key. It begins with pl_live_.'
      else {
        await api.signIn({ key: sent })
        await readSession()
        openStream()
        land(to)
        return
      }
    } catch (error) {
      fault.value = saysOf(faultOf(error))
    } finally {
      isBusy.value = false
    }
    input.current?.focus()
  }
  return (
    <form onSubmit={open} novalidate>
      <label class={isAlone ? 'or alone' : 'or'} for="key">
        {isAlone ? 'Key' : 'or with a key'}
      </label>
      <div class="signin-row">
        <input
          ref={input}
          id="key"
          class="input"
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          placeholder="pl_live_…"
          value={key.value}
          aria-invalid={fault.value === null ? undefined : 'true'}
          aria-describedby={fault.value === null ? undefined : 'key-fault'}
          onInput={(event) => {
            key.value = event.currentTarget.value
            fault.value = null
          }}
        />
        <button type="submit" class={isAlone ? 'button primary' : 'button'}>
          Open
        </button>
      </div>
      {fault.value === null ? null : (
        <p class="fault" id="key-fault" role="alert">
          {fault.value}
        </p>
      )}
    </form>
  )
}

function saysOf({ status, says }: Fault): string {
  const isUnknown = status === 400 || status === 401 || status === 404
  return isUnknown ? 'This key is not known here. Was all of it copied?' : says
}

/** Where to go after the sign-in: a place of the dashboard or the way to a higher tier, never another server. */
function placeAfter(wanted: string | null): string {
  return wanted !== null && /^\/(app|v1\/upgrade)([/?]|$)/.test(wanted) ? wanted : '/app/runs'
}

/** Goes there. The way to a higher tier is none of the pages of the application. */
function land(to: string): void {
  if (to.startsWith('/app')) go(to, { replace: true })
  else location.assign(to)
}
