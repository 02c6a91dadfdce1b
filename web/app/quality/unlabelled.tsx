import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { api, faultOf } from '../api.ts'
import { useKeys } from '../keys.ts'
import { useResource } from '../resource.tsx'
import { type Alarm, readUnlabelled } from './quality-read.ts'

const firstRows = 6

type Label = 'useful' | 'false_alarm'

/** The alarms that nobody has labelled, each with Right and Wrong. */
export function Unlabelled({
  missing,
  nextAsked,
  onLabelled,
}: {
  /** How many alarms have no label. */
  missing: number
  /** Counts up whenever the next alarm is asked for. */
  nextAsked: number
  onLabelled: () => Promise<void>
}) {
  const read = useResource(() => readUnlabelled(missing))
  const given = useSignal<Record<string, Label>>({})
  const fault = useSignal<string | null>(null)
  const chosen = useSignal<string | null>(null)
  const isAll = useSignal(false)
  const alarms = read.value.value ?? []
  const shown = isAll.value ? alarms : alarms.slice(0, firstRows)
  const open = alarms.filter((alarm) => given.value[keyOf(alarm)] === undefined)

  function choose(alarm: Alarm | undefined) {
    chosen.value = alarm === undefined ? null : keyOf(alarm)
    if (alarm === undefined) return
    if (!shown.includes(alarm)) isAll.value = true
    // The row may only be drawn now.
    requestAnimationFrame(() =>
      document.querySelector<HTMLElement>('.alarm-row.chosen .button')?.focus(),
    )
  }

  useEffect(() => {
    if (nextAsked > 0) choose(open[0])
  }, [nextAsked])

  async function label(alarm: Alarm, says: Label) {
    fault.value = null
    try {
      const { run_id, step } = alarm
      await api.label({ run_id, step, label: says })
      given.value = { ...given.value, [keyOf(alarm)]: says }
      if (chosen.value === keyOf(alarm)) {
        const at = alarms.indexOf(alarm)
        choose(alarms.slice(at + 1).find((each) => given.value[keyOf(each)] === undefined))
      }
      await onLabelled()
    } catch (error) {
      fault.value = faultOf(error).says
    }
  }

  const current = alarms.find((alarm) => keyOf(alarm) === chosen.value)
  useKeys(
    current === undefined
      ? {}
      : {
          y: () => void label(current, 'useful'),
          n: () => void label(current, 'false_alarm'),
        },
  )
  if (read.value.value === null || alarms.length === 0) return null
  return (
    <section class="quality-part" aria-label="Not labelled yet">
      <div class="part-head">
        <h3>Not labelled yet</h3>
        {alarms.length > firstRows && !isAll.value ? (
          <button
            type="button"
            class="link"
            onClick={() => {
              isAll.value = true
            }}
          >
            All {alarms.length}
          </button>
        ) : null}
      </div>
      <ul>
        {shown.map((alarm) => (
          <li
            key={keyOf(alarm)}
            class={chosen.value === keyOf(alarm) ? 'alarm-row chosen' : 'alarm-row'}
          >
            <a
              class="alarm-goal"
              href={`/app/runs/${encodeURIComponent(alarm.run_id)}?step=${alarm.step}`}
            >
              <b>
                <bdi>{alarm.goal}</bdi>
              </b>
              <small>
                <bdi>{alarm.ground ?? alarm.run_id}</bdi>
              </small>
            </a>
            <span class="alarm-why">
              {alarm.reason}, step {alarm.step}
            </span>
            <Says alarm={alarm} given={given.value[keyOf(alarm)]} onLabel={label} />
          </li>
        ))}
      </ul>
      {fault.value === null ? null : (
        <p class="fault" role="alert">
          {fault.value} The label was not stored.
        </p>
      )}
      <p class="hint">
        {chosen.value === null ? (
          <>
            Right: the agent had left its errand. <kbd>L</kbd> takes the next one.
          </>
        ) : (
          <>
            <kbd>Y</kbd> right, <kbd>N</kbd> wrong.
          </>
        )}
      </p>
    </section>
  )
}

function Says({
  alarm,
  given,
  onLabel,
}: {
  alarm: Alarm
  given: Label | undefined
  onLabel: (alarm: Alarm, label: Label) => Promise<void>
}) {
  return (
    <span class="alarm-says">
      {(
        [
          ['useful', 'Right'],
          ['false_alarm', 'Wrong'],
        ] as const
      ).map(([label, word]) => (
        <button
          key={label}
          type="button"
          class="button"
          aria-pressed={given === label}
          aria-label={`${word}: ${alarm.reason}, step ${alarm.step}`}
          onClick={() => onLabel(alarm, label)}
        >
          {word}
        </button>
      ))}
    </span>
  )
}

function keyOf({ run_id, step }: Alarm): string {
  return `${step} ${run_id}`
}
