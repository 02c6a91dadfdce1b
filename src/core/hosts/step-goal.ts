import { rawWords } from '../detector/words/words.ts'
import { cutTo } from '../text.ts'
import type { Act } from './host-event.ts'
import type { GoalSource, ObservedAgent } from './observed.ts'

/** Longest sentence of an agent that counts as its goal, in characters. */
const longestSentence = 200
/** Fewest words of such a sentence. */
const fewestWords = 3

/** The goal of an act whose words are hashes, and every text that is kept back: it has no word to compare. */
export const untold = '…'

/** A goal that a session shows, and where it stands. */
export interface DerivedGoal {
  goal: string
  source: GoalSource
}

/**
 * The goal of an act: the one that the agent reports, else the item of its plan, its intent, what it has just said, its
 * own description of the act, or the act.
 */
export function goalOf(agent: ObservedAgent, act: Act): DerivedGoal {
  const { reported } = agent
  if (reported !== undefined && reported.goal !== null) {
    return { goal: reported.goal, source: 'intent' }
  }
  const now = agent.plan.find(({ state }) => state === 'now')
  if (now !== undefined && now.text !== '') return { goal: now.text, source: 'plan' }
  if (agent.intent !== null) return { goal: agent.intent, source: 'intent' }
  const sentence = agent.said === null ? '' : firstSentence(agent.said)
  if (rawWords(sentence).length >= fewestWords) return { goal: sentence, source: 'narration' }
  if (act.said !== undefined) return { goal: act.said, source: 'description' }
  if (act.isHidden === true) return { goal: untold, source: 'act' }
  return { goal: actTold(act), source: 'act' }
}

/** An act in words: `edit src/login.js`, `run node --test`, `search "login" in src`. */
export function actTold({ family, tool, paths, words, isHidden }: Act): string {
  if (isHidden === true) return hiddenAct(family, paths)
  const places = paths.slice(0, 3).join(' ')
  switch (family) {
    case 'search':
      return joined('search', words === '' ? '' : `"${words}"`, places === '' ? '' : `in ${places}`)
    case 'read':
    case 'edit':
      return joined(family, places || words || tool)
    case 'run':
    case 'verify':
      return joined('run', words || places || tool)
    case 'web':
      return joined('look up', words || places || tool)
    case 'wait':
      return joined('wait', words)
    case 'other':
      return joined(tool, words, places)
  }
}

/** The file is told from others by the beginning of its hash. */
function hiddenAct(family: Act['family'], [path]: readonly string[]): string {
  const verb = { run: 'run a command', verify: 'run a check', web: 'look up', other: 'use a tool' }
  const named = family in verb ? verb[family as keyof typeof verb] : family
  const mark = path?.replace(/^~\/…\//, '').slice(0, 6)
  return mark === undefined ? named : `${named} ${mark}`
}

function joined(...parts: readonly string[]): string {
  return cutTo(parts.filter((part) => part !== '').join(' '), 300)
}

/** The first sentence of a text, at most 200 characters. */
export function firstSentence(text: string): string {
  const [line = ''] = text.split('\n').filter((each) => each.trim() !== '')
  const end = line.search(/[.!?](?:\s|$)/)
  return cutTo((end < 0 ? line : line.slice(0, end)).trim(), longestSentence)
}
