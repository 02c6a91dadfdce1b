import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onEachDatabase, openFor } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { start } from './harness.ts'
import { verifies } from './verifies.ts'

/** By code points; a locale would put `_x` first, `a` beside `A`, and `ä` before `b`. */
const names = ['A', 'B', '_x', 'a', 'b', 'ä', '\uFFFD', '\u{1F600}']
/** As somebody might send them, in another order. */
const mixed = ['b', '\u{1F600}', 'ä', '_x', 'A', '\uFFFD', 'a', 'B']

onEachDatabase((database) => {
  async function startKeyed(t: TestContext): Promise<Caller> {
    return newCaller(await start(t, { env: { DATABASE_URL: await database.createUrl() } }))
  }
  const step = (run_id: string, more = {}) => ({ run_id, goal: 'fix the login form', ...more })

  test('text sorts by its code points, whatever the locale', async (t) => {
    verifies('storage.sorting')
    const me = await startKeyed(t)
    for (const name of mixed) {
      const roles = [{ role: 'a', recurse: 'deep' }]
      const answer = await me.post('/v1/recursion-team', { name, task: 'x', roles })
      assert.equal(answer.status, 201, answer.text)
    }
    const { templates } = (await me.get('/v1/recursion-team')).body
    const own = templates.filter(({ name }: { name: string }) => names.includes(name))
    assert.deepEqual(
      own.map(({ name }: { name: string }) => name),
      names,
    )
    // All at one time, so that the index has nothing but the ids to go by.
    await me.logAll(mixed.map((name) => step(name)))
    await me.logAll(mixed.map((agent_id) => step('agents', { agent_id })))
    const { run } = await me.read('agents')
    assert.deepEqual(
      run.agents.map(({ agent_id }: { agent_id: string }) => agent_id),
      names,
    )
    const exported = (await me.get('/v1/export')).text.trimEnd().split('\n')
    const runs = exported.map((line) => JSON.parse(line)).filter(({ type }) => type === 'run')
    const inOrder = [...names.slice(0, 4), 'agents', ...names.slice(4)]
    assert.deepEqual(
      runs.map(({ run_id }) => run_id),
      inOrder,
    )
    const listed: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path: string = `/v1/drift/runs?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`
      const { runs, next_cursor } = (await me.get(path)).body
      listed.push(...runs.map(({ run_id }: { run_id: string }) => run_id))
      cursor = next_cursor
    }
    assert.deepEqual(listed, inOrder.toReversed())
  })

  if (database.name === 'postgres') {
    test('the database of this test has a locale, and no column of text uses it', async (t) => {
      verifies('storage.sorting')
      const url = await database.createUrl()
      await start(t, { env: { DATABASE_URL: url } })
      const db = await openFor(t, url)
      const provider = await db.get(
        "SELECT datlocprovider AS name FROM pg_database WHERE datname = current_database() AND datlocprovider = 'i'",
      )
      if (provider === undefined) return t.skip('the server has no database with an ICU locale')
      const sorted = await db.all<{ name: string }>(
        "SELECT name FROM unnest(ARRAY['B', 'a', '_x', 'A']) AS names(name) ORDER BY name",
      )
      assert.deepEqual(
        sorted.map(({ name }) => name),
        ['_x', 'a', 'A', 'B'],
      )
      const others = await db.all(
        `SELECT table_name, column_name FROM information_schema.columns
         WHERE table_schema = current_schema() AND data_type = 'text'
           AND collation_name IS DISTINCT FROM 'C'`,
      )
      assert.deepEqual(others, [])
    })
  }
})
