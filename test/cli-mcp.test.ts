import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { freshFolder } from './spawned.ts'
import { verifies } from './verifies.ts'

const program = new URL('../src/main.ts', import.meta.url).pathname

for (const mode of ['legacy', 'auto'] as const) {
  test(`plumbline mcp serves the keyless tools over stdio (${mode})`, async (t) => {
    verifies('command.mcp')
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    const cwd = freshFolder(t)
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp'],
      cwd,
      // Whatever is configured, it reaches for no database and needs no key.
      env: { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
      stderr: 'pipe',
    })
    await client.connect(transport)
    t.after(() => client.close())
    const { tools } = await client.listTools()
    const names = tools.map(({ name }) => name)
    assert.equal(names.length, 13)
    for (const name of ['remember_self', 'resume_self', 'forget_self']) {
      assert.ok(!names.includes(name), name)
    }
    const call = async (name: string, args: Record<string, unknown>) => {
      const { structuredContent } = await client.callTool({ name, arguments: args })
      return structuredContent as Record<string, unknown>
    }
    const step = { progress: 'advancing', distance: 5 }
    assert.equal((await call('check_state', { goal: 'mend the roof', ...step })).reason, 'grounded')
    const drifted = await call('check_state', { goal: 'do not mend the roof', ...step })
    assert.deepEqual([drifted.reason, drifted.step], ['goal-drift', 2])
    assert.equal((await call('ask_alice', { situation: 'what now?' })).source, 'rules')
    assert.match(String((await call('read_field', {})).reading), /^It is /)
    const resource = await client.readResource({ uri: 'plumbline://tasks/default' })
    assert.match(JSON.stringify(resource.contents), /mend the roof/)
  })
}
