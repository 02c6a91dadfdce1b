import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { LoggedStep } from '../../src/core/runs/batch.ts'
import { type DriftRequest, readDrift } from '../../src/core/runs/step-request.ts'
import { dayMs } from '../../src/core/time.ts'
import {
  type Database,
  isUnavailable,
  type Queries,
  unavailable,
  type Value,
} from '../../src/storage/database/database.ts'
import { migrate } from '../../src/storage/database/migrations.ts'
import { deleteExpiredRuns } from '../../src/storage/runs/expiry.ts'
import { createWeightedCache } from '../../src/storage/runs/run-cache.ts'
import { createStore, type OpenStore } from '../../src/storage/store.ts'
import { databases, onEachDatabase, openFor } from '../backends.ts'
import { setMemory } from '../set-memory.ts'
import { verifies } from '../verifies.ts'

const sqlite = databases.find(({ name }) => name === 'sqlite')!
const postgres = databases.find(({ name }) => name === 'postgres')!

function entry(fields: object, now = 1_000) {
  return {
    account: 'acct_a',
    request: readDrift({ goal: 'fix the login form', ...fields }) as DriftRequest,
    detector: 'meaning' as const,
    now,
    retentionDays: 1,
  }
}

function numberOf(logged: LoggedStep | undefined): number {
  if (logged === undefined || logged === 'damaged') throw new Error('not logged')
  return logged.step
}

const places = [
  'runs ORDER BY run_id',
  'agents ORDER BY run_id, agent_id',
  'steps ORDER BY run_id, step',
  'grounds ORDER BY run_id, agent_id, revision',
  'openings ORDER BY run_id, context',
  'contexts ORDER BY context',
]

/** All that is stored of runs. */
async function storedIn(db: Database): Promise<object[]> {
  const tables = []
  for (const place of places) tables.push(await db.all<object>(`SELECT * FROM ${place}`))
  return tables
}

/** A database that notes each statement in `asked`, and whose transactions can be made to fail. */
function watched(db: Database, asked: string[], failure: { at: 'none' | 'end' }): Database {
  function noting(tx: Queries): Queries {
    const note =
      <Answer>(ask: (sql: string, ...values: Value[]) => Answer) =>
      (sql: string, ...values: Value[]) => {
        asked.push(sql)
        return ask(sql, ...values)
      }
    return { ...tx, all: note(tx.all), get: note(tx.get), run: note(tx.run) } as Queries
  }
  return {
    ...db,
    tx: (work, options) =>
      db.tx(async (tx) => {
        const result = await work(noting(tx))
        if (failure.at === 'end') throw new Error('made to fail')
        return result
      }, options),
  }
}

async function openMigrated(t: TestContext, url: string): Promise<Database> {
  const db = await openFor(t, url)
  await migrate(db)
  return db
}

test('a step of a run that has just been logged into reads nothing of it', async (t) => {
  const db = await openMigrated(t, await sqlite.createUrl())
  const asked: string[] = []
  const { log } = createStore(watched(db, asked, { at: 'none' }))
  await log([entry({}), entry({ agent_id: 'sub' })])
  // What has nothing to do with runs changes nothing of what is known of them.
  await db.run('INSERT INTO heartbeat (id, at) VALUES (1, 1)')
  asked.length = 0
  await log([entry({}), entry({ agent_id: 'sub' })])
  const reads = asked.filter((sql) =>
    /^(SELECT|INSERT).*\b(runs|agents|contexts|openings)\b/.test(sql),
  )
  assert.deepEqual(
    reads.filter((sql) => sql.startsWith('SELECT') || sql.includes('openings')),
    [],
  )
})

