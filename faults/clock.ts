import { existsSync, globSync, renameSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { compare, readBack } from './checker.ts'
import { startCluster, whyNoCluster } from './cluster.ts'
import { type Answer, get, type Outcome, post } from './http.ts'
import { makeKey, onSqlite, type Setting, startServer } from './server.ts'
import { onStage, type Stage } from './stage.ts'
import { pause } from './time.ts'
import {
  createVerdict,
  type Experiment,
  nothing,
  skipped,
  type Trial,
  type Wrong,
} from './trial.ts'
import { startWriters, undocumented } from './writers.ts'

const hourS = 3_600
const dayS = 24 * hourS
const crowd = 8

/** Moves the wall clock of the server back and forth, as a bad time server or an operator does. */
export const clock: Experiment = {
  name: 'clock',
  async play() {
    const library = findLibrary()
    if (library === null) {
      return [skipped('SQLite', 'libfaketime is not installed (it is in the package faketime)')]
    }
    return [
      await onStage((stage) => playJumps(stage, library, [], null)),
      await onStage((stage) =>
        playJumps(stage, library, ['order-by-clock'], {
          how: 'orders steps by the clock',
          breaks: 'no gaps',
        }),
      ),
      await onStage((stage) => playMidnight(stage, library, [], null)),
      await onStage((stage) =>
        playMidnight(stage, library, ['clock-stands-still'], {
          how: 'reads the clock once',
          breaks: 'counts anew at midnight',
        }),
      ),
      ...(await playAhead(library)),
    ]
  },
}

/** The path of the library on Debian and others; null if it is not there. */
function findLibrary(): string | null {
  const places = ['/usr/lib/*/faketime/libfaketime.so.1', '/usr/lib*/faketime/libfaketime.so.1']
  return globSync(places).find((path) => existsSync(path)) ?? null
}

/** The clock of a server: the true time, moved by some seconds. */
function createClock({ folder }: Stage, library: string) {
  const file = `${folder}/clock`
  function move(seconds: number): void {
    // Renamed into place, because the server may read the file at any moment.
    writeFileSync(`${file}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`)
    renameSync(`${file}.new`, file)
  }
  move(0)
  return {
    move,
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      // Timers and timeouts use the monotonic clock, which nobody sets.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
  }
}

async function playJumps(
  stage: Stage,
  library: string,
  preloads: readonly string[],
  wrong: Wrong | null,
): Promise<Trial> {
  const { move, env } = createClock(stage, library)
  const tiers = `${stage.folder}/tiers.json`
  // The retention is shorter than one and a half jumps, so that code which counts a jump twice deletes runs.
  writeFileSync(tiers, JSON.stringify({ enterprise: { retention_days: 4 } }))
  const base = onSqlite(stage)
  const setting: Setting = { env: { ...base.env, ...env, PLUMBLINE_TIERS: tiers }, preloads }
  const key = await makeKey(stage, base, 'enterprise')
  const server = await startServer(stage, setting)
  const writers = startWriters(stage, {
    url: () => server.url,
    key,
    writers: crowd,
    runs: 4,
    retry: 'same key',
  })
  for (const seconds of jumps) {
    await writers.nextAcknowledgement(15_000)
    await pause(700)
    move(seconds)
  }
  await writers.nextAcknowledgement(15_000)
  await pause(700)
  await writers.stop()
  const checked = compare(writers, await readBack(server.url, key))
  const { broken, expect } = createVerdict()
  const odd = undocumented(writers.failed)
  const times = await timesOf(server.url, key, 'run-1')
  const back = times.filter((time, at) => time < (times[at - 1] ?? time) - hourS * 500).length
  const ahead = times.filter((time, at) => time > (times[at - 1] ?? time) + hourS * 500).length
  expect(odd.length === 0, 'documented answers', `${odd.length}, such as ${odd[0]}`)
  expect(back > 0 && ahead > 0, 'the clock jumped', `${ahead} jumps ahead, ${back} back`)
  return {
    on: 'SQLite, +3 d and −1 h',
    wrong,
    skipped: null,
    measured: {
      ...checked.measured,
      readyMs: server.readyMs,
      seen: `${jumps.length} jumps, one run saw ${ahead} ahead and ${back} back`,
    },
    broken: [...checked.broken, ...broken],
  }
}

/** The jumps in their order, in seconds from the true time. */
const jumps = [3 * dayS, 3 * dayS - hourS, 3 * dayS, 0, -hourS, 0]

/** The times of the steps of a run in their order, in milliseconds. */
async function timesOf(url: string, key: string, run: string): Promise<number[]> {
  const authorization = `Bearer ${key}`
  const answer = await get(`${url}/v1/export`, { authorization })
  if (!('status' in answer)) throw new Error('the export failed')
  return answer.text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter(({ type, run_id }) => type === 'step' && run_id === run)
    .sort((a, b) => a.step - b.step)
    .map(({ ts }) => Date.parse(ts))
}

const perDay = 20
const beforeMidnightS = 5

async function playMidnight(
  stage: Stage,
  library: string,
  preloads: readonly string[],
  wrong: Wrong | null,
): Promise<Trial> {
  const { move, env } = createClock(stage, library)
  const tiers = `${stage.folder}/tiers.json`
  writeFileSync(tiers, JSON.stringify({ solo: { writes: perDay } }))
  const base = onSqlite(stage)
  const key = await makeKey(stage, base, 'solo')
  // The server starts at noon. The clock then jumps to a moment before midnight.
  const toMidnight = dayS - (Math.floor(Date.now() / 1000) % dayS)
  move(toMidnight - dayS / 2)
  const setting: Setting = { env: { ...base.env, ...env, PLUMBLINE_TIERS: tiers }, preloads }
  const server = await startServer(stage, setting)
  const agent = new Agent({ keepAlive: true })
  stage.after(() => agent.destroy())
  const { broken, expect } = createVerdict()
  let acknowledged = 0

  async function write(): Promise<Answer> {
    const body = JSON.stringify({ run_id: 'run', goal: `write line ${acknowledged + 1}` })
    const headers = { authorization: `Bearer ${key}` }
    const answer = await post(`${server.url}/v1/drift`, body, headers, agent)
    if ('failure' in answer) throw new Error(`no answer: ${answer.failure}`)
    if (answer.status === 200) acknowledged++
    return answer
  }
  /** Writes until a write is refused, and returns the number of accepted writes. */
  async function useUp(when: string): Promise<number> {
    const before = acknowledged
    for (;;) {
      const { status, headers } = await write()
      if (status === 200 && acknowledged - before <= 2 * perDay) continue
      const wait = Number(headers['retry-after'])
      const fine = status === 429 && wait > 0 && wait <= dayS
      expect(fine, 'says when to come back', `${when}: ${status}, retry-after ${wait}`)
      return acknowledged - before
    }
  }

  const shift = () => dayS - (Math.floor(Date.now() / 1000) % dayS) - beforeMidnightS
  move(shift())
  const atMidnight = shift()
  const evening = await useUp('before midnight')
  await pause((beforeMidnightS + 2) * 1_000)
  const morning = await useUp('after midnight')
  move(atMidnight - hourS)
  const eveningAgain = await useUp('back before midnight')
  move(atMidnight)
  const morningAgain = await useUp('after midnight again')
  expect(evening === perDay, 'counts to the limit', `${evening} of ${perDay}`)
  expect(morning === perDay, 'counts anew at midnight', `${morning} of ${perDay} after midnight`)
  expect(eveningAgain === 0, 'counts anew once', `${eveningAgain} more when the day came back`)
  expect(morningAgain === 0, 'counts anew once', `${morningAgain} more after a second midnight`)

  const [run] = await readBack(server.url, key)
  expect(
    run?.steps.length === acknowledged,
    'nothing lost',
    `${run?.steps.length} of ${acknowledged}`,
  )
  return {
    on: 'SQLite, midnight UTC',
    wrong,
    skipped: null,
    measured: {
      ...nothing,
      acknowledged,
      readyMs: server.readyMs,
      seen: `${evening} a day, ${morning} the next, ${eveningAgain} and ${morningAgain} on going back and ahead`,
    },
    broken,
  }
}

const aheadS = dayS + hourS
const aheadSteps = 200
/** Long enough for a node to run every job that it holds to be due. */
const settleMs = 6_000

async function playAhead(library: string): Promise<Trial[]> {
  const reason = whyNoCluster()
  if (reason !== null) return [skipped(aheadOn, reason)]
  return [
    await onStage((stage) => playNodeAhead(stage, library, [], null)),
    await onStage((stage) =>
      playNodeAhead(stage, library, ['trust-own-clock'], {
        how: 'goes by its own clock',
        breaks: 'nothing lost',
      }),
    ),
  ]
}

const aheadOn = 'PostgreSQL, a node +25 h'

/** One of two nodes has a clock that is a day ahead, with a retention of one day. */
async function playNodeAhead(
  stage: Stage,
  library: string,
  preloads: readonly string[],
  wrong: Wrong | null,
): Promise<Trial> {
  const { move, env } = createClock(stage, library)
  const cluster = await startCluster(stage)
  const tiers = `${stage.folder}/tiers.json`
  writeFileSync(tiers, JSON.stringify({ enterprise: { retention_days: 1 } }))
  const right: Setting = { env: { ...cluster.setting.env, PLUMBLINE_TIERS: tiers } }
  const key = await makeKey(stage, cluster.setting, 'enterprise')
  const server = await startServer(stage, right)
  const writers = startWriters(stage, {
    url: () => server.url,
    key,
    writers: crowd,
    runs: 4,
    steps: aheadSteps,
    retry: 'same key',
  })
  await writers.done
  const agent = new Agent({ keepAlive: true })
  stage.after(() => agent.destroy())
  const write = (url: string, run: string) =>
    post(
      `${url}/v1/drift`,
      JSON.stringify({ run_id: run, goal: 'write line 1' }),
      { authorization: `Bearer ${key}`, 'idempotency-key': run },
      agent,
    )
  await write(server.url, 'once')

  move(aheadS)
  const ahead = await startServer(stage, { env: { ...right.env, ...env }, preloads })
  await pause(settleMs)
  const repeated = [await write(ahead.url, 'once'), await write(server.url, 'once')]
  const worked = repeated.filter(isNew).length
  await write(ahead.url, 'ahead')
  const [time = 0] = await timesOf(server.url, key, 'ahead')
  const offS = Math.round((time - Date.now()) / 1_000)
  const stored = await readBack(server.url, key)
  const checked = compare(
    writers,
    stored.filter(({ run }) => run.startsWith('run-')),
  )
  const { broken, expect } = createVerdict()
  const odd = undocumented(writers.failed)
  expect(odd.length === 0, 'documented answers', `${odd.length}, such as ${odd[0]}`)
  expect(worked === 0, 'a used key works nothing again', `${worked} of 2 repetitions were worked`)
  expect(Math.abs(offS) < 60, 'one time for all nodes', `a step of the node is ${offS} s off`)
  expect(ahead.log().includes('ahead_s'), 'the log says so', 'no line tells of the clock')
  return {
    on: aheadOn,
    wrong,
    skipped: null,
    measured: {
      ...checked.measured,
      readyMs: server.readyMs,
      seen: `${worked} of 2 repetitions under a used key were worked again, a step of the node is ${offS} s off`,
    },
    broken: [...checked.broken, ...broken],
  }
}

/** Whether a request with a used key was worked again: neither refused nor replayed. */
function isNew(outcome: Outcome): boolean {
  return (
    'status' in outcome &&
    outcome.status === 200 &&
    outcome.headers['idempotent-replayed'] !== 'true'
  )
}
