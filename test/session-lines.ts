/** What a session of Claude Code holds, in the order in which it happened. */
export type SessionPart =
  | { prompt: string; by?: 'typed' | 'system' }
  | { say: string }
  | { tool: string; input: object; answer?: string; failed?: boolean }

/** The lines of a session file of Claude Code, in the form that the host writes; a part every five seconds. */
export function claudeLines(session: string, parts: readonly SessionPart[], began: number): string {
  const lines: object[] = []
  for (const [nth, part] of parts.entries()) {
    const common = {
      uuid: `${session}-${nth}`,
      sessionId: session,
      isSidechain: false,
      cwd: '/home/kim/shop',
      timestamp: new Date(began + nth * 5_000).toISOString(),
    }
    if ('prompt' in part) {
      const by = part.by ?? 'typed'
      lines.push({
        ...common,
        type: 'user',
        promptId: `p-${session}-${nth}`,
        promptSource: by,
        message: { role: 'user', content: part.prompt },
      })
    } else if ('say' in part) {
      lines.push({
        ...common,
        type: 'assistant',
        message: { role: 'assistant', content: [{ type: 'text', text: part.say }] },
      })
    } else {
      const id = `toolu-${session}-${nth}`
      const use = { type: 'tool_use', id, name: part.tool, input: part.input }
      const result = { type: 'tool_result', tool_use_id: id, content: part.answer ?? 'done' }
      lines.push(
        { ...common, type: 'assistant', message: { role: 'assistant', content: [use] } },
        {
          ...common,
          type: 'user',
          message: { role: 'user', content: [{ ...result, is_error: part.failed === true }] },
        },
      )
    }
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

const path = (name: string) => `/home/kim/shop/${name}`
const edit = (name: string, nth: number): SessionPart => ({
  tool: 'Edit',
  input: { file_path: path(name), old_string: `line ${nth}`, new_string: `line ${nth + 1}` },
})

/** A session that is on its errand for its first half and restyles a landing page in its second. */
export function strayingSession(asked?: string): SessionPart[] {
  return [
    { prompt: 'add rate limiting to the login endpoint' },
    { tool: 'Grep', input: { pattern: 'login', path: path('src') } },
    { say: 'I read the login handler first.' },
    { tool: 'Read', input: { file_path: path('src/login.js') } },
    { say: 'Now I add a token bucket to the login endpoint.' },
    edit('src/login.js', 1),
    { tool: 'Bash', input: { command: 'node --test', description: 'Run the login tests' } },
    ...(asked === undefined ? [] : [{ prompt: asked }]),
    { say: 'Next I redesign the hero image of the landing page.' },
    edit('landing/hero.css', 1),
    { say: 'The brand colours of the landing page look dull, I pick a brighter palette.' },
    edit('landing/hero.css', 2),
    { tool: 'WebSearch', input: { query: 'hero image landing page inspiration' } },
    { say: 'I animate the hero illustration with a parallax effect.' },
    edit('landing/hero.css', 3),
  ]
}
