import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUnavailable } from '../../src/storage/database/database.ts'
import { migrate } from '../../src/storage/database/migrations.ts'
import { createStore } from '../../src/storage/store.ts'
import { onEachDatabase, openFor } from '../backends.ts'

onEachDatabase((database) => {
  test('writable writes a row, and rejects once it cannot', async (t) => {
    const db = await openFor(t, await database.createUrl())
    await migrate(db)
    const store = createStore(db)
    await store.writable(1_763_635_200_000)
    await store.writable(1_763_635_200_001)
    assert.deepEqual(await db.all('SELECT id, at FROM heartbeat'), [
      { id: 1, at: 1_763_635_200_001 },
    ])
    await store.counters.count('a', 1)
    await store.close()
    await assert.rejects(store.writable(1_763_635_200_002), isUnavailable)
  })
})
