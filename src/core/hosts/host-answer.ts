import type { HostName } from './host-event.ts'
import type { Observed } from './observed.ts'

const longestFact = 1000
/** The hosts that take a context at the beginning of a session, all in one form. */
const takesContext: ReadonlySet<HostName> = new Set([
  'claude-code',
  'codex',
  'gemini-cli',
  'qwen-code',
])

/** The answer by which a host goes on as if nobody had been asked. */
export function emptyAnswer(host: HostName, event: string): Record<string, unknown> {
  return host === 'cursor' && event === 'beforeSubmitPrompt' ? { continue: true } : {}
}

/** The answer that tells the agent a fact at the beginning of a session. */
export function answerWith(host: HostName, event: string, fact: string): Record<string, unknown> {
  if (fact === '' || !takesContext.has(host)) return emptyAnswer(host, event)
  return { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: fact } }
}

/**
 * What an agent is told again after its context was compacted: the errand in the user's words, what the user said
 * last, and what of its plan is open. At most 1,000 characters, ending with the mark by which it is known if it comes
 * back.
 */
export function reminderOf(ground: string, { agents, errand }: Observed): string {
  const open = (Object.hasOwn(agents, '') ? agents['']?.plan : undefined) ?? []
  const items = open.filter(({ state }) => state !== 'done').map(({ text }) => text)
  const parts = [
    `The errand in the user's words: "${cut(ground, 500)}".`,
    errand === null || ground.includes(errand) ? '' : `The user said last: "${cut(errand, 200)}".`,
    items.length === 0 ? '' : `Open in the plan: ${cut(items.join('; '), 200)}.`,
  ]
  const told = parts.filter((part) => part !== '').join(' ')
  return `${cut(told.replace(/\s+/g, ' '), longestFact - 20)} [plumbline]`
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1).toWellFormed()}…`
}
