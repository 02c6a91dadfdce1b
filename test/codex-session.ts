/** What an agent of Codex does: a command with what came of it, or an edit of a file that makes a new text. */
export type CodexPart =
  | { command: string; output: string; exit: number; parsed?: object[]; status?: string }
  | { path: string; text: string }

const cwd = '/home/kim/shop'

/** Where a session of Codex is told. */
export interface CodexPlace {
  session: string
  /** The thread of a sub-agent; the session itself if absent. */
  agent?: string
  file: string
}

function idOf({ agent = '' }: CodexPlace, nth: number): string {
  return `exec-${agent}${nth}`
}

/** What the hooks of Codex 0.169 tell of a session: the parts, without any exit code. */
export function codexHooks(place: CodexPlace, parts: readonly CodexPart[]): object[] {
  return parts.map((part, nth) => ({
    ...commonOf(place),
    hook_event_name: 'PostToolUse',
    tool_use_id: idOf(place, nth),
    ...('command' in part
      ? { tool_name: 'Bash', tool_input: { command: part.command }, tool_response: part.output }
      : {
          tool_name: 'apply_patch',
          tool_input: {
            command: `*** Begin Patch\n*** Update File: ${part.path}\n+${part.text}\n*** End Patch\n`,
          },
          tool_response: `Exit code: 0\nWall time: 0 seconds\nOutput:\nM ${part.path}\n`,
        }),
  }))
}

/** The hook of a prompt. */
export function codexPrompt(place: CodexPlace, prompt: string): object {
  return { ...commonOf(place), hook_event_name: 'UserPromptSubmit', prompt }
}

function commonOf({ session, agent, file }: CodexPlace) {
  return {
    session_id: session,
    turn_id: 'turn-1',
    transcript_path: file,
    cwd,
    model: 'some-model',
    ...(agent === undefined ? {} : { agent_id: agent, agent_type: 'default' }),
  }
}

/** The rollout file of the same session, in the form that Codex 0.169 writes; `filler` stands behind its first line. */
export function codexRollout(
  place: CodexPlace,
  {
    prompts = [],
    parts,
    at,
  }: { prompts?: readonly string[]; parts: readonly CodexPart[]; at: number },
  filler = '',
): string {
  const { session, agent = session } = place
  const meta = { session_id: session, id: agent, cwd, originator: 'codex_tui', source: 'cli' }
  const items = [
    ...prompts.map((text, nth) => ({
      type: 'UserMessage',
      id: `m-${nth}`,
      content: [{ type: 'text', text, text_elements: [] }],
    })),
    ...parts.map((part, nth) => itemOf(place, part, nth)),
  ]
  const lines = [
    { type: 'session_meta', payload: meta },
    ...(filler === '' ? [] : [{ type: 'event_msg', payload: { type: 'filler', filler } }]),
    ...items.map((item) => ({
      type: 'event_msg',
      payload: { type: 'item_completed', thread_id: agent, turn_id: 'turn-1', item },
    })),
  ]
  const timestamp = new Date(at).toISOString()
  return lines.map((line) => `${JSON.stringify({ ...line, timestamp })}\n`).join('')
}

function itemOf(place: CodexPlace, part: CodexPart, nth: number): object {
  const id = idOf(place, nth)
  if ('path' in part) {
    const changes = { [`${cwd}/${part.path}`]: { type: 'add', content: part.text } }
    return { type: 'FileChange', id, changes, status: 'completed', stdout: 'Success.', stderr: '' }
  }
  const { command, output, exit, parsed = [{ type: 'unknown', cmd: command }], status } = part
  return {
    type: 'CommandExecution',
    id,
    command: ['/bin/bash', '-lc', command],
    cwd: `file://${cwd}`,
    parsed_cmd: parsed,
    source: 'unified_exec_startup',
    status: status ?? (exit === 0 ? 'completed' : 'failed'),
    aggregated_output: output,
    exit_code: exit,
  }
}
