import { usageFault } from './usage-fault.ts'

/** A budget of alarms per 1,000 steps, written as `5` or `5/1000`; a usage fault if it is none. */
export function readBudget(value: unknown): number {
  const [amount = '', of = '1000', ...more] = String(value).trim().split('/')
  const budget = amount.trim() === '' ? Number.NaN : Number(amount)
  if (budget >= 0 && budget <= 1000 && of.trim() === '1000' && more.length === 0) return budget
  throw usageFault(
    `--budget is "${value}"; send a number from 0 to 1000 of 1,000 steps, such as 5 or 5/1000.`,
  )
}
