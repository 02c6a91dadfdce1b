import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { check } from '../src/operations/steps/check.ts'
import { databases } from './backends.ts'
import { start } from './harness.ts'
import { lineTo } from './line.ts'
import { openSocket, readAnswers, readToEnd } from './raw.ts'
import {
  freshFolder,
  type Spawned,
  spawnPlumbline,
  spawnProgram,
  spawnServe,
  untilListening,
} from './spawned.ts'
import { verifies } from './verifies.ts'

const root = join(import.meta.dirname, '..')
/** Between two looks at another process; without a pause, looking would take its processor. */
const pollMs = 5
const good = JSON.stringify({ ground: 'fix the login page', goal: 'fix the login form' })
const postgres = databases.find(({ name }) => name === 'postgres')!

/** Processes wait more than they work, so their tests run side by side. */
describe('the process', { concurrency: true }, () => {
  test('starts with nothing configured and prints a line that works', async (t) => {
    verifies('command.start', 'command.start-curl', 'settings.port-zero')
    const { url, folder, written } = await spawnServe(t)
    const line = await lineOf(written, /^ +(curl .*)$/m)
    assert.ok(line.includes(url))
    const { stdout } = await promisify(execFile)('sh', ['-c', line])
    assert.equal(JSON.parse(stdout).verdict.reason, 'goal-drift')
    assert.ok(existsSync(join(folder, 'data/plumbline.db')))
  })

  test('listens on http://127.0.0.1:8787 by itself', async (t) => {
    verifies('command.start')
    const { child, written, ended } = spawnPlumbline(t, ['serve'])
    // Someone else may hold the port; then it has asked for the right one.
    await Promise.race([once(child.stdout!, 'data'), ended])
    const said = written.out + written.err
    assert.match(
      said,
      /listens on http:\/\/127\.0\.0\.1:8787$|port 8787 of 127\.0\.0\.1 is in use/m,
    )
  })

  test('on SIGTERM refuses connections, is not ready, and answers what is in flight', async (t) => {
    verifies('process.sigterm.drain', 'process.sigterm.exit')
    const { child, url, written, ended } = await spawnServe(t, { env: { LOG_LEVEL: 'warn' } })
    const silent = await openSocket(url)
    const idle = await openSocket(url)
    idle.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
    await once(idle, 'data')
    // Asked before it can be closed, for nobody is told of that twice.
    const idled = readToEnd(idle)
    const probe = await openSocket(url)
    const probed = readToEnd(probe)
    probe.write('GET /readyz HTTP/1.1\r\nhost: x\r\n')
    const { socket, answered } = await beginCheck(url)
    const began = performance.now()
    child.kill('SIGTERM')
    await refused(url)
    await idled

    probe.write('\r\n')
    const [ready] = readAnswers(await probed)
    assert.deepEqual([ready?.status, ready?.text], [503, '{"status":"stopping"}'])
    socket.write(good)
    const [answer, ...more] = readAnswers(await answered)
    assert.deepEqual([answer?.status, more], [200, []])
    assert.equal(JSON.parse(answer!.text).retained, 'nothing')
    assert.equal(await ended, 0)
    assert.ok(performance.now() - began < 6_000, 'it waits for nobody else')
    assert.equal(written.err, '')
    silent.destroy()
  })

  test('after SIGTERM exits within 10 seconds, whoever holds a connection', async (t) => {
    verifies('process.sigterm.exit')
    const { child, url, ended } = await spawnServe(t)
    const silent = await openSocket(url)
    const slow = await openSocket(url)
    slow.write('GET /healthz HT')
    const unfinished = await beginCheck(url)
    const began = performance.now()
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
    assert.ok(performance.now() - began < 10_000)
    for (const socket of [silent, slow, unfinished.socket]) socket.destroy()
  })

  test('on a second signal exits at once', async (t) => {
    verifies('process.sigterm.exit')
    for (const [first, second] of [
      ['SIGTERM', 'SIGTERM'],
      ['SIGINT', 'SIGTERM'],
    ] as const) {
      const { child, url, ended } = await spawnServe(t)
      const { answered } = await beginCheck(url)
      child.kill(first)
      await refused(url)
      const began = performance.now()
      child.kill(second)
      assert.equal(await ended, 1)
      assert.ok(performance.now() - began < 2_000)
      assert.ok(readAnswers(await answered).length === 0)
    }
  })

  test('logs one line when it starts and one with the reason when it stops', async (t) => {
    verifies('process.log.start-and-stop')
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const { child, url, written, ended } = await spawnServe(t)
      child.kill(signal)
      assert.equal(await ended, 0)
      const [started, stopping, ...more] = linesOf(written.err)
      assert.deepEqual([started.level, started.msg, started.url], [30, 'started', url])
      assert.equal(started.node, process.versions.node)
      assert.deepEqual([stopping.level, stopping.msg, stopping.reason], [30, 'stopping', signal])
      assert.deepEqual(more, [])
    }
  })

  test('logs the fault that ends it', async (t) => {
    verifies('process.log.start-and-stop')
    const fault = join(freshFolder(t), 'fault.mjs')
    writeFileSync(fault, "process.on('SIGUSR2', () => { throw new Error('something unforeseen') })")
    const env = { NODE_OPTIONS: `--import ${fault}` }
    const { child, written, ended } = await spawnServe(t, { env })
    child.kill('SIGUSR2')
    assert.notEqual(await ended, 0)
    const [, stopped] = linesOf(written.err)
    assert.deepEqual([stopped.level, stopped.msg], [60, 'stopped by a fault'])
    assert.equal(stopped.err.message, 'something unforeseen')
  })

  test('through npm start ends at SIGTERM too, and npm waits for it', async (t) => {
    verifies('process.sigterm.npm')
    for (const args of [['start'], ['run', 'plumbline', '--', 'serve']]) {
      const { child, url, ended } = await spawnNpm(t, args)
      const { socket, answered } = await beginCheck(url)
      const began = performance.now()
      child.kill('SIGTERM')
      await refused(url)
      socket.write(good)
      assert.equal(readAnswers(await answered)[0]?.status, 200)
      assert.equal(await ended, 0, args.join(' '))
      assert.ok(performance.now() - began < 10_000)
    }
  })
  test('keeps the count of the day when it starts again', async (t) => {
    verifies('check.counter.cap', 'process.sigterm.exit')
    const folder = freshFolder(t)
    const env = { PLUMBLINE_CHECK_PER_DAY: '5' }
    const statuses: number[] = []
    for (const calls of [3, 4]) {
      const { child, url, ended } = await spawnServe(t, { folder, env })
      for (let call = 0; call < calls; call++) {
        statuses.push((await fetch(`${url}/v1/check`, { method: 'POST', body: good })).status)
      }
      child.kill('SIGTERM')
      assert.equal(await ended, 0)
    }
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429, 429])
  })

  test('opens no connection to anywhere', async (t) => {
    verifies('process.no-outbound')
    const guard = join(freshFolder(t), 'guard.mjs')
    writeFileSync(guard, tellConnections)
    const env = { NODE_OPTIONS: `--import ${guard}` }
    const { child, url, written, ended } = await spawnServe(t, { env })
    for (const path of ['/', '/healthz', '/readyz', '/metrics', '/docs/migration']) {
      assert.equal((await fetch(url + path)).status, 200)
    }
    await (await fetch(`${url}/v1/openapi.json`)).text()
    for (const body of [good, 'nonsense', '{"ground":"http://192.0.2.1","goal":"example.org"}']) {
      await (await fetch(`${url}/v1/check`, { method: 'POST', body })).text()
    }
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
    assert.doesNotMatch(written.err, /CONNECTS/)

    // The guard itself sees what there is to see.
    const DATABASE_URL = 'postgres://127.0.0.1:1/x'
    const control = spawnPlumbline(t, ['migrate'], { env: { ...env, DATABASE_URL } })
    await control.ended
    assert.match(control.written.err, /CONNECTS.*127\.0\.0\.1/)
  })

  test('is alive, ready and measured', async (t) => {
    verifies('process.healthz', 'process.readyz', 'process.metrics')
    const app = await start(t)
    const health = await app.get('/healthz')
    assert.deepEqual([health.status, health.body], [200, { status: 'alive' }])
    const ready = await app.get('/readyz')
    assert.deepEqual([ready.status, ready.body], [200, { status: 'ready' }])
    await app.request('POST', '/v1/check', { body: good })
    await app.request('POST', '/v1/check', { body: 'nonsense' })
    const metrics = await app.get('/metrics')
    assert.equal(metrics.status, 200)
    assert.match(metrics.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
    const count = (status: number) =>
      `plumbline_requests_total{method="POST",route="/v1/check",status="${status}"} 1`
    for (const line of [
      count(200),
      count(400),
      'plumbline_request_duration_seconds_count{route="/v1/check"} 2',
    ]) {
      assert.ok(metrics.text.split('\n').includes(line), line)
    }
    for (const line of metrics.text.trimEnd().split('\n')) {
      assert.match(line, /^$|^# (HELP|TYPE) \w+ .+$|^\w+(\{.+\})? -?([\d.e+-]+|NaN|[+-]Inf)$/)
    }
  })

  test('shows its metrics on a port of their own', async (t) => {
    verifies('process.metrics-port')
    const app = await start(t, { env: { PLUMBLINE_METRICS_PORT: '0' } })
    const { metricsUrl } = app.running
    assert.notEqual(metricsUrl, null)
    assert.notEqual(metricsUrl, app.url)
    await app.get('/healthz')
    const metrics = await fetch(`${metricsUrl}/metrics`)
    assert.match(await metrics.text(), /^plumbline_requests_total\{.*"\/healthz".*\} 1$/m)
    assert.equal((await app.get('/metrics')).status, 404)
    assert.equal((await app.request('POST', '/metrics')).status, 404)
    for (const path of ['/healthz', '/v1/check', '/']) {
      assert.equal((await fetch(metricsUrl + path)).status, 404)
    }
    await app.running.stop()
    await assert.rejects(fetch(`${metricsUrl}/metrics`))
  })

  test('is not ready while its file cannot be written', async (t) => {
    verifies('process.readyz', 'process.healthz')
    const file = join(freshFolder(t), 'x.db')
    const app = await start(t, { env: { DATABASE_URL: `sqlite:${file}` } })
    const lock = new DatabaseSync(file)
    lock.exec('BEGIN IMMEDIATE')
    const [ready, checked, health] = await Promise.all([
      app.get('/readyz'),
      app.request('POST', '/v1/check', { body: good }),
      app.get('/healthz'),
    ])
    assert.deepEqual([ready.status, ready.body.error], [503, 'unavailable'])
    assert.deepEqual([checked.status, health.status], [200, 200])
    lock.exec('ROLLBACK')
    lock.close()
    assert.equal((await app.get('/readyz')).status, 200)
  })

  test('is not ready while its server is away', { skip: postgres.skip }, async (t) => {
    verifies('process.readyz', 'process.healthz', 'counters.outage')
    const line = await lineTo(t, await postgres.createUrl())
    const app = await start(t, { env: { DATABASE_URL: line.url } })
    const check = () => app.request('POST', '/v1/check', { body: good })
    assert.deepEqual([(await app.get('/readyz')).status, (await check()).status], [200, 200])
    await line.cut()
    const answer = await app.get('/readyz')
    assert.deepEqual([answer.status, answer.body.error], [503, 'unavailable'])
    assert.equal(answer.headers.get('retry-after'), String(answer.body.retry_after_s))
    const meanwhile = await check()
    assert.deepEqual(
      [meanwhile.status, meanwhile.headers.get('x-ratelimit-remaining')],
      [200, '98'],
    )
    assert.equal((await app.get('/healthz')).status, 200)
    await line.mend()
    // A connection that was begun during the outage may still run into its time limit.
    while ((await app.get('/readyz')).status !== 200);
    await app.running.store.counters.flush()
    const again = await check()
    assert.deepEqual([(await app.get('/readyz')).status, again.status], [200, 200])
    assert.equal(again.headers.get('x-ratelimit-remaining'), '97', 'the outage is counted too')
  })

  test('logs no goal above debug level', async (t) => {
    verifies('process.log.no-goal')
    const marker = 'xylophone'
    const broken = {
      ...check,
      name: 'test.broken',
      http: { method: 'POST', path: '/v1/broken' },
      answer: async () => {
        throw new Error('a fault')
      },
    } as const
    const app = await start(t, { operations: [check, broken], env: { PLUMBLINE_UNKNOWN: 'x' } })
    const full = JSON.stringify({ ground: marker, goal: marker, progress: marker, more: marker })
    for (const body of [
      full,
      JSON.stringify({ steps: [{ goal: marker }, { goal: marker }] }),
      JSON.stringify({ steps: [{ goal: marker }, { gaol: marker }] }),
      JSON.stringify({ ground: marker, goal: marker, detector: marker }),
      JSON.stringify({ ground: marker.repeat(1_000), goal: marker }),
      full.slice(1),
      marker.repeat(100_000),
    ]) {
      await app.request('POST', '/v1/check', { body, headers: { 'x-goal': marker } })
      await app.request('POST', `/v1/broken?goal=${marker}`, { body })
      await app.get(`/v1/${marker}?ground=${marker}`)
    }
    const spoken = app.log.filter(({ level }) => Number(level) > 20)
    assert.ok(spoken.some(({ level }) => level === 50) && spoken.some(({ level }) => level === 40))
    assert.doesNotMatch(JSON.stringify(spoken), new RegExp(marker))
  })
})

