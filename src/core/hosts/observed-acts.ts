import { explainedAfter, explains } from './coverage.ts'
import {
  type ActEvidence,
  doingsAfter,
  doingsAfterEnd,
  evidenceOf,
  evidenceOfEnd,
  withEnd,
} from './evidence.ts'
import { digestOf, given } from './fields.ts'
import type { Act, HostEvent } from './host-event.ts'
import { mostKept, type Observed, type ObservedAgent, type UnendedAct } from './observed.ts'
import { agentOf, type Folded, nothingOpen, seenPerson, stepOf } from './opened-step.ts'
import { actTold, type DerivedGoal, goalOf, untold } from './step-goal.ts'

/** Acts under one goal after which the step is told again. */
const actsOfStep = 10

/** Acts after which a sub-agent opens a step though nobody has told its task. */
const actsBeforeTask = 3

/** Milliseconds after which an act that a person was asked about has been granted by one. */
const grantMs = 1000

/** An act opens a step if it shows a new goal, is the tenth under one, or is the first to show evidence of its kind. */
export function acted(state: Observed, agent: ObservedAgent, act: HostEvent & Act): Folded {
  const at = act.at ?? null
  const isCovered = act.isExplained === undefined ? explains(agent, act) : act.isExplained
  const doings = doingsAfter(agent.doings, act, { isCovered, at })
  const hasBegun = agent.plan.length > 0 || doings.edits > 0
  const [shown = null] = evidenceOf(doings, act, { hasBegun, at })
  const derived = goalOf(agent, act)
  const counted: ObservedAgent = {
    ...agent,
    ...(isCovered === true ? explainedAfter(agent, act) : {}),
    said: null,
    acts: agent.acts + 1,
    failed: agent.failed + (act.outcome === 'failed' ? 1 : 0),
    doings,
    doing: [...agent.doing, actTold(act)].slice(-mostKept.doing),
    shown: shown?.kind ?? null,
  }
  // A person who was asked has granted what then happens.
  const isGranted =
    state.waitsSince !== null && at !== null && at - state.waitsSince >= grantMs && !act.agentId
  const hides = act.isHidden === true ? ({ hidesActs: true } as const) : {}
  const granted = isGranted
    ? { ...seenPerson(state, act.at), ...hides }
    : { ...state, ...hides, waitsSince: null }
  const { acts: nth, world, edits } = doings
  const after = withUnended(granted, act, { isCovered, place: { nth, world, edits } })
  const unopened = { state: after, agent: counted, steps: [] }
  if (mayNotOpen(state, counted, act, derived)) return unopened
  const isNew = isNews(agent, shown) || opens(agent, act, derived)
  return isNew || counted.acts >= actsOfStep
    ? opened(after, counted, act, derived, shown)
    : unopened
}

/** Whether evidence of this kind has not been told of the agent yet. */
export function isNews(agent: ObservedAgent, shown: ActEvidence | null): boolean {
  return shown !== null && shown.gives !== null && shown.kind !== agent.shown
}

/** Whether an act opens no step whatever it shows, because nothing is known that it could be measured against. */
function mayNotOpen(
  state: Observed,
  agent: ObservedAgent,
  act: HostEvent & Act,
  { goal }: DerivedGoal,
): boolean {
  // The task of a sub-agent may be told after its first acts, and its first step makes the ground.
  const isEarly = act.agentId !== '' && agent.task === null && agent.acts < actsBeforeTask
  // What is untold must not become the ground.
  const isGroundless = goal === untold && state.errand === null && agent.task === null
  return isEarly || isGroundless
}

/** A step that an act opens, and the agent after it. */
export function opened(
  state: Observed,
  agent: ObservedAgent,
  act: HostEvent & Act,
  derived: DerivedGoal,
  shown: ActEvidence | null,
): Folded {
  const told = digestOf(derived.goal)
  const after = {
    ...agent,
    ...nothingOpen,
    isTaskTold: true,
    goal: derived.goal,
    done: [...agent.done.filter((each) => each !== told), told].slice(-mostKept.done),
  }
  return { state, agent: after, steps: [{ ...stepOf(act.agentId, agent, derived), shown }] }
}

