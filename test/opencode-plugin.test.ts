import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { verifies } from './verifies.ts'

/** The plugin beside a server that answers only while `answers` holds, and how many requests have reached it. */
async function start(t: TestContext) {
  const state = { answers: true, asked: 0 }
  const server = createServer((request, response) => {
    state.asked++
    request.resume()
    if (state.answers) response.setHeader('content-type', 'application/json').end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-opencode-'))
  t.after(() => {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true })
    delete process.env.PLUMBLINE_HOME
  })
  writeFileSync(join(folder, 'curl.conf'), 'header = "authorization: Bearer k"\n')
  writeFileSync(join(folder, 'url'), `http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
  process.env.PLUMBLINE_HOME = folder
  // The file reads the folder when it is loaded.
  const { Plumbline } = await import(`../plugin/opencode/plumbline.js?${folder}`)
  const plugin = await Plumbline({ directory: '/home/kim/shop' })
  const say = (text: string): Promise<void> =>
    plugin['chat.message'](
      { sessionID: 's' },
      { message: { id: text }, parts: [{ type: 'text', text }] },
    )
  return { state, say }
}

test('the plugin of opencode goes on after one answer that came too late', async (t) => {
  verifies('hosts.plugin.opencode')
  const { state, say } = await start(t)
  await say('first')
  state.answers = false
  // Three at once are one stall.
  await Promise.all(['second', 'third', 'fourth'].map(say))
  state.answers = true
  await say('fifth')
  assert.equal(state.asked, 5)
  state.answers = false
  await say('sixth')
  state.answers = true
  await say('seventh')
  assert.equal(state.asked, 7, 'an answer in between ends the doubt')
})

test('the plugin of opencode leaves a server alone that hangs twice in a row', async (t) => {
  verifies('hosts.plugin.opencode')
  const { state, say } = await start(t)
  state.answers = false
  await say('first')
  await say('second')
  state.answers = true
  await say('third')
  assert.equal(state.asked, 2)
})
