import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { levelFor } from '../src/surfaces/cli/relay.ts'
import { keepFor } from '../src/surfaces/relay/audience.ts'
import { relayFolderIn } from '../src/surfaces/relay/settings.ts'
import { openSpool } from '../src/surfaces/relay/spool.ts'
import { type CodexPart, codexHooks, codexPrompt, codexRollout } from './codex-session.ts'
import { runHere } from './command.ts'
import { start } from './harness.ts'
import { freshFolder, spawnPlumbline } from './spawned.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
const plumbline = join(import.meta.dirname, '../bin/plumbline.js')
const nobody = 'http://127.0.0.1:9'

/** A user with an empty home, and the command line as that user runs it. */
function userOf(t: TestContext) {
  // Before its folder goes, which says where it listens.
  t.after(async () => {
    if (existsSync(inHome('.plumbline/relay.json')))
      await ask('POST', '/relay/stop').catch(() => {})
  })
  const home = freshFolder(t)
  const environment = { HOME: home, PATH: process.env.PATH ?? '' }
  const program = [process.execPath, plumbline]
  const inHome = (name: string) => join(home, name)
  const relay = () => JSON.parse(readFileSync(inHome('.plumbline/relay.json'), 'utf8'))
  const ask = async (method: string, path: string) => {
    const { port, local_key } = relay()
    const headers = { authorization: `Bearer ${local_key}` }
    return fetch(`http://127.0.0.1:${port}${path}`, { method, headers })
  }
  const status = async () => (await ask('GET', '/relay')).json()
  return {
    home,
    environment,
    inHome,
    relay,
    ask,
    status,
    run: (...args: string[]) =>
      runHere(args, {
        environment,
        program,
        now: Date.now,
        settings: () => readConfig(environment),
      }),
    /** Runs the program as a host does. */
    hook: (event: string, body: object, host = 'claude-code') =>
      new Promise<{ code: unknown; out: string }>((resolve) => {
        const args = [host, event]
        const done = (error: { code?: unknown } | null, out: string) =>
          resolve({ code: error === null ? 0 : error.code, out })
        const child = execFile(inHome('.plumbline/hook'), args, { env: environment }, done)
        child.stdin!.end(JSON.stringify({ session_id: 's', hook_event_name: event, ...body }))
      }),
    /** Waits until what waits has gone. */
    async drained() {
      while (((await status()) as { waiting: number }).waiting > 0) await soon()
    },
  }
}

/** A port that no program has. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** The relay is another process, so there is nothing to listen to. */
function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}

test('init sets up a relay, hosts start it again, doctor shows it, and uninstall takes it away', async (t) => {
  verifies('hosts.relay.init', 'hosts.doctor', 'hosts.relay.unknown')
  const app = await start(t)
  const { headers, key } = await app.newAccount()
  const user = userOf(t)
  mkdirSync(user.inHome('.claude'))
  const init = (...more: string[]) =>
    user.run('init', 'claude-code', '--key', key, '--server', app.url, ...more)
  const { code, out } = await init('--level', 'hashes')
  assert.equal(code, 0)
  assert.match(out, /hooks go to the relay at http:\/\/127\.0\.0\.1:\d+\.$/m)
  assert.match(out, /^The relay tells \S+ prompts and plans in clear, and paths and commands only/m)
  assert.match(out, /Probe: the relay at \S+ answered\.$/m)
  const mode = (name: string) => statSync(user.inHome(`.plumbline/${name}`)).mode & 0o777
  assert.deepEqual(
    [mode('relay.json'), mode('curl.conf'), mode('relay/log')],
    [0o600, 0o600, 0o600],
  )
  const { port, key: remote, level } = user.relay()
  assert.equal(level, 'hashes')
  assert.equal(readFileSync(user.inHome('.plumbline/url'), 'utf8'), `http://127.0.0.1:${port}\n`)
  const conf = readFileSync(user.inHome('.plumbline/curl.conf'), 'utf8')
  assert.ok(!conf.includes(remote) && !conf.includes(key), 'hosts have a key of this machine alone')
  const settings = readFileSync(user.inHome('.claude/settings.json'), 'utf8')
  assert.ok(!settings.includes('http'), 'every event goes by the program')

  const prompt = (text: string, prompt_id: string) =>
    user.hook('UserPromptSubmit', { prompt: text, prompt_id })
  assert.deepEqual(await prompt(errand, 'p-1'), { code: 0, out: '{}\n' })
  await user.drained()
  const goals = async () => {
    const { body } = await app.get('/v1/drift/run?run_id=claude-code:s', headers)
    return body.trace.map(({ goal }: { goal: string }) => goal)
  }
  assert.deepEqual(await goals(), [errand])
  await user.hook('TeaBreak', {})
  const examined = async () => {
    const { findings } = JSON.parse((await user.run('doctor', '--hosts', '--json')).out)
    const of = (name: string) => findings.find(({ check }: { check: string }) => check === name)
    assert.match(of('claude-code').says, /events that were not understood: TeaBreak \(1\)$/)
    return `${of('relay').state}: ${of('relay').says}`
  }
  assert.match(
    await examined(),
    /^ok: tells \S+ hashes; 0 events wait \(0 KB\); breaker closed; last/,
  )

  // Twice is once, and another level reaches the relay that is up.
  assert.equal((await init()).code, 0)
  assert.equal(user.relay().port, port)
  await init('--level', 'counts')
  assert.deepEqual(
    [((await user.status()) as { level: string }).level, user.relay().hash_key.length],
    ['counts', 32],
  )
  await init('--level', 'hashes')

  // The relay is gone: the next event starts it, and is not lost.
  await user.ask('POST', '/relay/stop')
  const { out: gone } = await user.run('doctor', '--hosts')
  assert.match(gone, /^warning +relay +not up on port/m)
  const second = 'limit the sign-up endpoint too'
  assert.deepEqual(await prompt(second, 'p-2'), { code: 0, out: '{}\n' })
  while ((await user.status().catch(() => null)) === null) await soon()
  // So does a person, and twice is once.
  await user.ask('POST', '/relay/stop')
  for (const _ of [1, 2]) assert.equal((await user.run('relay', '--ensure')).code, 0)
  while ((await user.status().catch(() => null)) === null) await soon()
  assert.equal((await prompt('and the reset endpoint', 'p-3')).code, 0)
  await user.drained()
  assert.equal((await goals()).at(-1), 'and the reset endpoint')

  const removed = await user.run('uninstall', 'claude-code')
  assert.match(removed.out, /^Stopped and removed the relay\.$/m)
  assert.ok(!existsSync(user.inHome('.plumbline')), removed.out)
  await assert.rejects(fetch(`http://127.0.0.1:${port}/relay`))
})

