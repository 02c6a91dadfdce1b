import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import {
  type Chore,
  createScheduler,
  type JobContext,
  type JobKind,
  type Scheduler,
} from '../src/jobs/scheduler.ts'
import type { Database } from '../src/storage/database/database.ts'
import { migrate } from '../src/storage/database/migrations.ts'
import { createStore, type OpenStore } from '../src/storage/store.ts'
import { databases, onEachDatabase, openFor } from './backends.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const noon = Date.UTC(2026, 0, 15, 12)
const leaseMs = 30_000

interface Node {
  store: OpenStore
  scheduler: Scheduler
  /** Messages of the log so far. */
  log: string[]
}

interface Clock {
  now: number
}

/** One node on a migrated database; without kinds of its own it has one that answers null. */
function createNode(
  db: Database,
  clock: Clock,
  kinds: readonly JobKind[],
  { chores = [], graceMs = 60_000 }: { chores?: Chore[]; graceMs?: number } = {},
): Node {
  const log: string[] = []
  const store = createStore(db)
  const scheduler = createScheduler({
    store,
    kinds,
    chores,
    now: () => clock.now,
    random: () => 0.5,
    log: pino({ level: 'debug' }, { write: (line) => void log.push(JSON.parse(line).msg) }),
    graceMs,
  })
  return { store, scheduler, log }
}

const add = ({ store }: Node, id: string, kind = 'send') =>
  store.jobs.add({ id, kind, input: `for ${id}`, due: noon })

