import { useSignal } from '@preact/signals'
import { api } from '../api.ts'
import { ActionFault, TextField, useAction } from '../controls.tsx'

const needed = 8

/** The words that move the field, by group. */
const vocabulary = {
  ground: 'ground body bone stone soil earth dark deep cold slow',
  wind: 'breath wind flow move pass reach touch come go walk',
  form: 'form edge surface frame line curve arc space skin leaf',
  change: 'change cross shift turn break fold begin door fire spark',
} as const

const known = new Set(Object.values(vocabulary).flatMap((words) => words.split(' ')))

/** Eight words, spoken into the field. */
export function Speak({ onSpoken }: { onSpoken: () => Promise<void> }) {
  const text = useSignal('')
  const speaking = useAction<Awaited<ReturnType<typeof api.hear>>>()
  const words = text.value
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
  const unknown = words.filter((word) => !known.has(word))
  const rest = needed - words.length
  const says =
    unknown.length > 0
      ? `Not in the vocabulary: ${unknown.slice(0, 3).join(', ')}.`
      : rest > 0
        ? `${rest} more.`
        : rest < 0
          ? `${-rest} too many.`
          : 'Eight words.'
  return (
    <section class="speak" aria-label="Speak">
      <form
        novalidate
        onSubmit={async (event) => {
          event.preventDefault()
          if ((await speaking.run(() => api.hear({ words }))) === null) return
          text.value = ''
          await onSpoken()
        }}
      >
        <TextField
          label="Say eight words"
          value={text.value}
          autocomplete="off"
          hint={says}
          error={unknown.length > 0 ? says : undefined}
          onText={(typed) => {
            text.value = typed
            speaking.clear()
          }}
        >
          <button
            type="submit"
            class="button primary"
            disabled={speaking.busy.value || rest !== 0 || unknown.length > 0}
          >
            Speak
          </button>
        </TextField>
      </form>
      <ActionFault of={speaking} />
      {speaking.answer.value === null ? null : (
        <blockquote role="status">{speaking.answer.value.reply}</blockquote>
      )}
      <div class="vocabulary">
        {Object.entries(vocabulary).map(([group, list]) => (
          <div key={group}>
            {list.split(' ').map((word) => (
              <button
                key={word}
                type="button"
                disabled={rest <= 0}
                onClick={() => {
                  text.value = `${text.value.trim()} ${word}`.trim()
                  speaking.clear()
                }}
              >
                {word}
              </button>
            ))}
          </div>
        ))}
      </div>
    </section>
  )
}
