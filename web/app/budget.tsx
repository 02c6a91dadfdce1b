import { type Signal, useSignal } from '@preact/signals'
import { api } from './api.ts'
import { ActionFault, Choice, TextField, useAction } from './controls.tsx'
import { Shown, useResource } from './resource.tsx'
import { counted } from './time.ts'
import './budget.css'

type BudgetAnswer = Awaited<ReturnType<typeof api.budget>>
type Budget = BudgetAnswer['budget']

type Unit = 'none' | 'per_1000_steps' | 'per_day'

const units = [
  ['none', 'all'],
  ['per_1000_steps', 'per 1,000 steps'],
  ['per_day', 'per day'],
] as const

/** The budget of alarms: read, changed, taken away. */
export function BudgetControl() {
  const read = useResource(() => api.budget())
  const says = useSignal('')
  return (
    <Shown of={read} thing="budget">
      {(answer) => (
        <Form key={JSON.stringify(answer.budget)} answer={answer} says={says} onSaved={read.read} />
      )}
    </Shown>
  )
}

function Form({
  answer: { budget: saved, threshold, held },
  says,
  onSaved,
}: {
  answer: BudgetAnswer
  /** Stays when a new budget draws the form anew. */
  says: Signal<string>
  onSaved: () => Promise<void>
}) {
  const unit = useSignal<Unit>(unitOf(saved))
  const count = useSignal(saved === null ? '' : String(Object.values(saved)[0]))
  const saving = useAction()
  const isNone = unit.value === 'none'
  const number = Number(count.value)
  const isWrong = !isNone && count.value !== '' && !(number > 0)
  return (
    <form
      class="budget"
      novalidate
      onSubmit={async (event) => {
        event.preventDefault()
        const wanted = budgetOf(unit.value, number)
        if ((await saving.run(() => api.setBudget(wanted))) === null) return
        says.value = 'Saved.'
        await onSaved()
      }}
    >
      <div class="row">
        <Choice
          label="Alarms I want to hear"
          value={unit.value}
          options={units}
          onChoose={(chosen) => {
            unit.value = chosen as Unit
            says.value = ''
          }}
        />
        {isNone ? null : (
          <TextField
            label="At most"
            inputMode="decimal"
            value={count.value}
            error={isWrong ? 'Use a number above 0.' : undefined}
            onText={(text) => {
              count.value = text.trim()
              says.value = ''
            }}
          />
        )}
        <button
          type="submit"
          class="button"
          disabled={saving.busy.value || (!isNone && !(number > 0))}
        >
          Save the budget
        </button>
        <span role="status">{says.value}</span>
      </div>
      <p class="hint">
        {isNone
          ? 'Every alarm above the floor is told.'
          : 'The threshold follows the budget. What is held back is counted and stands in the digest.'}
        {threshold === null || isNone
          ? ''
          : ` Now it sends alarms whose probability of drift is above ${threshold.toFixed(2)}.`}
        {held === 0
          ? ''
          : ` ${counted(held, 'alarm')} of the stored runs ${held === 1 ? 'was' : 'were'} held back.`}
      </p>
      <ActionFault of={saving} />
    </form>
  )
}

function budgetOf(unit: Unit, count: number): Budget {
  if (unit === 'none') return null
  return unit === 'per_day' ? { per_day: count } : { per_1000_steps: count }
}

function unitOf(budget: Budget): Unit {
  if (budget === null) return 'none'
  return 'per_day' in budget ? 'per_day' : 'per_1000_steps'
}
