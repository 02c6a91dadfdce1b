import { cutTo, maxTextLength, wellFormed } from '../text.ts'
import { amountOf, type Fields, fieldsOf, given, listOf, timeOf } from './fields.ts'
import {
  type Act,
  actFamilies,
  type HostEvent,
  type HostFact,
  hostNames,
  type PlanItem,
} from './host-event.ts'

const longestId = 220
const longestPath = 1000
const longestWords = 400
const longestHash = 64
const longestList = 50

/**
 * Reads an event that was read out of its host's form elsewhere, as `plumbline relay` sends it. Total: what is no such
 * event is null, what it does not know is left out, and texts are cut to what is kept.
 */
export function readEvent(value: unknown): HostEvent | null {
  const fields = fieldsOf(value)
  const runId = short(fields.runId, longestId)
  const eventId = short(fields.eventId, longestId)
  const [host, session] = [runId.slice(0, runId.indexOf(':')), runId.slice(runId.indexOf(':') + 1)]
  const fact = factIn(fields)
  if (fact === null || eventId === '' || session === '') return null
  if (!hostNames.some((name) => name === host)) return null
  const at = given('at', timeOf(fields.at))
  const way = fields.way === 'file' ? { way: 'file' as const } : {}
  return { ...fact, ...at, ...way, runId, agentId: short(fields.agentId, longestId), eventId }
}

function factIn(fields: Fields): HostFact | null {
  switch (fields.kind) {
    case 'session': {
      const source = oneOf(['startup', 'resume', 'clear', 'compact', 'fork'], fields.source)
      return source && { kind: 'session', source }
    }
    case 'prompt': {
      const text = short(fields.text, maxTextLength)
      const by = oneOf(['person', 'machine', 'unknown'], fields.by)
      if (text === '' || by === null) return null
      const isHeadless = fields.isHeadless === true ? { isHeadless: true as const } : {}
      return { kind: 'prompt', text, by, ...isHeadless }
    }
    case 'plan':
      return {
        kind: 'plan',
        whole: fields.whole === true,
        items: listOf(fields.items).slice(0, longestList).flatMap(itemIn),
      }
    case 'delegate': {
      const task = short(fields.task, maxTextLength)
      return task === ''
        ? null
        : {
            kind: 'delegate',
            task,
            ...given('taskHash', hash(fields.taskHash)),
            ...given('label', short(fields.label, maxTextLength)),
            ...given('agentType', short(fields.agentType, longestId)),
            ...given('child', short(fields.child, longestId)),
          }
    }
    case 'agent': {
      const state = oneOf(['start', 'stop'], fields.state)
      const child = short(fields.child, longestId)
      if (state === null || child === '') return null
      const agentType = given('agentType', short(fields.agentType, longestId))
      return { kind: 'agent', child, parent: short(fields.parent, longestId), state, ...agentType }
    }
    case 'act':
      return actIn(fields)
    case 'say':
    case 'intent': {
      const text = short(fields.text, maxTextLength)
      return text === '' ? null : { kind: fields.kind, text }
    }
    case 'wait': {
      const awaited = oneOf(['permission', 'answer'], fields.for)
      return awaited && { kind: 'wait', for: awaited }
    }
    case 'person': {
      const how = oneOf(['permission', 'answer'], fields.how)
      return how && { kind: 'person', how }
    }
    case 'turnEnd': {
      const expects = listOf(fields.expects).slice(0, 20)
      return { kind: 'turnEnd', expects: expects.map((text) => short(text, maxTextLength)) }
    }
    case 'runEnd':
      return { kind: 'runEnd', reason: short(fields.reason, 100) }
    case 'begin':
    case 'unheard':
    case 'compact':
      return { kind: fields.kind }
    case 'tokens': {
      const count = amountOf(fields.count)
      return count === undefined ? null : { kind: 'tokens', count }
    }
    default:
      return null
  }
}

function actIn(fields: Fields): Act | null {
  const family = oneOf(actFamilies, fields.family)
  const outcome = oneOf(['ok', 'failed', 'unknown'], fields.outcome)
  const argsHash = hash(fields.argsHash)
  if (family === null || outcome === null || argsHash === '') return null
  const { exit, isExplained } = fields
  const failing = listOf(fields.failing).slice(0, longestList).map(hash).filter(Boolean)
  const edits = listOf(fields.edits)
    .slice(0, 8)
    .map(fieldsOf)
    .map(({ path, from, to }) => ({
      path: short(path, longestPath),
      from: hash(from),
      to: hash(to),
    }))
  return {
    kind: 'act',
    family,
    tool: short(fields.tool, 100),
    paths: listOf(fields.paths)
      .slice(0, 8)
      .map((path) => short(path, longestPath))
      .filter(Boolean),
    words: short(fields.words, longestWords),
    ...given('said', short(fields.said, longestWords)),
    outcome,
    ...given('exit', Number.isSafeInteger(exit) ? (exit as number) : undefined),
    ...given('errorClass', hash(fields.errorClass)),
    argsHash,
    ...given('resultHash', hash(fields.resultHash)),
    ...given('failing', failing.length === 0 ? undefined : failing),
    ...given('edits', edits.length === 0 ? undefined : edits),
    ...given('ms', amountOf(fields.ms)),
    ...given('isHidden', fields.isHidden === true ? true : undefined),
    ...(isExplained === null || typeof isExplained === 'boolean' ? { isExplained } : {}),
  }
}

function itemIn(value: unknown): PlanItem[] {
  const item = fieldsOf(value)
  const state = oneOf(['open', 'now', 'done'], item.state)
  if (state === null) return []
  const id = given('id', short(item.id, longestId))
  return [{ ...id, text: short(item.text, maxTextLength), state }]
}

function oneOf<Value extends string>(values: readonly Value[], value: unknown): Value | null {
  return values.find((each) => each === value) ?? null
}

function hash(value: unknown): string {
  const text = short(value, longestHash)
  return /^[\w-]*$/.test(text) ? text : ''
}

/** A text without what no store holds, cut to its limit; '' for another value. */
function short(value: unknown, limit: number): string {
  return typeof value === 'string' ? wellFormed(cutTo(value.trim(), limit)) : ''
}
