import { rawWords } from '../detector/words/words.ts'
import { cutTo } from '../text.ts'
import type { Act } from './host-event.ts'
import type { GoalSource, ObservedAgent } from './observed.ts'

/** Longest sentence of an agent that counts as its goal, in characters. */
const longestSentence = 200
/** Fewest words of such a sentence. */
const fewestWords = 3

/** A goal that a session shows, and where it stands. */
export interface DerivedGoal {
  goal: string
  source: GoalSource
}

/**
 * The goal of an agent that states none: the item of its plan, its intent, what it has just said, its own description
 * of the act, or the act.
 */
export function goalOf(agent: ObservedAgent, act: Act): DerivedGoal {
  const now = agent.plan.find(({ state }) => state === 'now')
  if (now !== undefined && now.text !== '') return { goal: now.text, source: 'plan' }
  if (agent.intent !== null) return { goal: agent.intent, source: 'intent' }
  const sentence = agent.said === null ? '' : firstSentence(agent.said)
  if (rawWords(sentence).length >= fewestWords) return { goal: sentence, source: 'narration' }
  if (act.said !== undefined) return { goal: act.said, source: 'description' }
  return { goal: actTold(act), source: 'act' }
}

/** An act in words: `edit src/login.js`, `run node --test`, `search "login" in src`. */
export function actTold({ family, tool, paths, words }: Act): string {
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

function joined(...parts: readonly string[]): string {
  return cutTo(parts.filter((part) => part !== '').join(' '), 300)
}

/** The first sentence of a text, at most 200 characters. */
export function firstSentence(text: string): string {
  const [line = ''] = text.split('\n').filter((each) => each.trim() !== '')
  const end = line.search(/[.!?](?:\s|$)/)
  return cutTo((end < 0 ? line : line.slice(0, end)).trim(), longestSentence)
}
