import { useSignal } from '@preact/signals'
import { Switch } from '../controls.tsx'
import { words } from '../words.ts'
import { type Draft, isPhi, type ModeDraft, modeNames, type Severity } from './draft.ts'

const severities: readonly Severity[] = ['critical', 'warn', 'info']

/** What is told: each reason with its switch, its severity, its floor and its address. */
export function Modes({
  draft,
  refusedUrls,
  onChange,
}: {
  draft: Draft
  /** The modes whose address the server refused. */
  refusedUrls: readonly string[]
  onChange: (reason: string, change: Partial<ModeDraft>) => void
}) {
  return (
    <div class="modes">
      <div class="modes-head" aria-hidden="true">
        <span>When</span>
        <span>On</span>
        <span>Severity</span>
        <span>Quiet below</span>
        <span>Other address</span>
      </div>
      <ul>
        {modeNames.map(([reason, name]) => {
          const mode = draft.modes[reason]
          return mode === undefined ? null : (
            <ModeRow
              key={reason}
              reason={reason}
              name={name}
              mode={mode}
              floor={draft.min_phi}
              isRefused={refusedUrls.includes(reason)}
              onChange={(change) => onChange(reason, change)}
            />
          )
        })}
      </ul>
    </div>
  )
}

function ModeRow({
  reason,
  name,
  mode,
  floor,
  isRefused,
  onChange,
}: {
  reason: string
  name: string
  mode: ModeDraft
  floor: string
  isRefused: boolean
  onChange: (change: Partial<ModeDraft>) => void
}) {
  const isEditing = useSignal(mode.url !== '')
  const isWrong = mode.min_phi !== '' && !isPhi(mode.min_phi)
  return (
    <li class={mode.on ? 'mode' : 'mode off'}>
      <span class="mode-name">
        {name}
        <code class="sub-code">{reason}</code>
      </span>
      <Switch label={name} isOn={mode.on} onChange={(on) => onChange({ on })} />
      <select
        class={`input severity ${mode.severity}`}
        aria-label={`Severity: ${name}`}
        value={mode.severity}
        onChange={(event) => onChange({ severity: event.currentTarget.value as Severity })}
      >
        {severities.map((severity) => (
          <option key={severity}>{severity}</option>
        ))}
      </select>
      <input
        class="input number"
        aria-label={`Quiet below: ${name}`}
        inputMode="decimal"
        placeholder={floor}
        value={mode.min_phi}
        aria-invalid={isWrong ? 'true' : undefined}
        onInput={(event) => onChange({ min_phi: event.currentTarget.value.trim() })}
      />
      {isEditing.value || mode.url !== '' ? (
        <span class="mode-url">
          <input
            class="input"
            type="url"
            aria-label={`Other address: ${name}`}
            placeholder="https://…"
            value={mode.url}
            aria-invalid={isRefused ? 'true' : undefined}
            onInput={(event) => onChange({ url: event.currentTarget.value.trim() })}
          />
        </span>
      ) : (
        <button
          type="button"
          class="same-address"
          aria-label={`Same address. Set another one: ${name}`}
          onClick={() => {
            isEditing.value = true
          }}
        >
          same address
        </button>
      )}
      {isWrong ? <p class="fault mode-fault">Use a number from 0 to 1.</p> : null}
      {isRefused ? (
        <p class="fault mode-fault" role="alert">
          {words.addressRefused}
        </p>
      ) : null}
    </li>
  )
}
