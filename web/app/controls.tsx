import './controls.css'
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useMemo, useRef } from 'preact/hooks'
import { type Fault, faultOf } from './api.ts'
import { CopyButton } from './copy.tsx'

/** A change that a person asked for: whether it is on its way, why it failed, and what it said. */
export interface Action<Answer> {
  readonly busy: Signal<boolean>
  readonly fault: Signal<Fault | null>
  readonly answer: Signal<Answer | null>
  /** Makes the change; returns its answer, or null if it failed. */
  run(change: () => Promise<Answer>): Promise<Answer | null>
  /** Forgets how the last change ended. */
  clear(): void
}

/** Holds the state of a change that a view makes. */
export function useAction<Answer = unknown>(): Action<Answer> {
  const busy = useSignal(false)
  const fault = useSignal<Fault | null>(null)
  const answer = useSignal<Answer | null>(null)
  return useMemo(
    () => ({
      busy,
      fault,
      answer,
      async run(change) {
        busy.value = true
        fault.value = null
        answer.value = null
        try {
          const answered = await change()
          answer.value = answered
          return answered
        } catch (error) {
          fault.value = faultOf(error)
          return null
        } finally {
          busy.value = false
        }
      },
      clear() {
        fault.value = null
        answer.value = null
      },
    }),
    [],
  )
}

/** Why a change failed, where it was asked for. */
export function ActionFault({ of: { fault } }: { of: Pick<Action<unknown>, 'fault'> }) {
  const { value } = fault
  if (value === null) return null
  return (
    <p class="fault" role="alert">
      {value.says} {value.status === 402 ? <a href="/app/settings#tier">See the tiers</a> : null}
    </p>
  )
}

type InputProps = Omit<JSX.IntrinsicElements['input'], 'onInput' | 'label'>

/** A field that takes a line of text: its label above, its hint or fault below. */
export function TextField({
  label,
  hint,
  error,
  value,
  onText,
  children,
  ...rest
}: InputProps & {
  label: ComponentChildren
  value: string
  onText: (text: string) => void
  hint?: ComponentChildren
  error?: ComponentChildren
  children?: ComponentChildren
}) {
  const id = useId()
  const hasError = error !== undefined && error !== null && error !== ''
  const says = hasError ? error : hint
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      <div class="row">
        <div class="grows">
          <input
            {...(rest as object)}
            id={id}
            class="input"
            value={value}
            aria-invalid={hasError ? 'true' : undefined}
            aria-describedby={says === undefined ? undefined : `${id}-says`}
            onInput={(event) => onText(event.currentTarget.value)}
          />
        </div>
        {children}
      </div>
      {says === undefined || says === null ? null : (
        <p
          class={hasError ? 'fault' : 'hint'}
          id={`${id}-says`}
          role={hasError ? 'alert' : undefined}
        >
          {says}
        </p>
      )}
    </div>
  )
}

/** A field with a list of choices. */
export function SelectField({
  label,
  value,
  options,
  onChoose,
  hint,
}: {
  label: string
  value: string
  options: readonly (readonly [value: string, says: string])[]
  onChoose: (value: string) => void
  hint?: string
}) {
  const id = useId()
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      <select
        id={id}
        class="input"
        value={value}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        {options.map(([each, says]) => (
          <option key={each} value={each}>
            {says}
          </option>
        ))}
      </select>
      {hint === undefined ? null : <p class="hint">{hint}</p>}
    </div>
  )
}

/** Something that is on or off. */
export function Switch({
  label,
  isOn,
  onChange,
  disabled = false,
}: {
  label: string
  isOn: boolean
  onChange: (isOn: boolean) => void
  disabled?: boolean
}) {
  return (
    <button
      type="button"
      role="switch"
      class="switch"
      aria-checked={isOn}
      aria-label={label}
      disabled={disabled}
      onClick={() => onChange(!isOn)}
    />
  )
}

/** One of a few choices, side by side. */
export function Choice({
  label,
  value,
  options,
  onChoose,
}: {
  label: string
  value: string
  options: readonly (readonly [value: string, says: string])[]
  onChoose: (value: string) => void
}) {
  const id = useId()
  return (
    <div class="field">
      <span class="field-label" id={id}>
        {label}
      </span>
      <div class="choice" role="radiogroup" aria-labelledby={id}>
        {options.map(([each, says]) => (
          <label key={each}>
            <input
              type="radio"
              name={id}
              value={each}
              checked={value === each}
              onChange={() => onChoose(each)}
            />
            {says}
          </label>
        ))}
      </div>
    </div>
  )
}

/** A button for what cannot be undone: it asks first, in its place. */
export function AskFirst({
  label,
  question,
  confirm,
  isBusy = false,
  isQuiet = false,
  onConfirm,
}: {
  label: string
  question: string
  /** The word on the button that does it. */
  confirm: string
  isBusy?: boolean
  isQuiet?: boolean
  onConfirm: () => unknown
}) {
  const isAsking = useSignal(false)
  const wasAsked = useRef(false)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (isAsking.value || wasAsked.current) button.current?.focus()
    wasAsked.current = isAsking.value
  }, [isAsking.value])
  if (!isAsking.value) {
    return (
      <button
        ref={button}
        type="button"
        class={isQuiet ? 'button quiet danger' : 'button danger'}
        disabled={isBusy}
        onClick={() => {
          isAsking.value = true
        }}
      >
        {label}
      </button>
    )
  }
  return (
    <fieldset
      class="ask bare"
      onKeyDown={(event) => {
        if (event.key === 'Escape') isAsking.value = false
      }}
    >
      <legend>{question}</legend>
      <button
        type="button"
        class="button danger"
        disabled={isBusy}
        onClick={() => {
          isAsking.value = false
          onConfirm()
        }}
      >
        {confirm}
      </button>
      <button
        ref={button}
        type="button"
        class="button"
        onClick={() => {
          isAsking.value = false
        }}
      >
        Keep it
      </button>
    </fieldset>
  )
}

/** A secret that is shown this once, with the button that copies it. */
export function Secret({ text, children }: { text: string; children?: ComponentChildren }) {
  return (
    <div class="block secret" role="status">
      <div class="secret-row">
        <code>{text}</code>
        <CopyButton text={text} isPrimary />
      </div>
      <p class="hint">{children}</p>
    </div>
  )
}

/** A part of a view under a heading. */
export function Section({
  title,
  says,
  id,
  action,
  children,
}: {
  title: string
  says?: ComponentChildren
  id?: string
  action?: ComponentChildren
  children?: ComponentChildren
}) {
  return (
    <section class="section" id={id}>
      <div class="section-head">
        <div>
          <h2>{title}</h2>
          {says === undefined ? null : <p class="says">{says}</p>}
        </div>
        {action}
      </div>
      {children}
    </section>
  )
}

/** The tabs of a view, each with an address of its own. */
export function Tabs({
  label,
  tabs,
  here,
}: {
  label: string
  tabs: readonly { name: string; href: string; count?: number | null }[]
  here: string
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ name, href, count }) => (
        <a key={name} class="tab" href={href} aria-current={href === here ? 'page' : undefined}>
          {name}
          {count === undefined || count === null ? null : <span>{count}</span>}
        </a>
      ))}
    </nav>
  )
}