test('a relay to a server on this machine, once it is chosen, reads there how commands of Codex ended', async (t) => {
  verifies('hosts.relay.chosen', 'hosts.ends')
  const app = await start(t)
  const { headers, key } = await app.newAccount()
  const user = userOf(t)
  const init = (...more: string[]) =>
    user.run('init', 'codex', '--key', key, '--server', app.url, ...more)
  const bare = await init()
  assert.match(bare.out, /tells its hooks no exit code\. --relay has the relay read it/)
  assert.ok(!existsSync(user.inHome('.plumbline/relay.json')))
  const chosen = await init('--relay')
  assert.match(chosen.out, /^The relay tells \S+ prompts, plans, paths and commands, without/m)
  assert.doesNotMatch(chosen.out, /no exit code/)
  // It stays, also for another host.
  await init()
  await user.run('init', 'claude-code', '--key', key, '--server', app.url)
  assert.equal(user.relay().level, 'words')

  const place = { session: 'c', file: user.inHome('rollout-c.jsonl') }
  const build: CodexPart = { command: 'npm run build', output: 'cannot find it', exit: 2 }
  await user.hook('UserPromptSubmit', codexPrompt(place, errand), 'codex')
  const parts = [build, build, build]
  for (const event of codexHooks(place, parts)) await user.hook('PostToolUse', event, 'codex')
  writeFileSync(place.file, codexRollout(place, { prompts: [errand], parts, at: Date.now() }))
  const last = async () => {
    const { body } = await app.get('/v1/drift/run?run_id=codex:c', headers)
    return body.trace?.at(-1)
  }
  while ((await last())?.act_evidence?.kind !== 'same-error') await soon()
})

test('a relay that is killed sends afterwards what it had answered', async (t) => {
  verifies('hosts.relay.spool')
  const app = await start(t)
  const { headers, key } = await app.newAccount()
  const away = await awayServer(t, app.url)
  const home = freshFolder(t)
  const env = { PLUMBLINE_HOME: home, PLUMBLINE_KEY: key, HOME: home }
  const relayed = async (...args: string[]) => {
    const spawned = spawnPlumbline(t, ['relay', ...args], { env })
    const listening = /^The relay listens on (\S+); it tells \S+ words\.$/m
    while (!listening.test(spawned.written.out)) {
      assert.equal(spawned.child.exitCode, null, spawned.written.err)
      await soon()
    }
    return { ...spawned, url: listening.exec(spawned.written.out)![1]! }
  }
  const first = await relayed('--server', away.url, '--port', '0')
  const { local_key } = JSON.parse(readFileSync(join(home, 'relay.json'), 'utf8'))
  for (const [nth, prompt] of [errand, 'limit the sign-up endpoint too'].entries()) {
    const event = {
      hook_event_name: 'UserPromptSubmit',
      session_id: 's',
      prompt,
      prompt_id: `p-${nth}`,
    }
    const answer = await fetch(`${first.url}/v1/hooks/claude-code`, {
      method: 'POST',
      headers: { authorization: `Bearer ${local_key}` },
      body: JSON.stringify(event),
    })
    assert.deepEqual([answer.status, await answer.json()], [200, {}])
  }
  first.child.kill('SIGKILL')
  assert.equal(await first.ended, 'SIGKILL')
  away.state.isUp = true
  const second = await relayed()
  const run = async () => (await app.get('/v1/drift/run?run_id=claude-code:s', headers)).body.trace
  while ((await run())?.length !== 2) await soon()
  second.child.kill('SIGTERM')
  assert.equal(await second.ended, 0)
  assert.doesNotMatch(second.written.err, /limit/)
})

