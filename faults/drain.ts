import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { compare, readBack } from './checker.ts'
import { get } from './http.ts'
import { type Exit, makeKey, onSqlite, root, type Setting, startServer } from './server.ts'
import { onStage, type Stage } from './stage.ts'
import { median, pause } from './time.ts'
import { createVerdict, type Experiment, nothing, type Trial, type Wrong } from './trial.ts'
import { startWriters, undocumented } from './writers.ts'

const usualRounds = 5
const crowd = 32
/** Half of these connections have sent a request, and the others never did. */
const idleSockets = 20
const drainLimitMs = 10_000
const atOnceMs = 1_000

/**
 * Stops the server with SIGTERM under load: every request sent before is answered, and then the process ends.
 */
export const drain: Experiment = {
  name: 'drain',
  async play(size) {
    const rounds = size ?? usualRounds
    return [
      await onStage((stage) => playDrain(stage, onSqlite(stage), rounds, null)),
      await onStage((stage) =>
        playDrain(stage, { ...onSqlite(stage), preloads: ['exit-at-once'] }, rounds, {
          how: 'ends at the first SIGTERM',
          breaks: 'sent before is answered',
        }),
      ),
      await onStage((stage) =>
        playDrain(stage, { ...onSqlite(stage), npmFolder: root }, rounds, null),
      ),
      await onStage((stage) =>
        playDrain(stage, { ...onSqlite(stage), npmFolder: withoutExec(stage) }, 1, {
          how: 'npm start without exec',
          breaks: 'nothing serves on',
        }),
      ),
      await onStage((stage) => playStubborn(stage, onSqlite(stage))),
    ]
  },
}

/** A folder whose npm start runs the server under a shell that passes on no signal. */
function withoutExec({ folder }: Stage): string {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  const start = scripts.start.replace('exec node ', `${process.execPath} ${root}`)
  writeFileSync(`${folder}/package.json`, JSON.stringify({ scripts: { start } }))
  return folder
}

async function playDrain(
  stage: Stage,
  setting: Setting,
  rounds: number,
  wrong: Wrong | null,
): Promise<Trial> {
  const key = await makeKey(stage, setting, 'enterprise')
  let server = await startServer(stage, setting)
  const readyMs = [server.readyMs]
  const drainMs: number[] = []
  const exits: Exit[] = []
  const signalMs: number[] = []
  let servesOn = 0
  const writers = startWriters(stage, {
    url: () => server.url,
    key,
    writers: crowd,
    runs: 4,
    retry: 'same key',
  })
  for (let round = 0; round < rounds; round++) {
    await writers.nextAcknowledgement(15_000)
    const idle = await Promise.all(Array.from({ length: idleSockets }, () => open(server.url)))
    for (const socket of idle.slice(idleSockets / 2)) askOnce(socket)
    await pause(200 + Math.random() * 300)
    const began = performance.now()
    signalMs.push(began)
    exits.push(await server.end('SIGTERM'))
    drainMs.push(performance.now() - began)
    if ('status' in (await get(`${server.url}/healthz`))) servesOn++
    server.sweep()
    for (const socket of idle) socket.destroy()
    server = await startServer(stage, setting)
    readyMs.push(server.readyMs)
  }
  await writers.nextAcknowledgement(15_000)
  await writers.stop()

  const checked = compare(writers, await readBack(server.url, key))
  const { broken, expect } = createVerdict()
  // The requests that the stopped process cut off: sent before the signal, failed after it.
  const cut = writers.failed.filter(
    ({ outcome, atMs }) =>
      'failure' in outcome &&
      signalMs.some((signal) => (outcome.sentMs ?? signal) < signal && atMs >= signal),
  )
  const odd = undocumented(writers.failed)
  const bad = exits.filter(({ code }) => code !== 0)
  const slowest = Math.max(...drainMs)
  expect(cut.length === 0, 'sent before is answered', `${cut.length} requests cut off`)
  expect(odd.length === 0, 'documented answers', `${odd.length}, such as ${odd[0]}`)
  expect(bad.length === 0, 'exits with 0', `${bad.length} times ${JSON.stringify(bad[0])}`)
  expect(servesOn === 0, 'nothing serves on', `the server answered on after ${servesOn} SIGTERMs`)
  expect(slowest < drainLimitMs, 'ends in time', `took ${Math.round(slowest)} ms`)
  return {
    on: setting.npmFolder === undefined ? 'SQLite' : 'SQLite, npm start',
    wrong,
    skipped: null,
    measured: {
      ...checked.measured,
      readyMs: median(readyMs),
      seen: `${rounds} × SIGTERM, ${crowd} writers, ${idleSockets} idle connections, ended in ${Math.round(slowest)} ms (slowest)`,
    },
    broken: [...checked.broken, ...broken],
  }
}

/**
 * A request that never becomes complete delays the stop by less than ten seconds, or until a second signal.
 */
async function playStubborn(stage: Stage, setting: Setting): Promise<Trial> {
  const { broken, expect } = createVerdict()
  const patient = await startServer(stage, setting)
  await sendHalf(await open(patient.url))
  const patientBegan = performance.now()
  const patientExit = await patient.end('SIGTERM')
  const patientMs = performance.now() - patientBegan
  expect(patientExit.code === 0, 'exits with 0', `exited with ${JSON.stringify(patientExit)}`)
  expect(patientMs < drainLimitMs, 'ends in time', `took ${Math.round(patientMs)} ms`)

  const hurried = await startServer(stage, setting)
  await sendHalf(await open(hurried.url))
  void hurried.end('SIGTERM')
  await pause(500)
  expect(hurried.isRunning(), 'waits for a request', 'it ended at the first signal')
  const hurriedBegan = performance.now()
  await hurried.end('SIGTERM')
  const hurriedMs = performance.now() - hurriedBegan
  expect(hurriedMs < atOnceMs, 'a second signal ends it', `took ${Math.round(hurriedMs)} ms`)
  return {
    on: 'SQLite, half a request',
    wrong: null,
    skipped: null,
    measured: {
      ...nothing,
      readyMs: median([patient.readyMs, hurried.readyMs]),
      seen: `ended in ${Math.round(patientMs)} ms, at a second SIGTERM in ${Math.round(hurriedMs)} ms`,
    },
    broken,
  }
}

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

function askOnce(socket: Socket): void {
  socket.resume()
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
}

async function sendHalf(socket: Socket): Promise<void> {
  socket.write('POST /v1/check HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"goal":')
  // Waits until the server has begun to read the request.
  await pause(300)
}
