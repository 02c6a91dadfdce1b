import { statSync } from 'node:fs'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import {
  type BacktestJudge,
  type JudgedSession,
  judgeSession,
} from '../../core/backtest/backtest.ts'
import type { HostEvent } from '../../core/hosts/host-event.ts'
import { placeOfFile, type TranscriptHost } from '../../core/transcripts/transcript.ts'
import { readSessionFile, sessionsIn } from './session-files.ts'

/** How files are read and judged. */
export interface JudgingTask {
  host: TranscriptHost
  /** Milliseconds since 1970: databases of sessions are read from here on. */
  since: number
  /** Each session is judged by each of them. */
  judges: readonly BacktestJudge[]
}

/** The files of one session, as their paths tell it, in the order of all files. */
export type FileGroup = readonly string[]

/** A run with its files, judged by each judge. */
export interface JudgedRun {
  runId: string
  files: FileGroup
  judged: readonly JudgedSession[]
}

/** What a thread begins with. It tells the runs of each group, an array a message. */
export interface JudgingStart extends JudgingTask {
  groups: readonly FileGroup[]
}

/** Bytes of session files that are worth a thread, which takes about half a second to start. */
const bytesOfThread = 8 * 1024 * 1024

/** The threads for the files of a host on a machine with so many cores; 1 for few bytes, and for a database. */
export function threadsFor(host: TranscriptHost, paths: readonly string[], cores: number): number {
  if (host === 'opencode') return 1
  return Math.max(1, Math.min(cores, Math.floor(sizeOf(paths) / bytesOfThread)))
}

/**
 * Judges the sessions of files, in the order of their beginnings: each by all judges. This thread judges a share of
 * the files and starts `threads - 1` others for the rest. The result is the same for any number of threads. With an
 * encoder, `threads` must be 1. Only the events of one session are held at a time.
 */
export async function judgeFiles(
  paths: readonly string[],
  task: JudgingTask,
  threads: number,
  progress: (files: number) => void,
): Promise<(readonly JudgedSession[])[]> {
  const groups = [...Map.groupBy(paths, (path) => placeOfFile(task.host, path).session).values()]
  const [own = [], ...others] = sharesOf(groups, threads)
  const runs = new Map<string, JudgedRun[]>()
  let read = 0
  const take = (judged: readonly JudgedRun[], files: number) => {
    read += files
    progress(read)
    for (const run of judged) runs.set(run.runId, [...(runs.get(run.runId) ?? []), run])
  }
  const started = others.map((each) => startThread({ ...task, groups: each }, take))
  try {
    for (const group of own) take(await judgeGroup(group, task), group.length)
    await Promise.all(started.map(({ over }) => over))
  } finally {
    await Promise.all(started.map(({ end }) => end()))
  }
  const sessions: (readonly JudgedSession[])[] = []
  for (const [runId, parts] of runs) {
    const [first] = parts
    sessions.push(
      parts.length === 1 && first !== undefined
        ? first.judged
        : await judgeTogether(runId, parts, paths, task),
    )
  }
  return sessions.sort(([a], [b]) => {
    const later = (a?.began ?? 0) - (b?.began ?? 0)
    return later || ((a?.runId ?? '') < (b?.runId ?? '') ? -1 : 1)
  })
}

/** Judges the runs of the files of one session. */
export async function judgeGroup(files: FileGroup, task: JudgingTask): Promise<JudgedRun[]> {
  const events: HostEvent[] = []
  for (const path of files) {
    for (const event of await readSessionFile(task.host, path, task.since)) events.push(event)
  }
  return judgeEvents(events, task).map((judged) => ({
    runId: judged[0]?.runId ?? '',
    files,
    judged,
  }))
}

/** Judges a run that goes on in files of other sessions: a host may resume it there. */
async function judgeTogether(
  runId: string,
  parts: readonly JudgedRun[],
  paths: readonly string[],
  task: JudgingTask,
): Promise<readonly JudgedSession[]> {
  const files = new Set(parts.flatMap((part) => part.files))
  const events: HostEvent[] = []
  for (const path of paths.filter((each) => files.has(each))) {
    for (const event of await readSessionFile(task.host, path, task.since)) {
      if (event.runId === runId) events.push(event)
    }
  }
  return judgeEvents(events, task).flat()
}

function judgeEvents(events: readonly HostEvent[], { host, judges }: JudgingTask) {
  return sessionsIn(host, events).map((session) =>
    judges.map((judge) => judgeSession(session, judge)),
  )
}

/** Shares of about equal size. */
function sharesOf(groups: readonly FileGroup[], threads: number): FileGroup[][] {
  if (threads === 1) return [[...groups]]
  const shares = Array.from({ length: threads }, () => ({ groups: [] as FileGroup[], bytes: 0 }))
  const sized = groups.map((group) => ({ group, bytes: sizeOf(group) }))
  for (const { group, bytes } of sized.sort((a, b) => b.bytes - a.bytes)) {
    const lightest = shares.reduce((least, each) => (each.bytes < least.bytes ? each : least))
    lightest.groups.push(group)
    lightest.bytes += bytes
  }
  return shares.map((share) => share.groups).filter(({ length }) => length > 0)
}

function sizeOf(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + statSync(path).size, 0)
}

function startThread(
  start: JudgingStart,
  take: (judged: readonly JudgedRun[], files: number) => void,
) {
  const over = Promise.withResolvers<void>()
  const worker = new Worker(new URL(`judging-thread${extname(import.meta.url)}`, import.meta.url), {
    workerData: start,
    execArgv: [],
    name: 'judging',
  })
  let heard = 0
  worker.on('message', (judged: JudgedRun[]) => {
    take(judged, start.groups[heard++]?.length ?? 0)
    if (heard === start.groups.length) over.resolve()
  })
  worker.on('error', over.reject)
  worker.on('exit', () =>
    over.reject(new Error('a thread has ended before it had judged its sessions')),
  )
  // Whoever waits for it hears of a failure.
  over.promise.catch(() => {})
  return { over: over.promise, end: () => worker.terminate() }
}
