import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createClient } from '../src/surfaces/client/client.ts'
import { start } from './harness.ts'
import { verifies } from './verifies.ts'

const errand = 'fix the login page'

/** What is written to standard error meanwhile. */
function listen(t: TestContext): string[] {
  const said: string[] = []
  t.mock.method(console, 'error', (text: string) => void said.push(text))
  return said
}

test('what the user says is handed over word for word, and the service reads what it does', async (t) => {
  verifies('client.user-message')
  const app = await start(t)
  const { key } = await app.newAccount()
  const client = createClient({ baseUrl: app.url, key })
  const run = client.run({ ground: errand, budgetMs: 30_000 })
  await run.step({ goal: 'read the code of the login page' })
  assert.equal((await run.userMessage('ok thanks, please go on'))?.user_effect, 'none')
  const added = await run.userMessage('also fix the sign-up page', {
    goal: 'read the sign-up page',
  })
  assert.deepEqual(
    [added?.user_effect, added?.revision, added?.goal],
    ['adds', 2, 'read the sign-up page'],
  )
  assert.match(added?.ground ?? '', /^fix the login page\nalso fix the sign-up page$/)
  await client.close()
})

test('a wrong key or address is said once where nobody listens, and the agent goes on', async (t) => {
  verifies('client.notice')
  const app = await start(t)
  const { key } = await app.newAccount()
  const said = listen(t)
  const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
  const client = createClient({ baseUrl: app.url, key: wrong })
  for (let nth = 0; nth < 2; nth++) {
    assert.equal(await client.run({ budgetMs: 30_000 }).step({ goal: errand }), null)
  }
  assert.equal(said.length, 1)
  assert.match(said[0]!, /^plumbline: http:\/\/127\.0\.0\.1:\d+ took no step: /)
  assert.ok(!said[0]!.includes(wrong))

  const elsewhere = createClient({ baseUrl: `${app.url}/nowhere`, key })
  await elsewhere.run({ budgetMs: 30_000 }).step({ goal: errand })
  assert.equal(said.length, 2)
  // Who listens is told, and nothing is written.
  const heard: number[] = []
  const listening = createClient({ baseUrl: app.url, key: wrong })
  const onError = ({ status }: { status: number }) => heard.push(status)
  await listening.run({ budgetMs: 30_000, onError }).step({ goal: errand })
  assert.deepEqual([heard, said.length], [[401], 2])
})