/** A server that npm starts in this repository, on a database elsewhere. */
function spawnNpm(t: TestContext, args: readonly string[]): Promise<Spawned & { url: string }> {
  const DATABASE_URL = `sqlite:${freshFolder(t)}/plumbline.db`
  const { HOME = '' } = process.env
  const env = { HOME, PORT: '0', DATABASE_URL }
  return untilListening(spawnProgram(t, 'npm', args, { folder: root, env }))
}

/** Sends the headers of a check and waits until the server asks for the body. */
async function beginCheck(url: string): Promise<{ socket: Socket; answered: Promise<Buffer> }> {
  const socket = await openSocket(url)
  socket.write(
    `POST /v1/check HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: ${good.length}\r\n\r\n`,
  )
  await once(socket, 'data')
  return { socket, answered: readToEnd(socket, 15_000) }
}

/** Resolves when the server takes no new connection. */
async function refused(url: string): Promise<void> {
  const began = performance.now()
  for (;;) {
    const open = await openSocket(url).catch(() => null)
    if (open === null) return
    open.destroy()
    assert.ok(performance.now() - began < 5_000, 'it goes on listening')
    await wait(pollMs)
  }
}

/** The lines of a log, among whatever else a process writes. */
function linesOf(written: string) {
  return written
    .split('\n')
    .filter((line) => line.startsWith('{"level"'))
    .map((line) => JSON.parse(line))
}

/** What a process has written where this first matches, waited for. */
async function lineOf(written: Spawned['written'], pattern: RegExp): Promise<string> {
  const began = performance.now()
  for (;;) {
    const [, line] = pattern.exec(written.out) ?? []
    if (line !== undefined) return line
    assert.ok(performance.now() - began < 5_000, written.out)
    await wait(pollMs)
  }
}

/** A module that has a process say every connection it opens. */
const tellConnections = `
import dgram from 'node:dgram'
import { writeSync } from 'node:fs'
import net from 'node:net'
for (const [kind, method] of [[net, 'connect'], [dgram, 'connect'], [dgram, 'send']]) {
  const original = kind.Socket.prototype[method]
  kind.Socket.prototype[method] = function (...args) {
    writeSync(2, 'CONNECTS ' + JSON.stringify(args.flat()) + '\\n')
    return original.apply(this, args)
  }
}
`
