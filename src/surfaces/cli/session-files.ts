import { createReadStream, existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Session } from '../../core/backtest/backtest.ts'
import type { HostEvent } from '../../core/hosts/host-event.ts'
import { parseJson } from '../../core/text.ts'
import { placeOfFile, type TranscriptHost, transcripts } from '../../core/transcripts/transcript.ts'
import { openOpencodeSessions } from '../../storage/opencode-sessions.ts'
import { usageFault } from './usage-fault.ts'

/** A session file of a host. */
export interface SessionFile {
  path: string
  /** Milliseconds since 1970 of its last change. */
  changed: number
}

/** The folder of a host's session files, and the pattern of their names in it. */
export function sessionsOf(
  host: TranscriptHost,
  home: string,
  {
    CLAUDE_CONFIG_DIR,
    CODEX_HOME,
    QWEN_HOME,
    QWEN_RUNTIME_DIR,
    XDG_DATA_HOME,
  }: Readonly<Record<string, string | undefined>>,
): { folder: string; pattern: string } {
  switch (host) {
    case 'claude-code':
      return {
        folder: join(CLAUDE_CONFIG_DIR || join(home, '.claude'), 'projects'),
        pattern: '**/*.jsonl',
      }
    case 'codex':
      return {
        folder: join(CODEX_HOME || join(home, '.codex'), 'sessions'),
        pattern: '**/rollout-*.jsonl',
      }
    case 'copilot':
      return { folder: join(home, '.copilot', 'session-state'), pattern: '*/events.jsonl' }
    case 'gemini-cli':
      return { folder: join(home, '.gemini', 'tmp'), pattern: '*/chats/*.jsonl' }
    case 'qwen-code':
      return {
        folder: join(QWEN_RUNTIME_DIR || QWEN_HOME || join(home, '.qwen'), 'projects'),
        pattern: '*/{chats,subagents/*}/*.jsonl',
      }
    case 'opencode':
      return {
        folder: join(XDG_DATA_HOME || join(home, '.local', 'share'), 'opencode'),
        pattern: 'opencode*.db',
      }
  }
}

/** The session files in a folder that changed at `since` or later, by their paths; none if there is no such folder. */
export function sessionFilesIn(
  { folder, pattern }: { folder: string; pattern: string },
  since: number,
): SessionFile[] {
  if (!existsSync(folder)) return []
  return globSync(pattern, { cwd: folder })
    .map((name) => {
      const path = join(folder, name)
      return { path, changed: changedAt(path) }
    })
    .filter(({ changed }) => changed >= since)
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** A database keeps its newest changes in a file beside it. */
function changedAt(path: string): number {
  const log = `${path}-wal`
  const own = statSync(path).mtimeMs
  return path.endsWith('.db') && existsSync(log) ? Math.max(own, statSync(log).mtimeMs) : own
}

/** The events of one session file, in its order. A line that is no JSON is passed over. */
export async function readSessionFile(
  host: TranscriptHost,
  path: string,
  since: number,
): Promise<HostEvent[]> {
  const read = transcripts[host](placeOfFile(host, path))
  if (host === 'opencode') {
    const database = openDatabase(path, since)
    const events = database.changed().flatMap(read)
    database.close()
    return events
  }
  const events: HostEvent[] = []
  const take = (line: string) => {
    if (line.trim() !== '') events.push(...read(parseJson(line)))
  }
  // Lines end at a line feed alone: other ends of lines may stand in the texts of their JSON.
  let rest = ''
  for await (const part of createReadStream(path, { encoding: 'utf8', highWaterMark: partBytes })) {
    const lines = `${rest}${part}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(line)
  }
  take(rest)
  return events
}

/** How much of a file is read at a time. */
const partBytes = 1024 * 1024

/** Follows a session file: each call returns the events that the file has gained since the call before. */
export function followSessionFile(
  host: TranscriptHost,
  path: string,
  since: number,
): () => Promise<HostEvent[]> {
  const read = transcripts[host](placeOfFile(host, path))
  if (host === 'opencode') {
    const database = openDatabase(path, since)
    return async () => database.changed().flatMap(read)
  }
  let at = 0
  return async () => {
    const { lines, bytes } = await newLines(path, at)
    at += bytes
    return lines.flatMap((line) => read(parseJson(line)))
  }
}

function openDatabase(path: string, since: number): ReturnType<typeof openOpencodeSessions> {
  try {
    return openOpencodeSessions(path, since)
  } catch (error) {
    throw usageFault(`${path} cannot be read as sessions of opencode: ${String(error)}`)
  }
}

/** The whole lines of a file from a byte on, and their bytes; a line that is still being written comes later. */
async function newLines(path: string, from: number): Promise<{ lines: string[]; bytes: number }> {
  if (statSync(path).size <= from) return { lines: [], bytes: 0 }
  const parts: Buffer[] = []
  for await (const part of createReadStream(path, { start: from })) parts.push(part as Buffer)
  const whole = Buffer.concat(parts)
  const bytes = whole.lastIndexOf('\n') + 1
  const text = whole.subarray(0, bytes).toString()
  return { lines: text.split('\n').filter((line) => line.trim() !== ''), bytes }
}

/** The sessions of files: the events of all files of a session by their times, the sessions by their beginnings. */
export function sessionsIn(host: TranscriptHost, events: readonly HostEvent[]): Session[] {
  const sessions = [...Map.groupBy(events, ({ runId }) => runId)].map(([runId, own]) => ({
    host,
    runId,
    events: inTime(own),
  }))
  const began = ({ events: [first] }: Session) => first?.at ?? 0
  return sessions.sort((a, b) => began(a) - began(b) || (a.runId < b.runId ? -1 : 1))
}

/** By time; an event without a time stays behind the one before it. */
function inTime(events: readonly HostEvent[]): HostEvent[] {
  let last = 0
  const timed = events.map((event) => {
    last = event.at ?? last
    return { event, at: last }
  })
  return timed.sort((a, b) => a.at - b.at).map(({ event }) => event)
}
