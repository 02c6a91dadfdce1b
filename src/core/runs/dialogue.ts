import { goalFloor } from '../detector/contract/constants.ts'
import { readDistance } from '../detector/distance.ts'
import { overlapOf } from '../detector/words/compare.ts'
import { wordsOf } from '../detector/words/words.ts'
import { meanOf, rounded, two } from '../figures.ts'
import { parseJson } from '../text.ts'
import { type Fault, fieldReader } from './field-reader.ts'

/** Overlap with the shared goal below which a restatement has left it (exactly this much still passes), 0–1. */
export const restatementFloor = goalFloor

/** Mean echo from which a stalled dialogue is an echo spiral, 0–1. */
export const echoFloor = 0.25

/**
 * Number of earlier turns that are compared for echoes, whose echoes are averaged, and over which a
 * distance must fall.
 */
export const dialogueWindow = 3

/** The reasons of a verdict, in the order of their checks. */
export const dialogueReasons = [
  'grounded',
  'ungrammatical',
  'topic-drift',
  'echo-spiral',
  'deliberation-stall',
  'advancing',
] as const

export type DialogueReason = (typeof dialogueReasons)[number]

/** One turn of an agent. */
export interface Turn {
  agent: string
  /** The position of the agent. */
  position: string
  /** 0–10, as the agent sees it. */
  distance: number
  /** The shared goal on the first turn, later the goal as the agent restates it; null if it does not. */
  goal: string | null
}

/** The verdict on a turn, as it goes over the wire. Scores are rounded to two decimals. */
export interface TurnVerdict {
  reason: DialogueReason
  drifting: boolean
  /**
   * Distance of the restated goal, or otherwise of the position, from the shared goal, 0–1; 0 if
   * ungrammatical.
   */
  phi: number
  /** How much the position repeats the last turns of other agents, 0–1. */
  echo: number
  /** How much it repeats the last turns of its own agent, 0–1. */
  self_echo: number
  dist: number
  advice: string
}

/**
 * The state that the next turn of a dialogue needs: plain JSON of bounded size. `v` is the version of this
 * shape.
 */
export interface DialogueMemory {
  v: 1
  goal: { text: string; words: readonly string[] } | null
  /** The newest turns, which can be echoed. */
  recent: { agent: string; words: readonly string[] }[]
  /** The newest echoes, unrounded, and the newest distances. */
  echoes: number[]
  distances: number[]
  last: DialogueReason | null
}

/** Creates the memory of a new dialogue; a goal freezes it before the first turn. */
export function newDialogue(goal: string | null = null): DialogueMemory {
  return {
    v: 1,
    goal: goal === null ? null : { text: goal, words: wordsOf(goal) },
    recent: [],
    echoes: [],
    distances: [],
    last: null,
  }
}

/** Reads a stored memory; null when it is damaged or of another version. */
export function readDialogueMemory(text: string): DialogueMemory | null {
  const memory = parseJson(text) as DialogueMemory | null | undefined
  return memory?.v === 1 ? memory : null
}

/**
 * Judges one turn: `(memory, turn) → (verdict, memory)`. Pure and deterministic. Agreement is measured by
 * words; a spiral or a stall warns first and drifts if the next turn repeats it.
 */
export function takeTurn(
  memory: DialogueMemory,
  turn: Turn,
): { verdict: TurnVerdict; memory: DialogueMemory } {
  const { agent, distance } = turn
  const words = wordsOf(turn.position)
  const goal = memory.goal ?? goalToFreeze(turn)
  const isFirst = memory.goal === null && goal !== null
  const isSpelled = goal !== null && (isFirst || words.length > 0)

  const echo = isFirst || !isSpelled ? 0 : likest(words, memory, (other) => other !== agent)
  const selfEcho = isFirst || !isSpelled ? 0 : likest(words, memory, (other) => other === agent)
  const echoes = isSpelled ? [...memory.echoes, echo].slice(-dialogueWindow) : memory.echoes
  const distances = isSpelled
    ? [...memory.distances, distance].slice(-(dialogueWindow + 1))
    : memory.distances
  const before = distances.length > dialogueWindow ? distances[0] : undefined
  const restated =
    turn.goal === null || isFirst ? null : overlapOf(wordsOf(turn.goal), goal?.words ?? [])
  const similarity = isFirst ? 1 : (restated ?? overlapOf(words, goal?.words ?? []))

  const reason = reasonOf({
    isFirst,
    isSpelled,
    restated,
    stalls: before !== undefined && distance >= before,
    meanEcho: meanOf(echoes),
  })
  const drifting =
    reason === 'ungrammatical' ||
    reason === 'topic-drift' ||
    ((reason === 'echo-spiral' || reason === 'deliberation-stall') && memory.last === reason)
  return {
    verdict: {
      reason,
      drifting,
      phi: isSpelled ? rounded(1 - similarity) : 0,
      echo: rounded(echo),
      self_echo: rounded(selfEcho),
      dist: distance,
      advice: sentences[reason]({ hasGoal: goal !== null, restated, echoes, distances, drifting }),
    },
    memory: {
      v: 1,
      goal,
      recent: [...memory.recent, { agent, words }].slice(-dialogueWindow),
      echoes,
      distances,
      last: reason,
    },
  }
}