/** The session with an act of which it is not known how it ended; as it was if that is known. */
export function withUnended(
  state: Observed,
  act: HostEvent & Act,
  { isCovered, place }: Pick<UnendedAct, 'isCovered' | 'place'>,
): Observed {
  if (act.outcome !== 'unknown') return state
  const { eventId: id, agentId, argsHash: args, resultHash: result = null } = act
  const unended = [
    ...state.unended,
    { id, agentId, args, result, told: actTold(act), isCovered, place },
  ]
  return { ...state, unended: unended.slice(-mostKept.unended) }
}

/**
 * An earlier act of which it comes out how it ended: it counts as if that had been told at once, and opens a step if it is the
 * first to show evidence of its kind.
 */
export function ended(state: Observed, event: HostEvent & Act, unended: UnendedAct): Folded {
  const { agentId, place, args, result } = unended
  const { told } = state
  const at = state.unended.indexOf(unended)
  const later = state.unended.slice(at + 1)
  const others = state.unended.toSpliced(at, 1)
  const counted: Observed = {
    ...state,
    unended: others,
    told: { ...told, ended: told.ended + 1 },
  }
  const agent = agentOf(state, agentId)
  const isForgotten = !Object.hasOwn(state.agents, agentId)
  if (place === null || isForgotten) return { state: counted, agent: null, steps: [] }
  const act = { ...event, ...given('resultHash', result ?? event.resultHash), argsHash: args }
  if (unended.isPast === true) {
    return { state: counted, agent: { ...agent, doings: withEnd(agent.doings, act) }, steps: [] }
  }
  const isCovered = act.isExplained === undefined ? explains(agent, act) : act.isExplained
  const { doings, isOther } = doingsAfterEnd(agent.doings, act, {
    ...place,
    at: act.at ?? null,
    isCovered,
    wasCovered: unended.isCovered,
  })
  const isOpen = agent.doings.acts - place.nth < agent.acts
  const spot = isOpen ? agent.doing.lastIndexOf(unended.told) : -1
  const [shown = null] = later.some((each) => each.agentId === agentId && each.args === args)
    ? []
    : evidenceOfEnd(doings, act, place.edits)
  const after: ObservedAgent = {
    ...agent,
    ...(isCovered === true ? explainedAfter(agent, act) : {}),
    failed: agent.failed + (isOpen && act.outcome === 'failed' ? 1 : 0),
    doings,
    doing: spot < 0 ? agent.doing : agent.doing.with(spot, actTold(act)),
    shown: shown?.kind ?? agent.shown,
  }
  // What its result has changed, the acts after it have seen.
  const moved = isOther
    ? others.map((each, nth) => (nth < at ? each : movedOn(each, agentId)))
    : others
  const settledState = { ...counted, unended: moved }
  const derived = goalOf(agent, act)
  const opensNone = !isNews(agent, shown) || mayNotOpen(state, after, act, derived)
  return opensNone
    ? { state: settledState, agent: after, steps: [] }
    : opened(settledState, after, act, derived, shown)
}

function movedOn(each: UnendedAct, agentId: string): UnendedAct {
  if (each.agentId !== agentId || each.place === null) return each
  return { ...each, place: { ...each.place, world: each.place.world + 1 } }
}

/** Reading and searching for their own sake open no step, unless nothing else is known since the user spoke. */
function opens(agent: ObservedAgent, { family }: Act, { goal, source }: DerivedGoal): boolean {
  if (goal === agent.goal || goal === '' || goal === untold) return false
  if (source !== 'act') return !(source === 'description' && agent.done.includes(digestOf(goal)))
  const onlyLooks = family === 'read' || family === 'search' || family === 'wait'
  return agent.goal === null || (!onlyLooks && !agent.done.includes(digestOf(goal)))
}
