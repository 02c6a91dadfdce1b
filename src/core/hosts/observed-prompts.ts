import { termsOf } from './coverage.ts'
import { doingsAfterPrompt } from './evidence.ts'
import { digestOf, given } from './fields.ts'
import type { HostEvent } from './host-event.ts'
import { mostKept, type Observed, type ObservedAgent, type Unsettled } from './observed.ts'
import {
  agentOf,
  cut,
  explained,
  type Folded,
  nothingOpen,
  seenPerson,
  stepOf,
} from './opened-step.ts'
import { untold } from './step-goal.ts'

/** A prompt of which it has come out who spoke it, and whether a program handed it over. */
export interface SettledPrompt extends Unsettled {
  by: 'person' | 'machine'
  isHeadless: boolean
}

/** Milliseconds within which the same words are the same prompt, told by another way. */
const sameWordsMs = 15_000

/** A person's words open a step; a machine's do not, nor do prompts that were announced. */
export function prompted(
  state: Observed,
  agent: ObservedAgent,
  event: HostEvent & { kind: 'prompt' },
): Folded {
  const text = cut(event.text)
  // A hook and an exporter tell one prompt, under ids of their own.
  if (toldBefore(state, event) !== undefined)
    return { state: withAttendance(state, event), agent: null, steps: [] }
  const told = [...state.spoken, { words: digestOf(text), at: event.at ?? null, id: event.eventId }]
  const prompts = state.told.prompts + (event.by === 'machine' ? 0 : 1)
  const heard = {
    ...state,
    spoken: told.slice(-mostKept.spoken),
    told: { ...state.told, prompts },
  }
  if (event.by === 'machine' || state.expects.includes(text))
    return { state: heard, agent: null, steps: [] }
  const trace = event.span?.traceId ?? null
  const isSameTrace = event.way === 'span' && trace !== null && trace === state.errandTrace
  // Each call of a model tells the newest words again.
  if (isSameTrace && text === state.errand) return { state: heard, agent: null, steps: [] }
  const isHeadless = event.isHeadless === true
  const isDoubtful = event.by === 'unknown' || (isSameTrace && event.isPartial === true)
  const isUnsure = isDoubtful && text !== untold
  const spoken = {
    ...seenPerson(heard, event.at),
    errand: text,
    errandTrace: trace,
    isHeadless,
    unsettled: isUnsure ? withUnsettled(state, event, text) : (state.unsettled ?? []),
    unended: state.unended.map((each) =>
      each.agentId === event.agentId ? { ...each, isPast: true as const } : each,
    ),
  }
  // What was planned and said before served the words before. What they explained, the new words may still need.
  const begun: ObservedAgent = {
    ...agent,
    ...given('reported', agent.reported && { ...agent.reported, goal: null }),
    intent: null,
    said: null,
    goal: null,
    done: [],
    doings: doingsAfterPrompt(agent.doings),
    shown: null,
  }
  const step = stepOf(event.agentId, begun, { goal: text, source: 'prompt' })
  const distance = begun.toTell?.distance ?? null
  const next = explained(spoken, { ...begun, ...nothingOpen })
  return {
    state: spoken,
    agent: { ...next, terms: termsOf([...next.terms, ...agent.terms.slice(0, 200)]) },
    steps: [{ ...step, userMessage: text, isUnsure, plan: null, distance }],
  }
}

/** The prompt with the same words that was told before by another way; undefined if there is none. */
function toldBefore({ spoken }: Observed, { text, at }: HostEvent & { kind: 'prompt' }) {
  const words = digestOf(cut(text))
  return text === untold
    ? undefined
    : spoken.find((each) => each.words === words && isSoon(each.at, at ?? null))
}

/**
 * The event with the id under which the same words were told before by another way. Without it nobody who does not see the
 * words could know them again.
 */
export function underFirstId(
  observed: Observed,
  event: HostEvent & { kind: 'prompt' },
): HostEvent & { kind: 'prompt' } {
  const id = toldBefore(observed, event)?.id
  return id === undefined ? event : { ...event, eventId: id }
}

/** The session after a prompt was told again that a program had handed over, which not every way of telling says. */
export function withAttendance(state: Observed, event: HostEvent): Observed {
  const isNews = event.kind === 'prompt' && event.isHeadless === true && state.isHeadless !== true
  return isNews && cut(event.text) === state.errand ? { ...state, isHeadless: true } : state
}

/** The prompts of which it is not known who spoke them, with a new one. */
function withUnsettled(
  { unsettled = [], errand, personAt }: Observed,
  { eventId, at }: HostEvent,
  text: string,
): Unsettled[] {
  return [...unsettled, { id: eventId, text, at: at ?? null, errand, personAt }].slice(
    -mostKept.unsettled,
  )
}

/**
 * The prompt that a later event of the same tells the speaker of; null if it is none. Claude Code gives what a machine says
 * while it works on a prompt the id of that prompt: other words of a machine tell nothing of it.
 */
export function unsettledBy({ unsettled = [] }: Observed, event: HostEvent): Unsettled | null {
  if (event.kind !== 'prompt' || event.by === 'unknown') return null
  // Who spoke is not known before what stands around the words has arrived.
  if (event.isPartial === true && event.by === 'person' && event.isHeadless !== true) return null
  const { eventId, by, at = null } = event
  const text = cut(event.text)
  const mayTellOf = (each: Unsettled) => by === 'person' || text === '' || each.text === text
  return (
    unsettled.findLast(
      (each) =>
        (each.id === eventId && mayTellOf(each)) || (each.text === text && isSoon(each.at, at)),
    ) ?? null
  )
}

/** The session after it has come out who spoke a prompt. What a machine spoke is no errand. */
export function settled(
  known: Observed,
  event: HostEvent & { kind: 'prompt' },
  prompt: Unsettled,
): Observed {
  const { told } = known
  const prompts = Math.max(0, told.prompts - (event.by === 'machine' ? 1 : 0))
  const state = { ...known, told: { ...told, prompts } }
  const before = state.unsettled ?? []
  const unsettled = before.filter((each) => each !== prompt)
  const isNewest = state.errand === prompt.text && before.at(-1) === prompt
  if (event.by === 'person' || prompt.errand === null) {
    return isNewest && event.isHeadless === true
      ? { ...state, unsettled, isHeadless: true }
      : { ...state, unsettled }
  }
  if (!isNewest) {
    // What a machine spoke is not to stand again when a later prompt is taken back.
    const { errand, personAt } = prompt
    const later = unsettled.map((each) =>
      each.errand === prompt.text ? { ...each, errand, personAt } : each,
    )
    return { ...state, unsettled: later }
  }
  const after = { ...state, unsettled, errand: prompt.errand, personAt: prompt.personAt }
  const agent = agentOf(after, '')
  return { ...after, agents: { ...after.agents, '': explained(after, agent) } }
}

function isSoon(before: number | null, at: number | null): boolean {
  return before !== null && at !== null && Math.abs(at - before) < sameWordsMs
}
