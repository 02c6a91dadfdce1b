import { cutTo } from '../../text.ts'
import type { StandsOn } from '../contract/findings.ts'
import { type Errand, restates } from './errand.ts'
import { scoreTexts } from './evidence.ts'
import { scorePair } from './score.ts'
import { type ReadText, readText, saysTheSame } from './texts.ts'

const longest = 240

/** The text of errand, plan or declared parent that a goal is nearest to. */
export function standsOn(
  { plan, ownPlan }: Errand,
  ground: ReadText,
  goal: ReadText,
  parent: ReadText | null,
): StandsOn {
  const assigned: StandsOn = { kind: 'assignment', text: cutTo(ground.text, longest) }
  // Most steps have nothing else to stand on, and need no score.
  if (plan.length + ownPlan.length === 0 && parent === null) return assigned
  let lowest = ground.isKnown && goal.isKnown ? scoreTexts(ground, goal) : 0
  let found = assigned
  const consider = (kind: StandsOn['kind'], text: ReadText) => {
    if (!text.isKnown || !goal.isKnown) return
    const score = scorePair(text.meaning, goal.meaning)
    if (score >= lowest) return
    lowest = score
    found = { kind, text: text.text }
  }
  if (!saysTheSame(goal, ground)) {
    for (const item of [...plan, ...ownPlan]) {
      const read = readText(item)
      if (restates(goal, read)) return { kind: 'plan', text: read.text }
      consider('plan', read)
    }
    if (parent !== null && !saysTheSame(parent, ground)) consider('parent', parent)
  }
  return { ...found, text: cutTo(found.text, longest) }
}
