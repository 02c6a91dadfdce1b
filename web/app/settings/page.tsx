import { useSignal } from '@preact/signals'
import { type Appearance, readAppearance, setAppearance } from '../../shared/appearance.ts'
import { Choice, Section, Switch } from '../controls.tsx'
import { setSingleKeys, singleKeys } from '../keys.ts'

/** What this browser keeps: its colours, and whether single keys do anything. */
export function PageSettings() {
  const appearance = useSignal(readAppearance())
  return (
    <>
      <Section title="Colours" says="Kept in this browser." id="colours">
        <Choice
          label="Theme"
          value={appearance.value}
          options={[
            ['system', 'system'],
            ['light', 'light'],
            ['dark', 'dark'],
          ]}
          onChoose={(chosen) => {
            appearance.value = chosen as Appearance
            setAppearance(appearance.value)
          }}
        />
      </Section>
      <Section
        title="Single keys"
        says={
          <>
            <kbd>J</kbd> <kbd>K</kbd> move, <kbd>/</kbd> searches, <kbd>?</kbd> lists all. Kept in
            this browser.
          </>
        }
        id="keys"
        action={<Switch label="Single keys" isOn={singleKeys.value} onChange={setSingleKeys} />}
      />
    </>
  )
}
