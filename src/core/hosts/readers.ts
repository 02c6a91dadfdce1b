import { readClaudeCode } from './claude-code.ts'
import { readCline } from './cline.ts'
import { readCodex } from './codex.ts'
import { readCopilot } from './copilot.ts'
import { readCursor } from './cursor.ts'
import { readGeminiCli } from './gemini-cli.ts'
import type { HostName, ReadHost } from './host-event.ts'
import { readOpencode } from './opencode.ts'
import { readQwenCode } from './qwen-code.ts'
import { readVscode } from './vscode.ts'

/** How the events of each host are read. */
export const readers: Readonly<Record<HostName, ReadHost>> = {
  'claude-code': readClaudeCode,
  codex: readCodex,
  'gemini-cli': readGeminiCli,
  'qwen-code': readQwenCode,
  copilot: readCopilot,
  vscode: readVscode,
  cursor: readCursor,
  opencode: readOpencode,
  cline: readCline,
  // Its spans come by a way of their own.
  otlp: () => [],
}
