import type { ComponentChildren } from 'preact'
import type { Escalation } from '../../../src/surfaces/client/client.ts'
import { differenceOf } from '../line/difference.ts'
import { episodesOf, goingOn } from '../run/sentence.ts'
import { closedIn, saysOfDrift, saysOfNames, words } from '../words.ts'
import type { RunTail, Step } from './run-tail.ts'

/** The step that a question is about: the last one before it was asked. */
export function askedStep({ steps }: RunTail, { created }: Escalation): Step | null {
  return steps.findLast(({ ts }) => ts <= created) ?? steps.at(-1) ?? null
}

/** What a person reads first about a question, and what stands below it. */
export function sentenceOf(
  escalation: Escalation,
  tail: RunTail | null,
): { first: ComponentChildren; rest: string } {
  const rest = closedIn(
    [escalation.detail, escalation.advice].filter((text) => text !== null).join(' '),
  )
  const because = `The agent asks because of ${closedIn(escalation.reason)}.`
  if (tail === null) {
    return {
      first: 'The steps of this run are not stored here.',
      rest: rest === '' ? because : rest,
    }
  }
  const step = askedStep(tail, escalation)
  const swap = step?.swap
  if (step !== null && swap !== null && swap !== undefined) {
    const [errand, goal] = differenceOf(swap.ground, swap.goal)
    return {
      first: saysOfNames(
        <bdi class="named goal">{goal}</bdi>,
        <bdi class="named errand">{errand}</bdi>,
      ),
      rest: closedIn(`Step ${step.step}: ${step.goal}. ${saysOfSwap(step)}`),
    }
  }
  const below =
    step === null ? rest : closedIn(`Step ${step.step}: ${step.goal}. ${step.why ?? ''}`)
  const drift = goingOn(tail.run, episodesOf(tail.steps))
  if (drift !== null) {
    const isWhole = !tail.isCut || drift.left !== tail.steps[0]?.step
    return { first: saysOfDrift(drift.drifting, !isWhole), rest: below }
  }
  if (step?.uncertain === true) {
    return { first: words.undecided, rest: below }
  }
  return { first: because, rest: rest || below }
}

const another: Record<NonNullable<Step['swap']>['kind'], string> = {
  number: 'The number is another one.',
  name: 'The name is another one.',
  environment: 'The name is another one.',
  opposite: 'It says the opposite.',
  forbidden: 'The errand rules it out.',
}

function saysOfSwap({ swap, phi, why }: Step): string {
  if (swap === null || swap === undefined) return why ?? ''
  const isNear = phi < 0.2 && swap.kind !== 'forbidden' && swap.kind !== 'opposite'
  const near = isNear ? 'The wording is nearly the ground’s, so its distance is small. ' : ''
  return near + another[swap.kind]
}