onEachDatabase((database) => {
  test('steps that were undone leave no trace in those that follow', async (t) => {
    const db = await openMigrated(t, await database.createUrl())
    const failure: Parameters<typeof watched>[2] = { at: 'none' }
    const { log } = createStore(watched(db, [], failure))
    assert.equal(numberOf((await log([entry({})]))[0]), 1)
    failure.at = 'end'
    await assert.rejects(log([entry({ goal: 'paint the shed', agent_id: 'sub' })]), /made to fail/)
    for (const { status } of await Promise.allSettled([log([entry({})]), log([entry({})])])) {
      assert.equal(status, 'rejected')
    }
    failure.at = 'none'
    assert.equal(numberOf((await log([entry({})]))[0]), 2)
    const other = (await log([entry({ run_id: 'other', goal: 'paint the shed' })]))[0]
    assert.ok(other !== undefined && other !== 'damaged')
    assert.deepEqual([other.step, other.earlier], [1, null])
  })

  test('steps that gave way to another transaction are logged the next time', async (t) => {
    const db = await openMigrated(t, await database.createUrl())
    let deadlocks = 1
    const store = createStore({
      ...db,
      tx: (work, options) =>
        db.tx(async (tx) => {
          const result = await work(tx)
          if (deadlocks-- > 0) {
            throw unavailable(Object.assign(new Error('deadlock detected'), { code: '40P01' }))
          }
          return result
        }, options),
    })
    const [alone] = await store.log([entry({})])
    deadlocks = 1
    const together = await Promise.all([store.log([entry({})]), store.log([entry({})])])
    assert.deepEqual([alone, ...together.flat()].map(numberOf), [1, 2, 3])
    deadlocks = 2
    await assert.rejects(store.log([entry({})]), isUnavailable)
  })

  /** Keeps steps of the run `a` from being stored while `work` runs. */
  async function whileHeld(db: Database, url: string, work: () => Promise<void>): Promise<void> {
    if (db.kind === 'sqlite') {
      const other = new DatabaseSync(url.slice('sqlite:'.length))
      other.exec('BEGIN IMMEDIATE')
      await work().finally(() => other.close())
      return
    }
    await db.tx(
      async (tx) => {
        await tx.all("SELECT run_id FROM runs WHERE run_id = 'a' FOR UPDATE")
        await work()
      },
      { limitMs: 60_000 },
    )
  }

  test('of steps in several batches behind a lock none waits longer than the limit', async (t) => {
    verifies('unavailable.bounded')
    const url = await database.createUrl()
    const db = await openMigrated(t, url)
    const { log, waitingSteps } = createStore(db)
    await log([entry({ run_id: 'a' })])
    await whileHeld(db, url, async () => {
      const began = performance.now()
      const waits = await Promise.all(
        Array.from({ length: 1_500 }, async () => {
          await assert.rejects(log([entry({ run_id: 'a' })]), isUnavailable)
          return performance.now() - began
        }),
      )
      // Generous to a loaded machine: each batch with a limit of its own took three times as long.
      assert.ok(Math.max(...waits) < 6_500, `the last was refused after ${Math.max(...waits)} ms`)
    })
    assert.equal(waitingSteps(), 0)
    assert.equal(numberOf((await log([entry({ run_id: 'a' })]))[0]), 2)
  })

  test('steps beyond a bound are refused at once', async (t) => {
    verifies('unavailable.bounded')
    const url = await database.createUrl()
    const db = await openMigrated(t, url)
    const { log, waitingSteps } = createStore(db)
    const batch = () => log(Array.from({ length: 500 }, () => entry({ run_id: 'a' })))
    await log([entry({ run_id: 'a' })])
    let waiting: Promise<LoggedStep[]>[] = []
    await whileHeld(db, url, async () => {
      waiting = Array.from({ length: 50 }, batch)
      for (const each of waiting) each.catch(() => {})
      await assert.rejects(batch(), isUnavailable)
      assert.ok(waitingSteps() <= 20_000)
    })
    const ended = await Promise.allSettled(waiting)
    // A slow machine may not get to all of those that wait within their time.
    for (const each of ended) assert.ok(each.status === 'fulfilled' || isUnavailable(each.reason))
  })

  test('whatever else changes runs, steps go on from what is stored', async (t) => {
    const run = fc.constantFrom('a', 'b')
    const change = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constant('log' as const),
          steps: fc.array(
            fc.record({
              run_id: run,
              goal: fc.constantFrom('fix the login form', 'paint the shed', 'buy milk', ' '),
              agent_id: fc.constantFrom(undefined, 'sub'),
              user_turn: fc.boolean(),
              distance: fc.nat(10),
            }),
            { minLength: 1, maxLength: 3 },
          ),
          inTransaction: fc.boolean(),
        }),
      },
      fc.record({ kind: fc.constant('outcome' as const), run }),
      fc.record({ kind: fc.constant('end' as const), run }),
      fc.record({ kind: fc.constant('later' as const), days: fc.constantFrom(0.5, 1) }),
      fc.record({ kind: fc.constant('expire' as const) }),
      fc.record({ kind: fc.constant('damage' as const), run }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(change, fc.constantFrom(0, 1)), { minLength: 5, maxLength: 25 }),
        async (changes) => {
          // The same on two nodes of one database that remember, and with nothing remembered at all.
          const url = await database.createUrl()
          const shared = [await openMigrated(t, url), await openFor(t, url)]
          const nodes = shared.map((db) => createStore(db))
          const alone = await openMigrated(t, await database.createUrl())
          let now = 1_000
          for (const [change, node] of changes) {
            const answers = []
            for (const store of [nodes[node]!, createStore(alone)]) {
              answers.push(await make(store, change, now))
            }
            assert.deepEqual(answers[0], answers[1])
            if (change.kind === 'later') now += change.days * dayMs
          }
          assert.deepEqual(await storedIn(shared[0]!), await storedIn(alone))
          for (const db of [...shared, alone]) await db.close()

          async function make(
            store: OpenStore,
            made: (typeof changes)[number][0],
            now: number,
          ): Promise<unknown> {
            switch (made.kind) {
              case 'log': {
                const entries = made.steps.map((step) => entry(step, now))
                return made.inTransaction ? store.tx(({ log }) => log(entries)) : store.log(entries)
              }
              case 'outcome':
                return store.runs.setOutcome('acct_a', made.run, now, {
                  outcome: 'success',
                  score: 1,
                  note: null,
                })
              case 'end':
                return store.tx(({ runs }) => runs.end('acct_a', made.run, now))
              case 'expire':
                return store.db.tx((tx) => deleteExpiredRuns(tx, store.db.kind, now, 1_000))
              case 'damage':
                return setMemory(store.db, made.run, '')
              case 'later':
                return null
            }
          }
        },
      ),
      { numRuns: database.name === 'sqlite' ? 30 : 8 },
    )
  })
})