/** The goal that the first turn freezes: the stated goal, or its position if that has words. */
function goalToFreeze({ goal, position }: Turn): DialogueMemory['goal'] {
  for (const text of [goal, position]) {
    const words = text === null ? [] : wordsOf(text)
    if (text !== null && words.length > 0) return { text, words }
  }
  return null
}

function likest(
  words: readonly string[],
  { recent }: DialogueMemory,
  counts: (agent: string) => boolean,
): number {
  const overlaps = recent
    .filter(({ agent }) => counts(agent))
    .map((turn) => overlapOf(words, turn.words))
  return Math.max(0, ...overlaps)
}

interface Situation {
  isFirst: boolean
  isSpelled: boolean
  /** Overlap of the restated goal with the shared one, 0–1, or null without a restatement. */
  restated: number | null
  stalls: boolean
  meanEcho: number
}

function reasonOf({ isFirst, isSpelled, restated, stalls, meanEcho }: Situation): DialogueReason {
  if (isFirst) return 'grounded'
  if (!isSpelled) return 'ungrammatical'
  if (restated !== null && restated < restatementFloor) return 'topic-drift'
  if (stalls) return meanEcho >= echoFloor ? 'echo-spiral' : 'deliberation-stall'
  return 'advancing'
}

interface Told {
  hasGoal: boolean
  restated: number | null
  echoes: readonly number[]
  distances: readonly number[]
  drifting: boolean
}

/** The measured facts and their possible meaning. */
const sentences: Record<DialogueReason, (told: Told) => string> = {
  grounded: () => 'The shared goal is set. Later turns of every agent are measured against it.',
  ungrammatical: ({ hasGoal }) =>
    hasGoal
      ? 'This position has no word that could be compared.'
      : 'There is no shared goal yet, and this turn has no word that could be one.',
  'topic-drift': ({ restated }) =>
    `The goal as stated here no longer matches the shared goal (overlap ${two(restated ?? 0)}). The shared goal is still owed.`,
  'echo-spiral': ({ echoes, distances, drifting }) =>
    `The agents agree (mean echo ${two(meanOf(echoes))}) while the distance does not fall (${distances.join(', ')}). ${held(drifting)}`,
  'deliberation-stall': ({ distances, drifting }) =>
    `The distance does not fall (${distances.join(', ')}), and the agents do not repeat each other. ${held(drifting)}`,
  advancing: ({ distances }) => `On the shared goal (distance ${distances.at(-1) ?? 0}).`,
}

function held(drifting: boolean): string {
  return drifting
    ? 'It was so on the turn before as well; the shared goal is still owed.'
    : 'If it holds on the next turn, the dialogue counts as drifting.'
}

/** A parsed body of `POST /v1/dialogue`. */
export interface DialogueRequest extends Turn {
  convId: string
}

/**
 * Reads a body of `POST /v1/dialogue`. A blank position and any distance get verdicts; a position that is
 * not a text is an error. Texts are returned trimmed and well-formed; a blank goal counts as not given.
 */
export function readDialogue(body: unknown): DialogueRequest | Fault {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { fault: 'body: send a JSON object with conv_id, agent and position' }
  }
  const fields = body as Record<string, unknown>
  const faults: string[] = []
  const read = fieldReader(fields, faults)
  const required = (name: string, value: string | null, what: string) => {
    if (value === null && !faults.some((fault) => fault.startsWith(`${name}: `))) {
      faults.push(`${name}: send ${what}`)
    }
    return value ?? ''
  }
  const request: DialogueRequest = {
    convId: required('conv_id', read.id('conv_id'), 'the name of the conversation'),
    agent: required('agent', read.id('agent'), 'the name of the agent whose turn it is'),
    position: required('position', read.text('position'), 'a text'),
    distance: readDistance(fields.distance),
    goal: read.text('goal') || null,
  }
  return faults.length === 0 ? request : { fault: faults.join('; ') }
}
