import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { compare, readBack } from './checker.ts'
import { startEarlyAnswers } from './early-answers.ts'
import { get, post } from './http.ts'
import {
  makeKey,
  onSqlite,
  runPlumbline,
  type Server,
  type Setting,
  startServer,
} from './server.ts'
import { onStage, type Stage } from './stage.ts'
import { pause } from './time.ts'
import { trace, whyNoTrace } from './trace.ts'
import { createVerdict, type Experiment, skipped, type Trial, type Wrong } from './trial.ts'
import { answersOf5xx, startWriters, undocumented, type Writers } from './writers.ts'

const usualBadMs = 5_000
const crowd = 8
const recoveryLimitMs = 10_000

/** The disk is full, turns read-only, or fails to store; then it recovers. */
export const disk: Experiment = {
  name: 'disk',
  async play(size) {
    const badMs = size === null ? usualBadMs : size * 1_000
    const noMount = whyNoMount()
    const noTrace = whyNoTrace()
    const trials: Trial[] = []
    if (noMount !== null) trials.push(skipped('full', noMount))
    else trials.push(await play(full, badMs, null), await play(full, badMs, early))
    if (noTrace !== null)
      return [...trials, skipped('read-only', noTrace), skipped('failing fsync', noTrace)]
    return [
      ...trials,
      await play(readOnly, badMs, null),
      await play(readOnly, badMs, early),
      await play(unsynced, badMs, null),
      await play(unsynced, badMs, careless),
    ]
  },
}

const early: Wrong = { how: 'answers before it stores', breaks: 'nothing lost' }
const careless: Wrong = { how: 'synchronous=NORMAL', breaks: 'nothing acknowledged meanwhile' }

/** A fault of the disk. */
interface Illness {
  readonly name: string
  /** Creates the folder for the database. */
  prepare(stage: Stage): string
  /** Breaks the disk and returns the function that repairs it. */
  strike(stage: Stage, server: Server, folder: string): Promise<() => Promise<void>>
  /** Characters added to each goal. */
  readonly padding: number
  /** Whether the fault refuses every step. A full disk may still have room for a small one. */
  readonly isTotal: boolean
}

const full: Illness = {
  name: 'full (tmpfs of 8 MiB)',
  padding: 3_000,
  isTotal: false,
  prepare(stage) {
    const folder = folderIn(stage)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder])
    stage.after(() => void execFileSync('umount', ['--lazy', folder]))
    return folder
  },
  async strike(_stage, _server, folder) {
    return async () => {
      execFileSync('mount', ['-o', 'remount,size=128m', folder])
    }
  },
}

// The kernel refuses to remount a disk while files on it are open for writing. So the tracer answers in its
// place, as a disk that has turned read-only under its files does.
const readOnly: Illness = {
  name: 'read-only (EROFS)',
  padding: 0,
  isTotal: true,
  prepare: folderIn,
  strike: (stage, server) =>
    inject(stage, server, 'pwrite64,pwritev,ftruncate,fsync,fdatasync', 'EROFS'),
}

const unsynced: Illness = {
  name: 'failing fsync (EIO)',
  padding: 0,
  isTotal: true,
  prepare: folderIn,
  strike: (stage, server) => inject(stage, server, 'fsync,fdatasync', 'EIO'),
}

function folderIn({ folder }: Stage): string {
  const made = join(folder, 'disk')
  mkdirSync(made)
  return made
}

function inject(
  stage: Stage,
  { pid }: Server,
  calls: string,
  error: string,
): Promise<() => Promise<void>> {
  return trace(stage, pid, ['--output=/dev/null', `--inject=${calls}:error=${error}`])
}

function play(illness: Illness, badMs: number, wrong: Wrong | null): Promise<Trial> {
  return onStage((stage) => playIllness(stage, illness, badMs, wrong))
}

