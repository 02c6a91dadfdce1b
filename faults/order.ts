import { readFileSync } from 'node:fs'
import { compare, readBack } from './checker.ts'
import { makeKey, onSqlite, type Setting, startServer } from './server.ts'
import { onStage, type Stage } from './stage.ts'
import { trace, whyNoTrace } from './trace.ts'
import { createVerdict, type Experiment, skipped, type Trial, type Wrong } from './trial.ts'
import { startWriters } from './writers.ts'

const usualSteps = 400
const crowd = 8

/**
 * Watches the system calls of the server: between the read of a step and the write of its answer, the
 * write-ahead log reaches the disk. Killing a process cannot show this, because the kernel keeps the written
 * pages. Only a power cut would.
 */
export const order: Experiment = {
  name: 'order',
  async play(size) {
    const reason = whyNoTrace()
    if (reason !== null) return [skipped('SQLite', reason)]
    const steps = size ?? usualSteps
    return [
      await onStage((stage) => playOrder(stage, onSqlite(stage), steps, null)),
      await onStage((stage) =>
        playOrder(stage, { ...onSqlite(stage), preloads: ['synchronous-normal'] }, steps, {
          how: 'synchronous=NORMAL',
          breaks: 'on disk before the answer',
        }),
      ),
    ]
  },
}

async function playOrder(
  stage: Stage,
  setting: Setting,
  steps: number,
  wrong: Wrong | null,
): Promise<Trial> {
  const key = await makeKey(stage, setting, 'enterprise')
  const server = await startServer(stage, setting)
  const file = `${stage.folder}/trace`
  const detach = await trace(stage, server.pid, [
    '-yy',
    '--string-limit=32',
    '--trace=read,readv,recvfrom,recvmsg,fsync,fdatasync,write,writev,sendto,sendmsg',
    `--output=${file}`,
  ])
  const writers = startWriters(stage, {
    url: () => server.url,
    key,
    writers: crowd,
    runs: 4,
    steps,
    retry: 'same key',
  })
  await writers.done
  await detach()

  const { answers, syncs, uncovered } = readTrace(readFileSync(file, 'utf8'))
  const { broken, expect } = createVerdict()
  const checked = compare(writers, await readBack(server.url, key))
  expect(
    uncovered === 0,
    'on disk before the answer',
    `${uncovered} of ${answers} answers without an fsync of the log before them`,
  )
  expect(answers === steps, 'every answer seen', `${answers} answers of ${steps} in the trace`)
  return {
    on: 'SQLite',
    wrong,
    skipped: null,
    measured: {
      ...checked.measured,
      // Under a tracer these times mean nothing.
      p50Ms: null,
      p99Ms: null,
      slowestMs: null,
      readyMs: server.readyMs,
      seen: `${answers} answers, ${syncs} fsyncs of the log`,
    },
    broken: [...checked.broken, ...broken],
  }
}

/**
 * Counts the good answers to steps, and those of them without an fsync of the write-ahead log that began
 * after the request was read and ended before the answer was written.
 */
export function readTrace(text: string): { answers: number; syncs: number; uncovered: number } {
  const readAt = new Map<string, number>()
  const syncing = new Map<string, number>()
  let lastSync = -1
  let answers = 0
  let syncs = 0
  let uncovered = 0
  for (const [at, line] of text.split('\n').entries()) {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const socket = /^\w+\((\d+<TCP[^>]*>+)/.exec(call)?.[1]
    if (socket !== undefined && call.includes('"POST /v1/drift ')) readAt.set(socket, at)
    if (socket !== undefined && call.includes('"HTTP/1.1 200')) {
      const askedAt = readAt.get(socket)
      if (askedAt === undefined) continue
      readAt.delete(socket)
      answers++
      if (lastSync < askedAt) uncovered++
    }
    const began = /^f(?:data)?sync\(\d+<[^>]*-wal>/.test(call)
    if (began && call.includes('<unfinished')) syncing.set(thread, at)
    const resumed = /^<\.\.\. f(?:data)?sync resumed/.test(call) ? syncing.get(thread) : undefined
    const from = began && !call.includes('<unfinished') ? at : resumed
    if (from === undefined || !/= 0$/.test(call)) continue
    syncing.delete(thread)
    lastSync = from
    syncs++
  }
  return { answers, syncs, uncovered }
}
