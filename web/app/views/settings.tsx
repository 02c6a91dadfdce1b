import '../controls.css'
import '../settings/settings.css'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { api } from '../api.ts'
import { BudgetControl } from '../budget.tsx'
import { Section } from '../controls.tsx'
import { Shown, useResource } from '../resource.tsx'
import {
  Address,
  Erase,
  type Erased,
  ErasedNotice,
  Export,
  type Me,
  SignOut,
} from '../settings/account.tsx'
import { DigestSettings } from '../settings/digest.tsx'
import { HookSettings } from '../settings/hooks.tsx'
import { PageSettings } from '../settings/page.tsx'
import { Privacy } from '../settings/privacy.tsx'
import { TierTable } from '../settings/tier.tsx'
import { Top } from '../shell.tsx'

/** The settings of the account and of this browser. */
export default function Settings() {
  const me = useResource(() => api.me())
  const erased = useSignal<Erased | null>(null)
  return (
    <>
      <Top title={<h1>Settings</h1>} />
      {erased.value === null ? (
        <Shown of={me} thing="account">
          {(account) => (
            <Sections
              me={account}
              onChanged={me.read}
              onErased={(answer) => {
                erased.value = answer
              }}
            />
          )}
        </Shown>
      ) : (
        <ErasedNotice of={erased.value} />
      )}
    </>
  )
}

function Sections({
  me,
  onChanged,
  onErased,
}: {
  me: Me
  onChanged: () => Promise<void>
  onErased: (erased: Erased) => void
}) {
  useEffect(() => {
    if (location.hash.length > 1) {
      document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: 'start' })
    }
  }, [])
  return (
    <div class="text-page settings-page">
      <DigestSettings hasAddress={me.email_verified} />
      <Address key={me.email ?? ''} me={me} onChanged={onChanged} />
      <HookSettings />
      <Section
        title="Budget of alarms"
        says="How often you want to be interrupted. The surest alarms come first."
        id="budget"
      >
        <BudgetControl />
      </Section>
      <Privacy tier={me.tier} />
      <TierTable me={me} />
      <PageSettings />
      <Export />
      <SignOut me={me} />
      <Erase me={me} onErased={onErased} />
    </div>
  )
}