test('steps of other runs are logged while another node holds one', {
  skip: postgres.skip,
}, async (t) => {
  const url = await postgres.createUrl()
  const [db, other] = [await openMigrated(t, url), await openFor(t, url)]
  const { log } = createStore(db)
  await log([entry({ run_id: 'held' }), entry({ run_id: 'free' })])
  const order: string[] = []
  await other.tx(async (tx) => {
    await tx.all("SELECT run_id FROM runs WHERE run_id = 'held' FOR UPDATE")
    const held = log([entry({ run_id: 'held' })]).then(() => order.push('held'))
    await log([entry({ run_id: 'free' })])
    order.push('free')
    held.catch(() => {})
  })
  assert.equal(numberOf((await log([entry({ run_id: 'held' })]))[0]), 3)
  assert.deepEqual(order, ['free', 'held'])
})

test('what is remembered is bounded, and what is used stays', () => {
  const recent = createWeightedCache<number>(100, (weight) => weight)
  for (let at = 0; at < 1_000; at++) {
    recent.set(`${at}`, 1)
    recent.set('busy', recent.get('busy') ?? 5)
  }
  const left = Array.from({ length: 1_000 }, (_, at) => recent.get(`${at}`)).filter(
    (value) => value !== undefined,
  )
  assert.ok(left.length >= 90 && left.length <= 200, `${left.length} are left`)
  assert.equal(recent.get('999'), 1)
  assert.equal(recent.get('busy'), 5)
  // Heavier than an eighth of what fits: it would stay for as long as it is used.
  recent.set('busy', 13)
  assert.equal(recent.get('busy'), undefined)
  recent.clear()
  assert.equal(recent.get('999'), undefined)
})