/** A gate that a job waits at, and that a test opens. */
function createGate(): { opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

onEachDatabase((database) => {
  async function openMigrated(t: TestContext): Promise<Database> {
    const db = await openFor(t, await database.createUrl())
    await migrate(db)
    return db
  }

  test('a job is run with its input when it is due, and once', async (t) => {
    const clock = { now: noon - 1 }
    const seen: JobContext[] = []
    const node = createNode(await openMigrated(t), clock, [
      {
        name: 'send',
        leaseMs,
        maxAttempts: 3,
        run: async (context) => {
          seen.push(context)
          return null
        },
      },
    ])
    await add(node, 'a')
    assert.equal(await node.scheduler.runDue(), 0)
    clock.now = noon
    assert.equal(await node.scheduler.runDue(), 1)
    assert.equal(await node.scheduler.runDue(), 0)
    const { id, input, attempt, heldUntil } = seen[0]!
    assert.deepEqual([id, input, attempt, heldUntil], ['a', 'for a', 1, noon + leaseMs])
    assert.deepEqual(await node.store.jobs.count(noon), [])
  })

  test('a job that fails is tried again later and later, then kept, and hinders no other', async (t) => {
    const clock = { now: noon }
    const ran: string[] = []
    const node = createNode(await openMigrated(t), clock, [
      {
        name: 'send',
        leaseMs,
        maxAttempts: 4,
        atOnce: 5,
        run: async ({ id, attempt }) => {
          ran.push(`${id} ${attempt}`)
          if (id === 'bad') throw 'not even an error'
          return null
        },
      },
    ])
    await add(node, 'bad')
    await add(node, 'good')
    const waits: number[] = []
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await node.scheduler.runDue()
      const [next] = await node.store.jobs.nextDue(['send'], clock.now)
      waits.push(next!.due - clock.now)
      clock.now = next!.due
    }
    assert.deepEqual(waits, [1_000, 2_000, 4_000])
    await node.scheduler.runDue()
    assert.deepEqual(ran, ['bad 1', 'good 1', 'bad 2', 'bad 3', 'bad 4'])
    const [count] = await node.store.jobs.count(clock.now)
    assert.deepEqual([count?.gave_up, count?.due, count?.later], [1, 0, 0])
    assert.equal(node.log.filter((line) => line === 'a job gave up').length, 1)
    clock.now += 365 * 24 * hourMs
    assert.equal(await node.scheduler.runDue(), 0)
    await add(node, 'bad')
    assert.equal(await node.scheduler.runDue(), 1)
    assert.equal(ran.at(-1), 'bad 1')
  })

  test('of a recurring job each occurrence is run by one node', async (t) => {
    const url = await database.createUrl()
    const clock = { now: noon + 1 }
    const ran: number[] = []
    const kind: JobKind = {
      name: 'tidy',
      everyMs: hourMs,
      leaseMs,
      run: async () => {
        ran.push(clock.now)
        return null
      },
    }
    const dbs = await Promise.all([1, 2, 3].map(() => openFor(t, url)))
    await migrate(dbs[0]!)
    const nodes = dbs.map((db) => createNode(db, clock, [kind]))
    const runAll = async () => {
      const begun = await Promise.all(nodes.map(({ scheduler }) => scheduler.runDue()))
      return begun.reduce((sum, each) => sum + each, 0)
    }
    assert.equal(await runAll(), 0)
    clock.now = noon + hourMs
    assert.equal(await runAll(), 1)
    assert.equal(await runAll(), 0)
    // Those missed while no node ran are made up for by one.
    clock.now = noon + 9.5 * hourMs
    const late = createNode(await openFor(t, url), clock, [kind])
    nodes.push(late)
    assert.equal(await runAll(), 1)
    clock.now = noon + 10 * hourMs - 1
    assert.equal(await runAll(), 0)
    clock.now = noon + 10 * hourMs
    assert.equal(await runAll(), 1)
    assert.deepEqual(ran, [noon + hourMs, noon + 9.5 * hourMs, noon + 10 * hourMs])
  })

  test('a recurring job that fails is tried again no later than its next time, and never gives up', async (t) => {
    const clock = { now: noon }
    let failing = true
    const node = createNode(await openMigrated(t), clock, [
      {
        name: 'tidy',
        everyMs: minuteMs,
        leaseMs,
        run: async () => {
          if (failing) throw new Error('no')
          return null
        },
      },
    ])
    await node.scheduler.runDue()
    clock.now = noon + minuteMs
    for (let attempt = 0; attempt < 30; attempt += 1) {
      assert.equal(await node.scheduler.runDue(), 1)
      const [next] = await node.store.jobs.nextDue(['tidy'], clock.now)
      assert.ok(next!.due > clock.now && next!.due <= clock.now + minuteMs)
      clock.now = next!.due
    }
    failing = false
    assert.equal(await node.scheduler.runDue(), 1)
    const [next] = await node.store.jobs.nextDue(['tidy'], clock.now)
    assert.equal(next!.due, (Math.floor(clock.now / minuteMs) + 1) * minuteMs)
  })

  test('a job says when it wants to run again', async (t) => {
    const clock = { now: noon }
    const wishes = [noon, noon + 5_000, null]
    const node = createNode(await openMigrated(t), clock, [
      { name: 'send', leaseMs, maxAttempts: 1, run: async () => wishes.shift() ?? null },
    ])
    await add(node, 'a')
    assert.equal(await node.scheduler.runDue(), 1)
    assert.equal(await node.scheduler.runDue(), 1)
    assert.equal(await node.scheduler.runDue(), 0)
    clock.now += 5_000
    assert.equal(await node.scheduler.runDue(), 1)
    assert.deepEqual(await node.store.jobs.count(clock.now), [])
  })

  test('a node runs as many of a kind at once as the kind allows, and others beside them', async (t) => {
    const clock = { now: noon }
    const gate = createGate()
    let running = 0
    let most = 0
    const run = async () => {
      running += 1
      most = Math.max(most, running)
      await gate.opened
      running -= 1
      return null
    }
    let others = 0
    const node = createNode(await openMigrated(t), clock, [
      { name: 'send', leaseMs, maxAttempts: 1, atOnce: 3, run },
      {
        name: 'other',
        leaseMs,
        maxAttempts: 1,
        run: async () => {
          others += 1
          return null
        },
      },
    ])
    for (const id of ['a', 'b', 'c', 'd', 'e']) await add(node, id)
    const first = node.scheduler.runDue()
    while (running < 3) await new Promise(setImmediate)
    await add(node, 'f', 'other')
    const second = node.scheduler.runDue()
    while (others === 0) await new Promise(setImmediate)
    assert.equal(running, 3)
    gate.open()
    assert.deepEqual(await Promise.all([first, second]), [3, 1])
    assert.equal(await node.scheduler.runDue(), 2)
    assert.equal(most, 3)
  })

  test('the job of a node that hangs goes to another after its lease', async (t) => {
    const url = await database.createUrl()
    const clock = { now: noon }
    const gate = createGate()
    const ran: string[] = []
    const kind = (name: string, opened: Promise<void>): JobKind => ({
      name: 'send',
      leaseMs,
      maxAttempts: 3,
      run: async ({ attempt }) => {
        ran.push(`${name} ${attempt}`)
        await opened
        return null
      },
    })
    const db = await openFor(t, url)
    await migrate(db)
    const hanging = createNode(db, clock, [kind('hanging', gate.opened)])
    const other = createNode(await openFor(t, url), clock, [kind('other', Promise.resolve())])
    await add(other, 'a')
    const hung = hanging.scheduler.runDue()
    while (ran.length === 0) await new Promise(setImmediate)
    clock.now = noon + leaseMs - 1
    assert.equal(await other.scheduler.runDue(), 0)
    clock.now = noon + leaseMs
    assert.equal(await other.scheduler.runDue(), 1)
    gate.open()
    await hung
    assert.deepEqual(ran, ['hanging 1', 'other 2'])
    assert.match(hanging.log.join('\n'), /took longer than its lease/)
    assert.deepEqual(await other.store.jobs.count(clock.now), [])
  })

  test('a job that ends every process that runs it gives up', async (t) => {
    const clock = { now: noon }
    let ran = 0
    const node = createNode(await openMigrated(t), clock, [
      {
        name: 'send',
        leaseMs,
        maxAttempts: 2,
        run: async () => {
          ran += 1
          return null
        },
      },
    ])
    await add(node, 'a')
    for (let crash = 0; crash < 2; crash += 1) {
      await node.store.tx(({ jobs }) => jobs.take('send', clock.now, leaseMs, 1))
      clock.now += leaseMs
    }
    assert.equal(await node.scheduler.runDue(), 1)
    assert.equal(ran, 0)
    const [count] = await node.store.jobs.count(clock.now)
    assert.equal(count?.gave_up, 1)
  })

  test('stop tells what runs, waits for it, and begins nothing more', async (t) => {
    const clock = { now: noon }
    const ran: string[] = []
    const node = createNode(await openMigrated(t), clock, [
      {
        name: 'send',
        leaseMs,
        maxAttempts: 1,
        run: async ({ id, signal }) => {
          ran.push(id)
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          await new Promise(setImmediate)
          ran.push(`${id} ended`)
          return null
        },
      },
    ])
    await add(node, 'a')
    await add(node, 'b')
    await node.scheduler.start()
    while (ran.length === 0) await new Promise(setImmediate)
    await node.scheduler.stop()
    assert.deepEqual(ran, ['a', 'a ended'])
    assert.equal(await node.scheduler.runDue(), 0)
    const [left] = await node.store.tx(({ jobs }) => jobs.take('send', noon, leaseMs, 9))
    assert.deepEqual([left?.id, left?.attempts], ['b', 1])
  })

  test('stop leaves what takes too long to its lease', async (t) => {
    const clock = { now: noon }
    const gate = createGate()
    const kinds: JobKind[] = [
      { name: 'send', leaseMs, maxAttempts: 2, run: () => gate.opened.then(() => null) },
    ]
    const node = createNode(await openMigrated(t), clock, kinds, { graceMs: 1 })
    await add(node, 'a')
    await node.scheduler.start()
    await node.scheduler.stop()
    const takeAgain = (at: number) => node.store.tx(({ jobs }) => jobs.take('send', at, leaseMs, 9))
    assert.deepEqual(await takeAgain(noon + leaseMs - 1), [])
    assert.equal((await takeAgain(noon + leaseMs)).length, 1)
    gate.open()
    await node.scheduler.runDue()
  })

  test('new jobs of this node begin at once, and those after them when there is room', async (t) => {
    const done = createGate()
    let ran = 0
    const node = createNode(await openMigrated(t), { now: noon }, [
      {
        name: 'send',
        leaseMs,
        maxAttempts: 1,
        run: async () => {
          ran += 1
          if (ran === 4) done.open()
          return null
        },
      },
    ])
    await node.scheduler.start()
    t.after(() => node.scheduler.stop())
    const before = performance.now()
    await node.store.tx(async ({ jobs }) => {
      for (const id of ['a', 'b', 'c', 'd'])
        await jobs.add({ id, kind: 'send', input: '', due: noon })
    })
    await done.opened
    assert.ok(performance.now() - before < 950)
  })

  test('what was just taken when the node stops is given back', async (t) => {
    const db = await openMigrated(t)
    let stopped: Promise<void> | null = null
    const stopping: Database = {
      ...db,
      tx: (work, options) => {
        stopped ??= node.scheduler.stop()
        return db.tx(work, options)
      },
    }
    let ran = 0
    const kind: JobKind = {
      name: 'send',
      leaseMs,
      maxAttempts: 1,
      run: async () => {
        ran += 1
        return null
      },
    }
    const node = createNode(stopping, { now: noon }, [kind])
    const other = createNode(db, { now: noon }, [kind])
    await add(other, 'a')
    await node.scheduler.runDue()
    await stopped
    assert.equal(ran, 0)
    assert.equal(await other.scheduler.runDue(), 1)
    assert.equal(ran, 1)
  })

  test('chores are done by each node, at their interval, whatever becomes of them', async (t) => {
    const clock = { now: noon }
    const done: string[] = []
    const chore = (name: string): Chore => ({
      name,
      everyMs: 60_000,
      run: async () => {
        done.push(`${name} ${clock.now - noon}`)
        if (name === 'b') throw new Error('no')
      },
    })
    const node = createNode(await openMigrated(t), clock, [], { chores: [chore('a'), chore('b')] })
    for (const at of [0, 59_999, 60_000, 60_001, 300_000, 359_999]) {
      clock.now = noon + at
      await node.scheduler.runDue()
    }
    // A clock that was set back must not silence them until it has caught up.
    clock.now = noon - hourMs
    await node.scheduler.runDue()
    const times = ['60000', '300000', '-3600000']
    assert.deepEqual(
      done,
      times.flatMap((at) => [`a ${at}`, `b ${at}`]),
    )
    assert.equal(node.log.filter((line) => line === 'a chore failed').length, 3)
  })

  test('a database that is away is said once, and stops nothing', async (t) => {
    const db = await openMigrated(t)
    const kinds: JobKind[] = [{ name: 'tidy', everyMs: hourMs, leaseMs, run: async () => null }]
    const node = createNode(db, { now: noon }, kinds)
    await db.close()
    for (let look = 0; look < 3; look += 1) assert.equal(await node.scheduler.runDue(), 0)
    assert.deepEqual(node.log, ['the jobs cannot be read'])
  })
})

const sqlite = databases.find(({ name }) => name === 'sqlite')!

test('an idle node asks once a second', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const db = await openFor(t, await sqlite.createUrl())
  await migrate(db)
  let asked = 0
  let written = 0
  const counting: Database = {
    ...db,
    all: (sql, ...values) => {
      asked += 1
      return db.all(sql, ...values)
    },
    tx: (work, options) => {
      written += 1
      return db.tx(work, options)
    },
  }
  const node = createNode(counting, { now: noon }, [
    { name: 'tidy', everyMs: hourMs, leaseMs, run: async () => null },
    { name: 'send', maxAttempts: 3, leaseMs, run: async () => null },
  ])
  await node.scheduler.start()
  const settle = async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
  }
  t.mock.timers.tick(0)
  await settle()
  asked = 0
  written = 0
  for (let second = 0; second < 10; second += 1) {
    t.mock.timers.tick(1_000)
    await settle()
  }
  assert.deepEqual([asked, written], [10, 0])
  await node.scheduler.stop()
})
