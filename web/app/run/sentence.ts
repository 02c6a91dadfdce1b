import type { StoredRun, StoredStep } from '../../../src/surfaces/client/client.ts'
import { markOf } from '../../shared/line.ts'
import { differenceOf } from '../line/difference.ts'
import { saysOfSilence } from '../silent.ts'
import { counted, short } from '../time.ts'
import { closedIn, saysOfDrift, saysOfNames, words } from '../words.ts'

/** A drift of one agent: the steps around it, by number. */
export interface Episode {
  agent: string
  /** The first step that already leaned away, before the verdict. */
  left: number
  /** The first step that was called drifting. */
  called: number
  /** The step that was back on the errand; null while it goes on. */
  back: number | null
  /** The drifting steps, and all between `left` and `back`. */
  drifting: number
  away: number
  tokens: number
}

/** Finds the drifts of each agent in a trace, in order of the steps that were called. */
export function episodesOf(trace: readonly StoredStep[]): Episode[] {
  const found: Episode[] = []
  const agents = new Map<string, { open: Episode | null; leaning: StoredStep[] }>()
  for (const step of trace) {
    const name = step.agent_id ?? ''
    const agent = agents.get(name) ?? { open: null, leaning: [] }
    agents.set(name, agent)
    const mark = markOf(step)
    if (step.drifting) {
      if (agent.open === null) {
        agent.open = {
          agent: name,
          left: agent.leaning[0]?.step ?? step.step,
          called: step.step,
          back: null,
          drifting: 0,
          away: agent.leaning.length,
          tokens: agent.leaning.reduce((sum, { tokens = 0 }) => sum + tokens, 0),
        }
        found.push(agent.open)
      }
      agent.open.drifting += 1
      agent.open.away += 1
      agent.open.tokens += step.tokens ?? 0
      agent.leaning = []
    } else if (mark === 'uncertain' || mark === 'unreadable') {
      if (agent.open === null) agent.leaning.push(step)
    } else {
      if (agent.open !== null) agent.open.back = step.step
      agents.set(name, { open: null, leaning: [] })
    }
  }
  return found
}

/** The drift of the main agent that goes on; null if its last verdict does not drift. */
export function goingOn(run: StoredRun, episodes: readonly Episode[]): Episode | null {
  const last = episodes.findLast(({ agent }) => agent === '')
  return last !== undefined && last.back === null && run.drifting ? last : null
}

/** What a run did, in one or two sentences, and since when nothing is heard of it. */
export function sentenceOf(run: StoredRun, trace: readonly StoredStep[]): string {
  const silence = saysOfSilence(run)
  const did = didOf(run, trace)
  if (silence === null) return did
  const says = silence.replace('silent', 'Silent')
  return did === fine ? `${says}. It was on its errand until then.` : `${did} ${says}.`
}

/** What is said of a run that goes on as it should. */
const fine = 'On its errand so far. Nothing here needs you.'

function didOf(run: StoredRun, trace: readonly StoredStep[]): string {
  const episodes = episodesOf(trace)
  const main = episodes.filter(({ agent }) => agent === '')
  const last = main.at(-1)
  const lastStep = trace.findLast(({ agent_id }) => agent_id === undefined)
  if (trace.length === 0) return words.waitingForStep
  const open = goingOn(run, episodes)
  if (open !== null) {
    const since =
      open.left === open.called
        ? ''
        : ` It left at step ${open.left} and was called at ${open.called}.`
    return `${saysOfDrift(open.drifting)}${since}`
  }
  if (lastStep !== undefined && markOf(lastStep) === 'name' && lastStep.swap !== null) {
    const [errand, goal] = differenceOf(lastStep.swap.ground, lastStep.swap.goal)
    return closedIn(saysOfNames(goal, errand).join(''))
  }
  if (last !== undefined && last.back !== null) {
    const cost = last.tokens > 0 ? ` and ${short(last.tokens)} tokens` : ''
    const before = main.length > 1 ? ` It drifted ${main.length} times; the last time it` : ' It'
    const left =
      last.left === last.called
        ? ` left at step ${last.called}`
        : ` left at step ${last.left}, was called at ${last.called},`
    return `Back on its errand since step ${last.back}.${before}${left} and spent ${counted(last.drifting, 'step')}${cost} adrift.`
  }
  const ofSub = episodes.findLast(({ agent }) => agent !== '')
  if (ofSub !== undefined) {
    const back = ofSub.back === null ? 'and is still away' : `and is back since step ${ofSub.back}`
    const called = ofSub.left === ofSub.called ? '' : `, was called at ${ofSub.called},`
    return `The main agent kept to its errand. The sub-agent ${closedIn(ofSub.agent)} left its own at step ${ofSub.left}${called} ${back}.`
  }
  if (lastStep !== undefined && markOf(lastStep) === 'uncertain') {
    return words.undecided
  }
  return run.outcome === null
    ? fine
    : 'On its errand from the first step to the last. Nothing here needs you.'
}
