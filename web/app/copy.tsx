import { useSignal } from '@preact/signals'
import { copy } from '../shared/copying.ts'
import { Icon } from './icons.tsx'

/** Text to be copied, with the button that copies it. */
export function CopyBlock({ text, label = 'Copy' }: { text: string; label?: string }) {
  return (
    <div class="block copy-block">
      <pre>{text}</pre>
      <CopyButton text={text} label={label} />
    </div>
  )
}

/** Copies a text, and says so where it stands. */
export function CopyButton({
  text,
  label = 'Copy',
  isPrimary = false,
}: {
  text: string
  label?: string
  isPrimary?: boolean
}) {
  const done = useSignal(false)
  return (
    <button
      type="button"
      class={isPrimary ? 'button primary' : 'button quiet icon-button'}
      aria-label={done.value ? 'Copied' : label}
      onClick={async () => {
        await copy(text)
        done.value = true
        setTimeout(() => {
          done.value = false
        }, 2_000)
      }}
    >
      <Icon name={done.value ? 'check' : 'copy'} />
      {isPrimary ? (done.value ? 'Copied' : label) : null}
    </button>
  )
}
