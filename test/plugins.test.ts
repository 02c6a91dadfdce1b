import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { entriesFor, type InstallHost, ownEntries } from '../src/core/hosts/install.ts'
import { readers } from '../src/core/hosts/readers.ts'
import { runHere } from './command.ts'
import { freshFolder } from './spawned.ts'
import { verifies } from './verifies.ts'

const folder = fileURLToPath(new URL('../plugin/', import.meta.url))
const json = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'))
const { version } = JSON.parse(
  readFileSync(fileURLToPath(new URL('../package.json', import.meta.url)), 'utf8'),
)

/** The hooks of each plugin, with the variable by which the host names the plugin's folder. */
const plugins = [
  ['claude-code', 'hooks/claude-code.json', 'CLAUDE_PLUGIN_ROOT'],
  ['codex', 'hooks/codex.json', 'PLUGIN_ROOT'],
  ['cursor', 'hooks/cursor.json', 'CURSOR_PLUGIN_ROOT'],
  ['gemini-cli', 'gemini-cli/hooks/hooks.json', 'extensionPath'],
] as const satisfies readonly (readonly [InstallHost, string, string])[]

test('each plugin has the hooks that plumbline init writes', () => {
  verifies('hosts.plugins')
  for (const [host, name, root] of plugins) {
    const { hooks } = json(name)
    const entries = entriesFor(host, { shim: '', url: null })
    assert.deepEqual(
      Object.keys(hooks),
      entries.map(({ event }) => event),
      host,
    )
    for (const { event, matcher, handler } of entries) {
      const [group] = hooks[event]
      const own = group.hooks?.[0] ?? group
      assert.deepEqual(
        [hooks[event].length, group.matcher, own.timeout],
        [1, matcher, handler.timeout],
      )
      assert.equal(own.command, `sh "\${${root}}/hooks/report.sh" ${host} ${event}`)
    }
    // What uninstall takes out of settings are not the hooks of a plugin.
    assert.deepEqual(ownEntries({ hooks }), [])
    assert.ok(host in readers)
  }
})

test('the manifests name files that are there, in the version of the package', () => {
  verifies('hosts.plugins')
  const named = (manifest: string) => json(`${manifest}/plugin.json`)
  for (const manifest of ['.claude-plugin', '.codex-plugin', '.cursor-plugin']) {
    const { name, hooks, mcpServers, ...more } = named(manifest)
    assert.deepEqual([name, more.version], ['plumbline', version], manifest)
    for (const path of [hooks, mcpServers, more.skills ?? './skills/'])
      assert.ok(existsSync(join(folder, path)), `${manifest} ${path}`)
  }
  const [listed] = json('.claude-plugin/marketplace.json').plugins
  assert.deepEqual([listed.name, listed.source, listed.version], ['plumbline', './', version])
  // Claude Code finds the marketplace of a repository at its root.
  const root = JSON.parse(readFileSync(join(folder, '../.claude-plugin/marketplace.json'), 'utf8'))
  const own = json('.claude-plugin/marketplace.json')
  assert.deepEqual(root, { ...own, plugins: [{ ...listed, source: './plugin' }] })
  assert.equal(listed.description, named('.claude-plugin').description)
  const gemini = json('gemini-cli/gemini-extension.json')
  assert.deepEqual([gemini.name, gemini.version], ['plumbline', version])
  assert.deepEqual(gemini.mcpServers, json('mcp.json').mcpServers)
  // Claude Code reads hooks/hooks.json unasked, and would take those of another host.
  assert.ok(!existsSync(join(folder, 'hooks/hooks.json')))
  const skill = readFileSync(join(folder, 'skills/plumbline/SKILL.md'), 'utf8')
  assert.match(skill, /^---\n+name: plumbline\ndescription: .{50,1024}\n---\n/)
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:json|sh|md)$/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  assert.doesNotMatch(texts.join('\n'), /pl_(?:live|test)_|Bearer|https?:/)
})

test('the hooks of a plugin do nothing without the program of plumbline init, and run it where it is', (t) => {
  verifies('hosts.plugins')
  const home = freshFolder(t)
  const script = join(folder, 'hooks/report.sh')
  assert.equal(
    readFileSync(join(folder, 'gemini-cli/hooks/report.sh'), 'utf8'),
    readFileSync(script, 'utf8'),
  )
  const env = { HOME: home, PATH: process.env.PATH ?? '' }
  const run = (...args: string[]) =>
    execFileSync('sh', [script, ...args], { env, input: '{"prompt":"x"}', encoding: 'utf8' })
  assert.equal(run('claude-code', 'Stop'), '{}\n')
  assert.equal(run('cursor', 'beforeSubmitPrompt'), '{"continue":true}\n')
  mkdirSync(join(home, '.plumbline'))
  writeFileSync(join(home, '.plumbline/hook'), '#!/bin/sh\necho "$1 $2 $(cat)"\n', { mode: 0o755 })
  assert.equal(run('claude-code', 'Stop'), 'claude-code Stop {"prompt":"x"}\n')
})

test('plumbline init --plugin leaves the settings of the host alone', async (t) => {
  verifies('hosts.plugins')
  const home = freshFolder(t)
  mkdirSync(join(home, '.claude'))
  const file = join(home, '.claude/settings.json')
  writeFileSync(file, '{"theme":"dark"}')
  const args = ['init', 'claude-code', '--plugin', '--key', 'pl_live_x']
  const environment = { HOME: home, PATH: process.env.PATH ?? '' }
  const { code, out } = await runHere([...args, '--server', 'http://127.0.0.1:9'], { environment })
  assert.equal(code, 0)
  assert.match(out, /settings\.json is left alone: the plugin of claude-code brings the hooks\./)
  assert.equal(readFileSync(file, 'utf8'), '{"theme":"dark"}')
  assert.ok(existsSync(join(home, '.plumbline/hook')))
})
