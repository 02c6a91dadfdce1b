import { readClaudeTranscript } from './claude-code.ts'
import { readCodexRollout } from './codex.ts'
import { readCopilotEvents } from './copilot.ts'
import { readGeminiChat } from './gemini-cli.ts'
import { readOpencodeMessages } from './opencode.ts'
import { readQwenChat } from './qwen-code.ts'
import type { ReadLine, TranscriptPlace } from './read-line.ts'

/** The hosts whose session files are read. */
export const transcriptHosts = [
  'claude-code',
  'codex',
  'copilot',
  'gemini-cli',
  'qwen-code',
  'opencode',
] as const

export type TranscriptHost = (typeof transcriptHosts)[number]

/** Creates the reader of one session file of each host. */
export const transcripts: Readonly<Record<TranscriptHost, (place: TranscriptPlace) => ReadLine>> = {
  'claude-code': readClaudeTranscript,
  codex: readCodexRollout,
  copilot: readCopilotEvents,
  'gemini-cli': readGeminiChat,
  'qwen-code': readQwenChat,
  opencode: readOpencodeMessages,
}

/** What the path of a session file tells of it, whatever stands before the host's own folders. */
export function placeOfFile(host: TranscriptHost, path: string): TranscriptPlace {
  const parts = path.replaceAll('\\', '/').split('/')
  const name = (parts.at(-1) ?? '').replace(/\.jsonl$/, '')
  const folder = parts.at(-2) ?? ''
  if (host === 'claude-code' && folder === 'subagents') {
    return { session: parts.at(-3) ?? '', agentId: name.replace(/^agent-/, '') }
  }
  if (host === 'qwen-code' && parts.at(-3) === 'subagents') {
    return { session: folder, agentId: name.replace(/^agent-/, '') }
  }
  return { session: host === 'copilot' ? folder : name, agentId: '' }
}
