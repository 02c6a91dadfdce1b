import { cutTo } from '../text.ts'
import { familyOf } from './act.ts'
import { withoutSecrets } from './commands.ts'
import { digestOf, given } from './fields.ts'
import type { Act, HostEvent, HostFact } from './host-event.ts'
import { untold } from './step-goal.ts'

/**
 * What leaves a machine. `words`: prompts, plan, words of the agent, paths inside the project and the heads of commands,
 * without what looks like a secret. `hashes`: paths, tools and commands only as hashes. `counts`: no text at all.
 */
export const privacyLevels = ['words', 'hashes', 'counts'] as const

export type PrivacyLevel = (typeof privacyLevels)[number]

/** Whether a level tells less than another. */
export function isStricter(level: PrivacyLevel, than: PrivacyLevel): boolean {
  return privacyLevels.indexOf(level) > privacyLevels.indexOf(than)
}

/** A hash with a key that stays on the machine: 16 hexadecimal digits, equal for equal texts. */
export type Hide = (text: string) => string

/** Characters of an item of a plan that are kept anywhere. */
const longestItem = 300
const nothing = digestOf('')
/** An id in which a hash of texts stands. */
const digest = /(?:^|#)[\da-f]{16}(?=#|$)/

/**
 * What may be told of an event at a level; null if nothing. The plain hashes of an event can be guessed from short texts,
 * so all of them are hashed again with the key.
 */
export function redacted(event: HostEvent, level: PrivacyLevel, hide: Hide): HostEvent | null {
  const fact = factAt(event, level, hide)
  if (fact === null) return null
  const { at, runId, agentId, eventId, way } = event
  const mark = runId.indexOf(':') + 1
  return {
    ...fact,
    ...given('at', at),
    ...given('way', way),
    runId: `${runId.slice(0, mark)}${idAt(runId.slice(mark), level, hide)}`,
    agentId: idAt(agentId, level, hide),
    // By an id of the host the same event is known that comes by another way, such as telemetry.
    eventId: level !== 'counts' && !digest.test(eventId) ? eventId : hide(eventId),
  }
}

/** The ids of hosts are no words, yet some hosts let people choose them. */
function idAt(id: string, level: PrivacyLevel, hide: Hide): string {
  return id === '' || level !== 'counts' ? id : hide(id)
}

function factAt(fact: HostFact, level: PrivacyLevel, hide: Hide): HostFact | null {
  const isCounts = level === 'counts'
  const words = (text: string) => (isCounts ? untold : withoutSecrets(text))
  /** Words of the agent, which name files and commands in passing. */
  const told = (text: string) => (level === 'hashes' ? withoutPlaces(words(text)) : words(text))
  const id = (value: string) => idAt(value, level, hide)
  switch (fact.kind) {
    case 'prompt':
      return {
        kind: 'prompt',
        text: words(fact.text),
        by: fact.by,
        ...given('isHeadless', fact.isHeadless),
      }
    case 'plan': {
      const items = fact.items.map((item) => ({
        ...given('id', item.id === undefined ? undefined : id(item.id)),
        text: item.text === '' ? '' : cutTo(words(item.text), longestItem),
        state: item.state,
      }))
      return { kind: 'plan', items, whole: fact.whole }
    }
    case 'delegate':
      return {
        kind: 'delegate',
        task: words(fact.task),
        ...given('taskHash', isCounts ? hide(fact.task) : undefined),
        ...given('label', fact.label === undefined || isCounts ? undefined : told(fact.label)),
        ...given('agentType', fact.agentType && id(fact.agentType)),
        ...given('child', fact.child && id(fact.child)),
      }
    case 'agent':
      return {
        kind: 'agent',
        child: id(fact.child),
        parent: id(fact.parent),
        state: fact.state,
        ...given('agentType', fact.agentType && id(fact.agentType)),
      }
    case 'act':
      return level === 'words' ? clearAct(fact, hide) : hiddenAct(fact, level, hide)
    case 'say':
    case 'intent':
      return isCounts ? null : { kind: fact.kind, text: told(fact.text) }
    case 'report':
      // Only telemetry tells it, and that goes past the relay.
      return null
    case 'turnEnd':
      // Who spoke is found out before an event leaves the machine.
      return { kind: 'turnEnd', expects: [] }
    case 'runEnd':
      return { kind: 'runEnd', reason: '' }
    case 'session':
      return { kind: 'session', source: fact.source }
    case 'wait':
      return { kind: 'wait', for: fact.for }
    case 'person':
      return { kind: 'person', how: fact.how }
    case 'begin':
    case 'unheard':
    case 'compact':
      return { kind: fact.kind }
    case 'tokens':
      return { kind: 'tokens', count: fact.count }
  }
}

/** The parts of an act that hold no text. */
function countsOf(act: Act, hide: Hide) {
  const { errorClass, resultHash, failing } = act
  return {
    kind: 'act',
    family: act.family,
    outcome: act.outcome,
    ...given('exit', act.exit),
    ...given('ms', act.ms),
    // What is no fault of the work stays known as such.
    ...given('errorClass', errorClass === 'infra' ? errorClass : errorClass && hide(errorClass)),
    argsHash: hide(act.argsHash),
    ...given('resultHash', resultHash && hide(resultHash)),
    ...given('failing', failing?.map(hide)),
  } as const
}

function editsOf({ edits }: Act, place: (path: string) => string, hide: Hide): Pick<Act, 'edits'> {
  const hidden = (hash: string) => (hash === nothing ? hash : hide(hash))
  return given(
    'edits',
    edits?.map(({ path, from, to }) => ({ path: place(path), from: hidden(from), to: hidden(to) })),
  )
}

function clearAct(act: Act, hide: Hide): Act {
  return {
    ...countsOf(act, hide),
    tool: withoutSecrets(act.tool),
    paths: act.paths.map(withoutSecrets),
    words: withoutSecrets(act.words),
    ...given('said', act.said && withoutSecrets(act.said)),
    ...editsOf(act, withoutSecrets, hide),
  }
}

function hiddenAct(act: Act, level: 'hashes' | 'counts', hide: Hide): Act {
  const isKnownTool = familyOf(act.tool) !== undefined && !/^mcp__|\W/i.test(act.tool)
  const place = (path: string) => (path.startsWith('~') ? `~/…/${hide(path)}` : hide(path))
  return {
    ...countsOf(act, hide),
    tool: level === 'hashes' && isKnownTool ? act.tool : hide(act.tool),
    paths: act.paths.map(place),
    words: act.words === '' ? '' : hide(act.words),
    ...given(
      'said',
      act.said && level === 'hashes' ? withoutPlaces(withoutSecrets(act.said)) : undefined,
    ),
    ...editsOf(act, place, hide),
    isHidden: true,
    // Its own words no longer say so.
    isExplained: act.isExplained ?? null,
  }
}

const quoted = /`[^`\n]{1,400}`/g
/** A path, or the name of a file. */
const place = /[/\\]\S|\w\.[a-z]{1,6}(?![\w.])/i

/** A text with `…` for code that it quotes, and for words that look like a path or a file. */
function withoutPlaces(text: string): string {
  return text.replace(quoted, untold).replace(/\S+/g, (word) => (place.test(word) ? untold : word))
}
