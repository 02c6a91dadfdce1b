/** What hosts put around or before the words of a person, and Plumbline's own facts among it. */
const wrappings =
  /<(hook_context|system-reminder|environment_context|current_datetime|user_info)\b[^>]*>[\s\S]*?<\/\1>|<current_datetime>[^<\n]*/g
const fact = /^.*\[plumbline\]\s*$/gm
const byMachine =
  /^(?:<(?:task-notification|command-|local-command|bash-|teammate-message|user-prompt-submit-hook)|!|\/[\w:-]+(?:\s|$))/
const mostText = 40_000

/** The words of a person in a prompt, without what the host added; '' if nothing is left. */
export function ownWords(prompt: string): string {
  const bare = prompt.slice(0, mostText).replace(wrappings, '').replace(fact, '').trim()
  const quoted = /^"([\s\S]*)"$/.exec(bare)
  return quoted !== null && !quoted[1]?.includes('"') ? (quoted[1] ?? '').trim() : bare
}

/**
 * Who has spoken, by the text and by what the host says of its source, else `otherwise`; null for an empty prompt.
 */
export function spokenBy(
  text: string,
  source?: unknown,
  otherwise: 'person' | 'unknown' = 'person',
): { text: string; by: 'person' | 'machine' | 'unknown'; isHeadless?: true } | null {
  const own = ownWords(text)
  if (own === '') return null
  if (source === 'sdk') return { text: own, by: 'person', isHeadless: true }
  if (typeof source === 'string') {
    return { text: own, by: source === 'user' ? 'person' : 'machine' }
  }
  return { text: own, by: byMachine.test(own) ? 'machine' : otherwise }
}