/** A server that is away until it is told, and then brings requests to another one. */
async function awayServer(t: TestContext, to: string) {
  const state = { isUp: false, bodies: [] as string[] }
  const server = createServer(async (incoming, response) => {
    let body = ''
    for await (const part of incoming) body += part
    if (!state.isUp) return void response.writeHead(503).end()
    state.bodies.push(body)
    const { method = '', url = '', headers } = incoming
    const sent = { method, headers: { authorization: String(headers.authorization) } }
    const answer = await fetch(`${to}${url}`, method === 'GET' ? sent : { ...sent, body })
    response.writeHead(answer.status).end(await answer.text())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { state, url: `http://127.0.0.1:${(server.address() as { port: number }).port}` }
}

test('the level that was chosen stays until another one is, and another one reaches the relay that is up', async (t) => {
  verifies('hosts.relay.level-kept', 'hosts.relay.heeds', 'hosts.relay.withheld')
  const app = await start(t)
  const { key } = await app.newAccount()
  const away = await awayServer(t, app.url)
  const user = userOf(t)
  const init = (host: string, ...more: string[]) =>
    user.run('init', host, '--key', key, '--server', away.url, ...more)
  await init('claude-code', '--level', 'hashes')
  const level = async () => ((await user.status()) as { level: string }).level
  const again = await init('codex')
  assert.match(again.out, /^The level hashes is kept; --level changes it\.$/m)
  assert.equal(await level(), 'hashes')

  const prompt = (text: string, prompt_id: string) =>
    user.hook('UserPromptSubmit', { prompt: text, prompt_id })
  await prompt(errand, 'p-1')
  assert.equal(((await user.status()) as { waiting: number }).waiting, 1)
  const stricter = await user.run('relay', '--level', 'counts')
  assert.match(stricter.out, /^The relay is up on \S+; it tells \S+ counts\.$/m)
  const { findings } = JSON.parse((await user.run('doctor', '--hosts', '--json')).out)
  const found = findings.find(({ check }: { check: string }) => check === 'relay')
  assert.match(found.says, /1 events were dropped because the level or the server changed/)
  assert.equal((await init('claude-code')).code, 0)
  assert.equal(await level(), 'counts')
  await prompt('limit the sign-up endpoint too', 'p-2')
  away.state.isUp = true
  while (away.state.bodies.length === 0) await soon()
  await user.drained()
  assert.doesNotMatch(away.state.bodies.join(), /limit/)

  // To another server no more than it would be told, and nothing of what waits.
  away.state.isUp = false
  await prompt('a third one', 'p-3')
  const moved = await init('claude-code', '--server', app.url)
  assert.match(moved.out, /^The level counts is kept/m)
  assert.match(moved.out, /^1 events that waited are gone/m)
  // A relay on another port takes the place of the one that is up, and hooks go there.
  const port = await freePort()
  assert.equal((await user.run('relay', '--ensure', '--port', `${port}`)).code, 0)
  while ((await user.status().catch(() => null)) === null) await soon()
  assert.equal(readFileSync(user.inHome('.plumbline/url'), 'utf8'), `http://127.0.0.1:${port}\n`)
  await prompt('a fourth one', 'p-4')
  await user.drained()
})

test('what waited for another server, or told more, is gone when a relay starts', async (t) => {
  verifies('hosts.relay.withheld', 'hosts.relay.level-kept')
  const home = freshFolder(t)
  const spool = openSpool(relayFolderIn(home), 1_000_000)
  for (const [before, now, waits] of [
    [
      { url: 'https://a.example', level: 'words' },
      { url: 'https://a.example', level: 'hashes' },
      0,
    ],
    [
      { url: 'https://a.example', level: 'hashes' },
      { url: 'https://a.example', level: 'words' },
      1,
    ],
    [{ url: 'https://a.example', level: 'words' }, { url: 'https://b.example', level: 'words' }, 0],
    [{ url: 'https://b.example', level: 'words' }, { url: 'https://b.example', level: 'words' }, 1],
  ] as const) {
    keepFor(relayFolderIn(home), spool, before)
    spool.clear()
    spool.append('{}')
    assert.equal(keepFor(relayFolderIn(home), spool, now), 1 - waits)
    assert.equal(spool.waiting, waits)
  }
  spool.close()
  rmSync(join(relayFolderIn(home), 'audience.json'))
  const unknown = openSpool(relayFolderIn(home), 1_000_000)
  assert.equal(
    keepFor(relayFolderIn(home), unknown, { url: 'https://b.example', level: 'words' }),
    1,
  )
  assert.deepEqual([unknown.waiting, unknown.next(9).lines], [0, []])
  unknown.close()

  const known = { url: 'https://a.example', key: 'k', port: 1, localKey: 'l', hashKey: 'h' }
  const levels = (url: string) =>
    (['words', 'hashes', 'counts'] as const).map((level) =>
      levelFor(url, undefined, { ...known, level }),
    )
  assert.deepEqual(levels('https://a.example'), ['words', 'hashes', 'counts'])
  assert.deepEqual(levels('https://b.example'), ['hashes', 'hashes', 'counts'])
  assert.deepEqual(levels('http://127.0.0.1:8787'), ['words', 'hashes', 'counts'])
})

test('the plugin of opencode starts a relay that is not up', async (t) => {
  verifies('hosts.relay.init')
  const app = await start(t)
  const { headers, key } = await app.newAccount()
  const user = userOf(t)
  await user.run('init', 'opencode', '--key', key, '--server', app.url, '--level', 'words')
  assert.ok(!existsSync(user.inHome('.plumbline/relay.json')), 'a server here needs none for words')
  await user.run('init', 'opencode', '--key', key, '--server', app.url, '--level', 'hashes')
  await user.ask('POST', '/relay/stop')
  const { Plumbline } = await import(user.inHome('.config/opencode/plugin/plumbline.js'))
  const plugin = await Plumbline({ directory: '/home/kim/shop' })
  const said = (id: string, text = errand) =>
    plugin['chat.message']({ sessionID: 's' }, { message: { id }, parts: [{ type: 'text', text }] })
  await said('m-1')
  while ((await user.status().catch(() => null)) === null) await soon()
  // At a level that needs none the relay goes, and hooks reach the server again.
  const back = await user.run(
    ...['init', 'opencode', '--key', key, '--server', app.url, '--level', 'words'],
  )
  assert.match(back.out, /^Stopped and removed the relay\./m)
  assert.equal(readFileSync(user.inHome('.plumbline/url'), 'utf8'), `${app.url}\n`)
  // The plugin that runs goes there too.
  await said('m-2', 'limit the sign-up endpoint too')
  const { body } = await app.get('/v1/drift/run?run_id=opencode:s', headers)
  assert.equal(body.run.ground, 'limit the sign-up endpoint too')
  await user.run('uninstall', '--all')
  assert.ok(!existsSync(user.inHome('.plumbline')))
})

test('hooks by which Claude Code itself calls a server are told of beside a relay', async (t) => {
  verifies('hosts.relay.init', 'hosts.doctor')
  const app = await start(t)
  const { key } = await app.newAccount()
  const user = userOf(t)
  mkdirSync(user.inHome('.claude'))
  Object.assign(user.environment, { PLUMBLINE_KEY: key })
  const init = (...args: string[]) => user.run('init', ...args, '--server', app.url)
  assert.match((await init('claude-code')).out, /Claude Code calls the server itself/)
  const past = /^Claude Code still calls a server itself, past the relay: /m
  assert.doesNotMatch((await init('codex')).out, past)
  assert.match((await init('codex', '--level', 'hashes')).out, past)
  const { findings } = JSON.parse((await user.run('doctor', '--hosts', '--json')).out)
  const found = findings.find(({ check }: { check: string }) => check === 'claude-code')
  assert.match(found.says, /itself, past the relay and its level; plumbline init claude-code mends/)
  assert.match((await init('claude-code')).out, /^Every event goes by the program\.$/m)
  assert.doesNotMatch((await init('codex')).out, past)
})

test('relay says what is wrong with its arguments', async (t) => {
  verifies('hosts.relay.init')
  const user = userOf(t)
  for (const [args, says] of [
    [[], /name a --server, or let plumbline init HOST --server URL set the relay up/],
    [['more'], /unexpected argument "more"/],
    [['--server', 'ftp://x'], /--server is "ftp/],
    [['--server', nobody], /set PLUMBLINE_KEY to a key of/],
    [['--server', nobody, '--level', 'all'], /--level is "all"; send words, hashes, counts/],
  ] as const) {
    const { code, err } = await user.run('relay', ...args)
    assert.equal(code, 2)
    assert.match(err, says)
  }
})
