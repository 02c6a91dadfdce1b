import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../src/storage/database/database.ts'
import { latestVersion, migrate } from '../../src/storage/database/migrations.ts'
import { type Migration, migrations } from '../../src/storage/database/schema.ts'
import { onEachDatabase, openFor } from '../backends.ts'
import { verifies } from '../verifies.ts'

const list: readonly Migration[] = [
  ['CREATE TABLE items (id BIGINT PRIMARY KEY, weight DOUBLE PRECISION)'],
  ['ALTER TABLE items ADD COLUMN name TEXT', "INSERT INTO items (id, name) VALUES (1, 'once')"],
]

async function readVersions(db: Database): Promise<number[]> {
  const rows = await db.all<{ version: number }>('SELECT version FROM migrations ORDER BY version')
  return rows.map(({ version }) => version)
}

onEachDatabase((database, openFresh) => {
  test('an empty database comes to the latest version, and a second run changes nothing', async (t) => {
    const db = await openFresh(t)
    await migrate(db)
    await migrate(db)
    assert.deepEqual(
      await readVersions(db),
      Array.from({ length: latestVersion }, (_, index) => index + 1),
    )
    assert.deepEqual(await db.all('SELECT bucket, day, used FROM counters'), [])
    assert.deepEqual(await db.all('SELECT id, at FROM heartbeat'), [])
  })

  test('nodes that migrate at once do it once', async (t) => {
    const url = await database.createEmptyUrl()
    const nodes = await Promise.all([1, 2, 3].map(() => openFor(t, url)))
    await Promise.all(nodes.map((db) => migrate(db, list)))
    for (const db of nodes) {
      assert.deepEqual(await readVersions(db), [1, 2])
      assert.deepEqual(await db.all('SELECT id, weight, name FROM items'), [
        { id: 1, weight: null, name: 'once' },
      ])
    }
  })

  test('an interrupted run leaves whole versions, and the next run completes it', async (t) => {
    const db = await openFresh(t)
    const failing = [list[0]!, [...list[1]!, 'INSERT INTO nowhere (id) VALUES (1)']]
    await assert.rejects(migrate(db, failing))
    assert.deepEqual(await readVersions(db), [1])
    await assert.rejects(db.all('SELECT name FROM items'))
    await migrate(db, list)
    assert.deepEqual(await readVersions(db), [1, 2])
    assert.deepEqual(await db.all('SELECT id, name FROM items'), [{ id: 1, name: 'once' }])
  })

  test('what earlier releases left behind is cleaned, and text sorts by its bytes', async (t) => {
    verifies('drift.recurrence-kept', 'storage.sorting')
    const db = await openFresh(t)
    await migrate(db, migrations.slice(0, 9))
    if (db.kind === 'postgres') {
      const changes =
        'ALTER COLUMN name TYPE TEXT COLLATE "default", ALTER COLUMN account TYPE TEXT'
      await db.run(`ALTER TABLE templates ${changes}`)
    }
    for (const [run, context] of [
      ['a', 'kept'],
      ['b', 'kept'],
      ['b', 'other'],
    ] as const) {
      await db.run(
        'INSERT INTO openings (account, run_id, context) VALUES (?, ?, ?)',
        'acct',
        run,
        context,
      )
    }
    for (const context of ['kept', 'other', 'gone']) {
      await db.run(
        'INSERT INTO contexts (account, context, runs, lowest) VALUES (?, ?, 7, 3)',
        'acct',
        context,
      )
    }
    const accounts = ['idle', 'configured', 'logged']
    for (const account of accounts) {
      await db.run('INSERT INTO alert_accounts (account, seq) VALUES (?, 5)', account)
    }
    await db.run("UPDATE alert_accounts SET config = '{}' WHERE account = 'configured'")
    await db.run(
      `INSERT INTO alert_log (account, seq, ts, run_id, reason, severity, phi, delivered, status)
       VALUES ('logged', 5, 0, 'a', 'r', 's', 0, 0, 0)`,
    )
    for (const name of ['_', 'a', 'A']) {
      await db.run(
        "INSERT INTO templates (account, name, task, roles) VALUES ('acct', ?, '', '')",
        name,
      )
    }
    await migrate(db)
    assert.deepEqual(await db.all('SELECT context, runs, lowest FROM contexts ORDER BY context'), [
      { context: 'kept', runs: 2, lowest: 3 },
      { context: 'other', runs: 1, lowest: 3 },
    ])
    assert.deepEqual(await db.all('SELECT account, seq FROM alert_accounts ORDER BY account'), [
      { account: 'configured', seq: 5 },
      { account: 'logged', seq: 5 },
    ])
    assert.deepEqual(await db.all('SELECT name FROM templates ORDER BY name'), [
      { name: 'A' },
      { name: '_' },
      { name: 'a' },
    ])
  })

  test('an alarm of old steps stands where a drift of its agent began, whatever other agents did between', async (t) => {
    verifies('quality.old-steps')
    const db = await openFresh(t)
    const [before, wrong] = [22, 29]
    await migrate(db, migrations.slice(0, before))
    for (const [at, [agent, drifting]] of [
      ['', 0],
      ['', 1],
      ['b', 0],
      ['', 1],
      ['b', 1],
      ['', 0],
      ['', 1],
    ].entries()) {
      await db.run(
        `INSERT INTO steps (account, run_id, step, ts, agent_id, goal, progress, distance, reason,
           drifting, phi, goal_score)
         VALUES ('acct_a', 'r', ?, 0, ?, 'g', 'advancing', 5, 'goal-drift', ?, 0, 0)`,
        at + 1,
        agent!,
        drifting!,
      )
    }
    await migrate(db, migrations.slice(0, wrong))
    for (const [step, alarm] of [
      [4, 4],
      [5, 5],
    ]) {
      await db.run(
        `INSERT INTO labels (account, run_id, step, seq, at, alarm, label)
         VALUES ('acct_a', 'r', ?, 1, 0, ?, 'useful')`,
        step!,
        alarm!,
      )
    }
    await migrate(db)
    assert.deepEqual(await db.all('SELECT step, agent_id, held FROM alarms ORDER BY step'), [
      { step: 2, agent_id: '', held: 0 },
      { step: 5, agent_id: 'b', held: 0 },
      { step: 7, agent_id: '', held: 0 },
    ])
    assert.deepEqual(await db.all('SELECT step, alarm FROM labels ORDER BY step'), [
      { step: 4, alarm: 2 },
      { step: 5, alarm: 5 },
    ])
  })

  test('a database newer than the program is refused and left alone', async (t) => {
    const db = await openFresh(t)
    await migrate(db, list)
    await assert.rejects(migrate(db, list.slice(0, 1)), /at version 2 and this program knows 1/)
    assert.deepEqual(await readVersions(db), [1, 2])
  })

  test('columns refuse what does not fit their type', async (t) => {
    const db = await openFresh(t)
    await migrate(db, list)
    await assert.rejects(db.run('INSERT INTO items (id) VALUES (?)', 'seven'))
    await assert.rejects(db.run('INSERT INTO items (id, weight) VALUES (?, ?)', 2, 'heavy'))
    await db.run('INSERT INTO items (id, weight) VALUES (?, ?)', 3, 4)
    assert.deepEqual(await db.get('SELECT weight FROM items WHERE id = 3'), { weight: 4 })
  })
})