async function playIllness(
  stage: Stage,
  illness: Illness,
  badMs: number,
  wrong: Wrong | null,
): Promise<Trial> {
  const folder = illness.prepare(stage)
  const { env } = onSqlite({ folder })
  const setting: Setting = {
    env: { ...env, PLUMBLINE_CHECK_PER_DAY: '0', LOG_LEVEL: 'error' },
    preloads: wrong === careless ? ['synchronous-normal'] : [],
  }
  const key = await makeKey(stage, setting, 'enterprise')
  const server = await startServer(stage, setting)
  const front = wrong === early ? await startEarlyAnswers(stage, () => server.url) : null
  const writers = startWriters(stage, {
    url: () => front?.url ?? server.url,
    key,
    writers: crowd,
    runs: 4,
    retry: 'same key',
    padding: illness.padding,
  })
  await writers.nextAcknowledgement(10_000)
  await pause(500)
  const mend = await illness.strike(stage, server, folder)
  const struckMs = performance.now()
  if (front === null && wrong === null) await firstRefusal(writers)
  const probes = await probe(server.url, key, badMs)
  const mendedMs = performance.now()
  await mend()
  await writers.nextAcknowledgement(2 * recoveryLimitMs)
  const recoveredMs = performance.now() - mendedMs
  await pause(500)
  await writers.stop()
  await front?.settle()

  const checked = compare(writers, await readBack(server.url, key))
  const { broken, expect } = createVerdict()
  const odd = undocumented(writers.failed)
  const meanwhile = [...writers.sent.values()].filter(
    ({ firstMs, acknowledged }) =>
      firstMs > struckMs && acknowledged !== null && acknowledged.atMs < mendedMs,
  )
  expect(odd.length === 0, 'documented answers', `${odd.length}, such as ${odd[0]}`)
  expect(
    probes.bad.length === 0,
    'reads and checks go on',
    `${probes.bad.length} of ${probes.count}, such as ${probes.bad[0]}`,
  )
  // A full disk may still have room for the row that /readyz writes.
  expect(
    !illness.isTotal || probes.ready === 0,
    'not ready',
    `${probes.ready} times ready while nothing can be written`,
  )
  if (illness.isTotal) {
    const { length } = meanwhile
    expect(
      length === 0,
      'nothing acknowledged meanwhile',
      `${length} steps acknowledged that no disk kept`,
    )
  }
  if (front === null && wrong === null) {
    expect(answersOf5xx(writers.failed).length > 0, 'the disk was bad', 'no step was refused')
  }
  expect(recoveredMs < recoveryLimitMs, 'recovers in time', `took ${Math.round(recoveredMs)} ms`)
  expect(server.isRunning(), 'runs on', 'the process ended')
  await server.end('SIGTERM')
  const doctor = await runPlumbline(stage, setting, ['doctor'])
  expect(!doctor.out.includes('fault '), 'the file is sound', doctor.out)
  return {
    on: illness.name,
    wrong,
    skipped: null,
    measured: {
      ...checked.measured,
      readyMs: server.readyMs,
      seen: `${badMs / 1000} s, ${probes.count} reads and checks meanwhile, wrote again after ${Math.round(recoveredMs)} ms`,
    },
    broken: [...checked.broken, ...broken],
  }
}

async function firstRefusal(writers: Writers): Promise<void> {
  const late = performance.now() + 30_000
  while (answersOf5xx(writers.failed).length === 0 && performance.now() < late) await pause(20)
}

/** Reads and checks for a while. Returns the refused requests, and how often the server was ready. */
async function probe(
  url: string,
  key: string,
  forMs: number,
): Promise<{ count: number; bad: string[]; ready: number }> {
  const authorization = `Bearer ${key}`
  const agent = new Agent({ keepAlive: true })
  const bad: string[] = []
  let count = 0
  let ready = 0
  for (const end = performance.now() + forMs; performance.now() < end; ) {
    const outcomes = [
      await get(`${url}/v1/drift/run?run_id=run-1&limit=1`, { authorization }),
      await get(`${url}/v1/drift/runs`, { authorization }),
      await post(`${url}/v1/check`, JSON.stringify({ ground: 'a b c', goal: 'a b d' }), {}, agent),
    ]
    count += outcomes.length
    for (const outcome of outcomes) {
      if (!('status' in outcome) || outcome.status !== 200) bad.push(JSON.stringify(outcome))
    }
    const health = await get(`${url}/readyz`)
    if ('status' in health && health.status === 200) ready++
    await pause(100)
  }
  agent.destroy()
  return { count, bad, ready }
}

function whyNoMount(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'mounting needs root on Linux'
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], {
      stdio: 'ignore',
    })
    return null
  } catch {
    return 'this machine does not let root mount'
  }
}
