import type { AssignedRequest, Assignment } from './assignment.ts'
import { groundOf } from './assignment.ts'
import { detectors } from './detectors.ts'
import { frozen, type Memory } from './memory.ts'
import { wordsOf } from './words/words.ts'

/**
 * The memory after it has come out who spoke a message whose speaker was not known. A person's stands as that of a
 * user. What a machine spoke no longer stands, and what stood before the message stands again if nothing has been
 * asked for since: at least the newest of the earlier requests that no machine spoke. The first message of a run stays its
 * ground. Null if the memory holds no such message.
 */
export function settleSpeaker(
  memory: Memory,
  message: string,
  by: 'person' | 'machine',
): Memory | null {
  const { assignment = [], before } = memory
  const unsure = assignment.findLast(
    (each) => each.by === 'unknown' && (each.text === message || isCorrectedBy(each, message)),
  )
  if (unsure === undefined) return null
  const isNewest = before !== undefined && unsure.revision === memory.revision
  if (by === 'person') {
    const { before: _, ...settled } = memory
    const named = assignment.map((each) => (each === unsure ? withSpeaker(each, before) : each))
    return isNewest
      ? { ...settled, assignment: named }
      : withBefore({ ...memory, assignment: named }, message, by)
  }
  const withdrawn: AssignedRequest = { ...unsure, text: message, by: 'machine', stands: false }
  if (isNewest) {
    const own = detectors[memory.detector].start(before.ground, null, false)
    return frozen(memory, { ...before, assignment: [...before.assignment, withdrawn] }, own)
  }
  const marked = assignment.map((each) => (each === unsure ? withdrawn : each))
  if (!unsure.stands) return withBefore({ ...memory, assignment: marked }, message, by)
  const others = groundOf(marked) === '' ? withEarlier(marked, withdrawn) : marked
  const goal = groundOf(others)
  // Nothing else was asked for.
  if (goal === '' || memory.ground === null) {
    const kept = assignment.map((each) =>
      each === unsure ? { ...each, by: 'machine' as const } : each,
    )
    return { ...memory, assignment: kept }
  }
  const ground = { ...memory.ground, goal, words: wordsOf(goal) }
  const own = detectors[memory.detector].start(ground, null, false)
  return frozen(memory, { ground, assignment: others }, own)
}

/** The memory after what stood before its newest message is settled too, so that it may stand again. */
function withBefore(memory: Memory, message: string, by: 'person' | 'machine'): Memory {
  const { before, ...rest } = memory
  if (before === undefined) return memory
  const settled = settleSpeaker({ ...rest, ...before }, message, by)
  if (settled === null || settled.ground === null) return memory
  return { ...rest, before: { ground: settled.ground, assignment: settled.assignment ?? [] } }
}

/** The assignment in which the newest request before another one stands that no machine spoke. */
function withEarlier(assignment: Assignment, than: AssignedRequest): AssignedRequest[] {
  const earlier = assignment.slice(0, assignment.indexOf(than))
  const newest = earlier.findLast(({ by }) => by !== 'machine')
  return assignment.map((each) => (each === newest ? { ...each, stands: true } : each))
}

function isCorrectedBy({ text }: AssignedRequest, message: string): boolean {
  return text.endsWith(`\n${message}`)
}

/** A request that the message corrected is that of whoever gave it. */
function withSpeaker(
  request: AssignedRequest,
  before: { assignment: Assignment } | undefined,
): AssignedRequest {
  const corrected = before?.assignment.find(({ text }) => request.text.startsWith(`${text}\n`))
  const by = corrected === undefined || corrected.by === 'unknown' ? 'user' : corrected.by
  return { ...request, by }
}
