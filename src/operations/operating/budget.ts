import { z } from 'zod'
import {
  alarmScore,
  type Budget,
  type BudgetHistory,
  startBudget,
} from '../../core/alerts/budget.ts'
import { readKept } from '../../core/runs/kept-verdict.ts'
import { dayMs, dayOf } from '../../core/time.ts'
import type { Store } from '../../storage/store.ts'
import { badRequest } from '../gate/declaration.ts'
import { nextTurn } from '../gate/event-loop-turns.ts'
import { keyed } from '../gate/operation.ts'

const most = { per_1000_steps: 1_000, per_day: 10_000 }
const fault = `send { "per_1000_steps": a number above 0, up to ${most.per_1000_steps} }, { "per_day": a number above 0, up to ${most.per_day} } or null`

const budgetSchema = z
  .union(
    [
      z.strictObject({ per_1000_steps: amount(most.per_1000_steps) }),
      z.strictObject({ per_day: amount(most.per_day) }),
    ],
    fault,
  )
  .meta({ id: 'Budget' })

const answer = z.strictObject({
  budget: budgetSchema.nullable().describe('Null without one: every alarm is sent.'),
  threshold: z
    .number()
    .nullable()
    .describe('An alarm is sent if its probability of drift is above it; null without a budget.'),
  held: z.int().min(0).describe('The alarms of the runs within retention that a budget held back.'),
})

/** How many alarms the account is willing to hear. */
export const readBudget = keyed({
  name: 'budget.read',
  group: 'operating',
  summary: 'How many alarms the account is willing to hear.',
  http: { method: 'GET', path: '/v1/budget' },
  input: z.object({}),
  output: answer,
})(({ store, account }) => shown(store, account.id))

/** Sets how many alarms the account is willing to hear. */
export const setBudget = keyed({
  name: 'budget.set',
  group: 'operating',
  summary: 'Set how many alarms the account is willing to hear, or remove the limit with null.',
  description:
    'Where a drift could begin, an alarm is sent if the detector finds drift, its probability is above a threshold that follows the work of the account, and the budget is not spent. The threshold begins with the newest 2,000 stored steps. What is held back stays in the trace, in the alert log (`held by your budget`), in GET /v1/quality and in the digest; what a drift begins with decides for all of it. A budget bounds the alarms of steps, and so the false ones; it promises nothing about what is missed. Escalations, dialogues and tests are never held back.',
  http: { method: 'PUT', path: '/v1/budget' },
  input: z.union([budgetSchema, z.null()], fault),
  output: answer,
  refusals: [badRequest],
})(async ({ store, account, now }, budget) => {
  const { id } = account
  const state = budget === null ? null : await begin(store, id, budget, now())
  await store.tx(({ budgets }) => budgets.set(id, state))
  return shown(store, id)
})

function amount(max: number) {
  const wrong = `send a number above 0, up to ${max}`
  return z.number(wrong).positive(wrong).max(max, wrong)
}

async function shown(store: Store, account: string): Promise<z.infer<typeof answer>> {
  const [state, held] = await Promise.all([
    store.budgets.of(account),
    store.budgets.countHeld(account, 0, Number.MAX_SAFE_INTEGER),
  ])
  return { budget: state?.budget ?? null, threshold: state?.threshold ?? null, held }
}

/** A budget that goes on is not filled up again by being set again. */
async function begin(store: Store, account: string, budget: Budget, now: number) {
  const before = await store.budgets.of(account)
  const history = await historyOf(store, account, now)
  const state = startBudget(budget, history, now)
  return { ...state, tokens: Math.min(state.tokens, before?.tokens ?? state.tokens) }
}

const runsRead = 100
const stepsRead = 2_000
const stepsAtATime = 500
const daysRead = 14

/** The scores of the newest steps at which a drift could begin, and the steps of the last days and of today. */
async function historyOf(store: Store, account: string, now: number): Promise<BudgetHistory> {
  const today = dayOf(now)
  const counted = await store.budgets.stepsByDay(account, (today - daysRead) * dayMs)
  const scores: number[] = []
  let left = stepsRead
  for (const { run_id } of await store.runs.recent(account, now, runsRead)) {
    const drifting = new Set<string>()
    for (let after = 0, more = true; more && left > 0; ) {
      const limit = Math.min(stepsAtATime, left)
      const steps = await store.runs.trace(account, run_id, after, limit)
      for (const { step, agent_id, verdict, ...row } of steps) {
        const { drift_probability, confidence } = readKept(verdict)
        const isDrifting = row.drifting === 1
        if (!drifting.has(agent_id) && confidence !== null) {
          const found = { drift_probability, confidence }
          scores.push(
            alarmScore({ ...found, drifting: isDrifting }, { account, runId: run_id, step }),
          )
        }
        if (isDrifting) drifting.add(agent_id)
        else drifting.delete(agent_id)
      }
      left -= steps.length
      more = steps.length === limit
      after = steps.at(-1)?.step ?? after
      await nextTurn()
    }
  }
  return {
    scores,
    days: counted.filter(({ day }) => day < today).map(({ steps }) => steps),
    today: counted.find(({ day }) => day === today)?.steps ?? 0,
  }
}
