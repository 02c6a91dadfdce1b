import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { readConfig } from '../src/config.ts'
import { parseCommented } from '../src/core/hosts/commented-json.ts'
import {
  addEntries,
  commentingHosts,
  entriesFor,
  type InstallHost,
  installHosts,
  ownEntries,
  removeEntries,
} from '../src/core/hosts/install.ts'
import { type FileHost, fileHosts } from '../src/core/hosts/install-files.ts'
import { trustHash, trustLabel } from '../src/surfaces/cli/codex-trust.ts'
import { newCaller } from './caller.ts'
import { type Ran, runHere } from './command.ts'
import { start } from './harness.ts'
import { answerOf, startReceiver } from './receiver.ts'
import { freshFolder, spawnPlumbline } from './spawned.ts'
import { verifies } from './verifies.ts'

const key = 'pl_live_secretsecret'
const nobody = 'http://127.0.0.1:9'
const errand = 'add rate limiting to the login endpoint'

const files: Record<InstallHost, string> = {
  'claude-code': '.claude/settings.json',
  codex: '.codex/hooks.json',
  'gemini-cli': '.gemini/settings.json',
  'qwen-code': '.qwen/settings.json',
  copilot: '.copilot/settings.json',
  cursor: '.cursor/hooks.json',
  vscode: '.copilot/hooks/plumbline.json',
}

const foreign = { hooks: [{ type: 'command', command: 'say done' }] }

/** A user with an empty home, and the command line as that user runs it. */
function userOf(t: TestContext, more: Record<string, string> = {}, program = ['/bin/false']) {
  const home = freshFolder(t)
  const environment = { HOME: home, PATH: process.env.PATH ?? '', ...more }
  const inHome = (name: string) => join(home, name)
  return {
    home,
    environment,
    inHome,
    run: (...args: string[]): Promise<Ran> =>
      runHere(args, {
        environment,
        program,
        folder: join(home, 'shop'),
        policyFolder: join(home, 'policy'),
        settings: () => readConfig(environment),
      }),
    init(host: InstallHost | FileHost, ...args: string[]): Promise<Ran> {
      return this.run('init', host, '--key', key, '--server', nobody, ...args)
    },
    write(name: string, content: unknown): string {
      const file = inHome(name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
      return file
    },
    read: (name: string) => readFileSync(inHome(name), 'utf8'),
    settings: (name: string) => JSON.parse(readFileSync(inHome(name), 'utf8')),
    /** Every file below the home with its bytes and mode. */
    all: () => contentsOf(home),
  }
}

function contentsOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const kept = names.filter((name) => statSync(join(folder, name)).isFile())
  return Object.fromEntries(
    kept.sort().map((name) => {
      const file = join(folder, name)
      return [name, `${(statSync(file).mode & 0o777).toString(8)} ${readFileSync(file, 'utf8')}`]
    }),
  )
}

/** Runs a command as a host does, by a shell and with the event on its standard input. */
function runHook(
  command: string,
  event: unknown,
  env: Record<string, string>,
): Promise<{ code: unknown; out: string }> {
  return new Promise((resolve) => {
    const child = execFile('sh', ['-c', command], { env }, (error, out) =>
      resolve({ code: error === null ? 0 : error.code, out }),
    )
    child.stdin!.on('error', () => {})
    child.stdin!.end(JSON.stringify(event))
  })
}

describe('plumbline init', () => {
  for (const host of installHosts) {
    test(`puts the hooks of ${host} after those of others`, async (t) => {
      verifies('hosts.init')
      const user = userOf(t)
      const first = entriesFor(host, { shim: '', url: null })[0]!.event
      const before = { theme: 'dark', hooks: { [first]: [foreign], Other: [foreign] }, last: 1 }
      const file = user.write(files[host], before)
      chmodSync(file, 0o640)
      const bytes = user.read(files[host])
      const { code, out, err } = await user.init(host)
      assert.deepEqual([code, err], [0, ''])
      assert.ok(out.includes(file))
      assert.match(out, new RegExp(`Probe: ${nobody} did not answer`))

      const { hooks, ...others } = user.settings(files[host])
      const isQwen = host === 'qwen-code'
      assert.deepEqual(others, {
        theme: 'dark',
        last: 1,
        ...(isQwen ? { hooksConfig: { enabled: true } } : {}),
        ...(host === 'cursor' ? { version: 1 } : {}),
      })
      assert.deepEqual(hooks.Other, [foreign])
      assert.deepEqual(hooks[first][0], foreign)
      assert.equal(hooks[first].length, 2)
      for (const { event, handler } of ownEntries({ hooks })) {
        assert.equal(
          handler.command ?? handler.bash,
          `"${user.home}/.plumbline/hook" ${host} ${event}`,
        )
        const limits = {
          copilot: undefined,
          cursor: undefined,
          'qwen-code': 1000,
          'gemini-cli': 1000,
        }
        assert.equal(handler.timeout, host in limits ? limits[host as keyof typeof limits] : 1)
      }
      assert.equal(statSync(file).mode & 0o777, 0o640)
      assert.equal(user.read(`${files[host]}.plumbline-backup`), bytes)
      assert.equal(statSync(`${file}.plumbline-backup`).mode & 0o777, 0o640)
    })
  }

  test('asks for the events that the readers know, and says what the user must do', async (t) => {
    verifies('hosts.init')
    const user = userOf(t)
    assert.match((await user.init('codex')).out, /Open \/hooks in Codex and trust/)
    const claude = entriesFor('claude-code', { shim: '/hook', url: null })
    assert.deepEqual(
      claude.filter(({ matcher }) => matcher !== undefined).map(({ event }) => event),
      ['PreToolUse'],
    )
    const gemini = entriesFor('gemini-cli', { shim: '/hook', url: null })
    assert.equal(gemini.find(({ event }) => event === 'BeforeTool')?.matcher, 'invoke_agent')
    user.write(files['qwen-code'], { hooksConfig: { enabled: false } })
    const off = await user.init('qwen-code')
    assert.match(off.out, /runs no hooks as it is: hooksConfig\.enabled is false/)
    assert.deepEqual(user.settings(files['qwen-code']).hooksConfig, { enabled: false })
    const elsewhere = await user.init('gemini-cli', '--server', 'http://192.0.2.1:8787')
    assert.match(
      elsewhere.out,
      /The relay tells http:\/\/192\.0\.2\.1:8787 prompts and plans in clear/,
    )
    assert.match(elsewhere.out, /not encrypted[\s\S]*The relay has not started/)
  })

  test('lets Claude Code call the server itself where it has the key', async (t) => {
    verifies('hosts.init', 'hosts.init.private')
    const app = await start(t)
    const { headers, key } = await app.newAccount()
    const user = userOf(t, { PLUMBLINE_KEY: key })
    const { code, out } = await user.run('init', 'claude-code', '--server', app.url)
    assert.equal(code, 0)
    assert.match(out, /Claude Code calls the server itself/)
    assert.match(out, /Probe: the server at \S+ answered\.$/m)
    assert.ok(!user.read(files['claude-code']).includes(key))
    const own = ownEntries(user.settings(files['claude-code']))
    for (const { event, handler } of own) {
      assert.equal(handler.type, event === 'SessionStart' ? 'command' : 'http')
    }
    const { handler } = own.find(({ event }) => event === 'UserPromptSubmit')!
    assert.equal(handler.timeout, 0.25)
    assert.deepEqual(handler.allowedEnvVars, ['PLUMBLINE_KEY'])
    const sent = (handler.headers as { Authorization: string }).Authorization
    const answer = await fetch(String(handler.url), {
      method: 'POST',
      headers: { authorization: sent.replace('$PLUMBLINE_KEY', key) },
      body: JSON.stringify({
        hook_event_name: 'UserPromptSubmit',
        session_id: 's',
        prompt: errand,
      }),
    })
    assert.deepEqual([answer.status, await answer.json()], [200, {}])
    const run = await app.get('/v1/drift/run?run_id=claude-code:s', headers)
    assert.equal(run.body.run.ground, errand)

    assert.equal((await user.run('init', 'claude-code', '--server', nobody)).code, 0)
    assert.ok(!user.read(files['claude-code']).includes(app.url))
  })

  test('twice is once, and changed hooks of an earlier time are replaced', async (t) => {
    verifies('hosts.init.twice')
    for (const host of installHosts) {
      const user = userOf(t)
      user.write(files[host], { hooks: { Stop: [foreign] }, z: 0 })
      await user.init(host)
      const once = user.all()
      assert.match((await user.init(host)).out, /has its hooks already/)
      assert.deepEqual(user.all(), once)

      const changed = user.settings(files[host])
      changed.hooks.Stop.push({ hooks: [{ type: 'http', url: 'http://old/v1/hooks/x' }] })
      changed.hooks.Later = [foreign]
      user.write(files[host], changed)
      await user.init(host)
      const { hooks } = user.settings(files[host])
      const wanted = entriesFor(host, { shim: user.inHome('.plumbline/hook'), url: null })
      assert.deepEqual(
        ownEntries({ hooks })
          .map(({ event }) => event)
          .sort(),
        wanted.map(({ event }) => event).sort(),
      )
      assert.deepEqual([hooks.Stop[0], hooks.Later], [foreign, [foreign]])
      assert.deepEqual(JSON.parse(user.read(`${files[host]}.plumbline-backup-1`)), changed)
    }
  })

  test('keeps the key where only the user reads it', async (t) => {
    verifies('hosts.init.private')
    const log = join(freshFolder(t), 'arguments')
    const tools = freshFolder(t)
    const curl = `#!/bin/sh\nfor each; do echo "$each" >>'${log}'; done\nPATH='${process.env.PATH}' exec curl "$@"\n`
    writeFileSync(join(tools, 'curl'), curl, { mode: 0o755 })
    const PATH = `${tools}:${process.env.PATH}`
    const user = userOf(t, { PATH })
    const { out } = await user.init('claude-code')
    const mode = (name: string) => statSync(user.inHome(`.plumbline/${name}`)).mode & 0o777
    assert.deepEqual([mode('hook'), mode('curl.conf'), mode('url')], [0o755, 0o600, 0o600])
    const conf = user.read('.plumbline/curl.conf')
    assert.match(conf, /^max-time = 0\.3\nconnect-timeout = 0\.1$/m)
    assert.match(conf, new RegExp(`^header = "authorization: Bearer ${key}"$`, 'm'))
    assert.equal(user.read('.plumbline/url'), `${nobody}\n`)
    await runHook(`"${user.home}/.plumbline/hook" claude-code Stop`, {}, { HOME: user.home, PATH })
    assert.ok(readFileSync(log, 'utf8').split('/v1/hooks/').length >= 4)
    const { '.plumbline/curl.conf': _, ...others } = user.all()
    for (const text of [out, readFileSync(log, 'utf8'), ...Object.values(others)]) {
      assert.ok(!text.includes(key))
    }
    // A file that everybody may read does not stay so.
    chmodSync(user.inHome('.plumbline/curl.conf'), 0o644)
    await user.init('claude-code')
    assert.equal(mode('curl.conf'), 0o600)
  })

  test('refuses a file that it cannot merge into, and touches nothing', async (t) => {
    verifies('hosts.init', 'hosts.uninstall')
    for (const [text, says] of [
      ['{ "hooks": {} // mine', /is not JSON/],
      ['', /is not JSON/],
      ['[]', /is not a JSON object/],
      ['{"hooks":[]}', /"hooks" is not an object/],
      ['{"hooks":{"Stop":{}}}', /"hooks\.Stop" is not a list/],
      ['{"hooksConfig":true}', /"hooksConfig" is not an object/],
    ] as const) {
      const user = userOf(t)
      const file = user.write(files['qwen-code'], text)
      const before = user.all()
      for (const ran of [await user.init('qwen-code'), await user.run('uninstall', 'qwen-code')]) {
        assert.equal(ran.code, 2)
        assert.match(ran.err, says)
        assert.ok(ran.err.includes(file))
      }
      assert.deepEqual(user.all(), before)
    }
  })

  test('keeps comments where the host has them, and refuses them where it has none', async (t) => {
    verifies('hosts.init.comments')
    for (const host of installHosts) {
      const user = userOf(t)
      const first = entriesFor(host, { shim: '', url: null })[0]!.event
      const group = JSON.stringify(foreign)
      const before = `// mine\r\n{\r\n\t"theme": "dark", /* not // light */\r\n\t"hooks": {\r\n\t\t"${first}": [\r\n\t\t\t${group}, // "said"\r\n\t\t],\r\n\t},\r\n\t// the last\r\n}\r\n`
      user.write(files[host], before)
      const all = user.all()
      const { code, err } = await user.init(host)
      if (!commentingHosts.has(host)) {
        assert.deepEqual([code, user.all()], [2, all])
        assert.match(err, new RegExp(`is not JSON.*${host} takes no comments`))
        continue
      }
      assert.equal(code, 0, err)
      const added = user.read(files[host])
      for (const line of before.split('\r\n')) assert.ok(added.includes(line), line)
      const own = ownEntries(parseCommented(added))
      assert.equal(own.length, entriesFor(host, { shim: '', url: null }).length)
      assert.equal((await user.init(host)).out.includes('has its hooks already'), true)
      assert.equal((await user.run('uninstall', host)).code, 0)
      assert.deepEqual(user.all(), all)
      // What the user writes in between stays too.
      await user.init(host)
      user.write(files[host], user.read(files[host]).replace('// mine', '// mine, and later'))
      assert.match((await user.run('uninstall', host)).out, /Took \d+ hooks out of/)
      const left = user.read(files[host])
      assert.deepEqual(parseCommented(left), parseCommented(before))
      for (const words of ['// mine, and later', '/* not // light */', '// "said"', '// the last'])
        assert.ok(left.includes(words), words)
    }
  })

  test('says what is wrong with its arguments, and how to get a key', async (t) => {
    verifies('hosts.init')
    const user = userOf(t)
    for (const [args, says] of [
      [
        ['init'],
        /none of claude-code, codex, gemini-cli, qwen-code, copilot, cursor, vscode, opencode, cline has its folder in .*name a HOST/,
      ],
      [['init', 'emacs'], /there is no host "emacs"; send one of claude-code, codex/],
      [['uninstall', 'emacs'], /there is no host "emacs"; send one of claude-code/],
      [['uninstall'], /name a host/],
      [['init', 'codex', 'more'], /unexpected argument "more"/],
      [['init', 'codex'], /PLUMBLINE_KEY.*data\/first-key.*plumbline keys create/],
      [['init', 'codex', '--key', 'a"b'], /copy it again/],
      [['init', 'codex', '--key', 'a\nb'], /copy it again/],
      [['init', 'codex', '--key', 'x', '--server', 'ftp://x'], /--server is "ftp:\/\/x"/],
      [['init', 'codex', '--key', 'x', '--server', 'http://u:p@x'], /--server is/],
    ] as const) {
      const { code, out, err } = await user.run(...args)
      assert.deepEqual([code, out], [2, ''], args.join(' '))
      assert.match(err, says)
    }
    const homeless = await runHere(['init', 'codex', '--key', 'x'], {})
    assert.deepEqual(
      [homeless.code, homeless.err],
      [2, 'plumbline init: set HOME to the folder of the user.\n'],
    )
    assert.deepEqual(user.all(), {})
  })

  test('gives opencode a plugin and Cline a program for each event, and takes only those away', async (t) => {
    verifies('hosts.init.files', 'hosts.uninstall')
    const app = await start(t)
    const { headers, key } = await app.newAccount()
    const user = userOf(t)
    user.write('.cline/hooks/TaskStart', '#!/bin/sh\necho mine\n')
    user.write('.config/opencode/opencode.json', { theme: 'dark' })
    const before = user.all()
    const init = (host: string, ...more: string[]) =>
      user.run('init', host, '--key', key, '--server', app.url, ...more)
    const dry = await init('opencode', '--dry-run')
    assert.match(dry.out, /plumbline\.js would be/)
    assert.deepEqual(user.all(), before)
    assert.match(
      (await init('opencode')).out,
      /Wrote \S+opencode\/plugin\/plumbline\.js\.[\s\S]*answered\.$/m,
    )
    assert.match((await init('opencode')).out, /The files are there already/)
    assert.match((await init('cline')).out, /Kept \S+TaskStart, which is not of Plumbline/)

    const run = user.inHome('.cline/hooks/UserPromptSubmit')
    const prompt = { taskId: 's', userPromptSubmit: { prompt: errand } }
    const ran = await runHook(`'${run}'`, prompt, { HOME: user.home, PATH: user.environment.PATH })
    assert.deepEqual(ran, { code: 0, out: '{}\n' })
    const { Plumbline } = await import(user.inHome('.config/opencode/plugin/plumbline.js'))
    const plugin = await Plumbline({ directory: '/home/kim/shop' })
    const parts = [{ type: 'text', text: errand }]
    await plugin['chat.message']({ sessionID: 's' }, { message: { id: 'm' }, parts })
    const output = { title: 'src/login.js', output: 'done', metadata: {} }
    const call = { tool: 'edit', sessionID: 's', callID: 'c', args: { filePath: 'src/login.js' } }
    await plugin['tool.execute.after'](call, output)
    assert.equal(output.output, 'done')
    for (const [id, steps] of [
      ['cline:s', 1],
      ['opencode:s', 2],
    ] as const) {
      const { run: shown, trace } = (await app.get(`/v1/drift/run?run_id=${id}`, headers)).body
      assert.deepEqual([shown.ground, trace.length], [errand, steps], id)
    }
    // Without a server the plugin says nothing and throws nothing.
    await app.running.stop()
    await plugin['chat.message']({ sessionID: 's' }, { message: { id: 'n' }, parts })
    assert.match((await user.run('init')).out, /cline +has its hooks in \S+\/\.cline$/m)
    assert.match(
      (await user.run('uninstall', 'cline')).out,
      /Removed \S+PreCompact[\s\S]*Kept \S+plumbline, which opencode needs/,
    )
    assert.equal((await user.run('uninstall', '--all')).code, 0)
    assert.deepEqual(user.all(), before)
    // Hosts that have none are not worth a line each.
    assert.equal((await user.run('uninstall', '--all')).out, 'No host has hooks of Plumbline.\n')
  })

  test('without a host it says which are on this machine', async (t) => {
    verifies('hosts.init.offer')
    const user = userOf(t)
    user.write(files.codex, {})
    await user.init('gemini-cli')
    const { code, out } = await user.run('init')
    assert.equal(code, 0)
    assert.match(
      out,
      /^ {2}codex +plumbline init codex puts hooks into \S+\/\.codex\/hooks\.json$/m,
    )
    assert.match(out, /^ {2}gemini-cli +has its hooks in \S+\/\.gemini\/settings\.json$/m)
    assert.doesNotMatch(out, /claude/)
  })

  test('makes a key that only reports events, once, and sets how hooks are answered', async (t) => {
    verifies('hosts.init.private', 'hosts.mode')
    const app = await start(t)
    const { headers, key } = await app.newAccount()
    const user = userOf(t)
    const init = (...more: string[]) =>
      user.run('init', 'codex', '--key', key, '--server', app.url, ...more)
    const first = await init('--advise')
    assert.match(first.out, /^Hooks are answered in the mode advise\.$/m)
    assert.match(first.out, /^Made key key_\w+, which may only report events\.$/m)
    const conf = user.read('.plumbline/curl.conf')
    assert.ok(!conf.includes(key))
    assert.match((await init()).out, /has its hooks already/)
    assert.equal(user.read('.plumbline/curl.conf'), conf)
    const { keys } = (await app.get('/v1/me', headers)).body
    assert.deepEqual(
      keys.map(({ scope, label }: Record<string, unknown>) => `${scope} ${label}`).sort(),
      ['full null', 'hooks hooks of codex'],
    )
    const { hooks } = (await app.get('/v1/hooks', headers)).body
    assert.deepEqual(hooks, { mode: 'advise', remind: true })
    // Where commands are held, the host asks before each.
    await init('--gate')
    const own = ownEntries(user.settings(files.codex))
    assert.equal(own.find(({ event }) => event === 'PreToolUse')?.matcher, 'Bash')
    assert.equal((await app.get('/v1/hooks', headers)).body.hooks.mode, 'gate')
    // A key of the scope hooks makes no other.
    const [, reports = ''] = /Bearer (\S+)"/.exec(conf) ?? []
    const other = userOf(t)
    await other.run('init', 'codex', '--key', reports, '--server', app.url)
    assert.equal(other.read('.plumbline/curl.conf'), conf)
  })

  test('--dry-run shows the change and touches nothing, without a key too', async (t) => {
    verifies('hosts.init')
    const user = userOf(t)
    const lines = Array.from({ length: 20 }, (_, at) => [`name ${at}`, at])
    user.write(files.codex, { ...Object.fromEntries(lines), hooks: { Stop: [foreign] } })
    const before = user.all()
    const { code, out } = await user.run('init', 'codex', '--dry-run')
    assert.equal(code, 0)
    assert.deepEqual(user.all(), before)
    assert.match(out, /^\+ .*\.plumbline\/hook\\" codex Stop/m)
    assert.match(out, /^ {2}…$/m)
    assert.doesNotMatch(out, /name 3"/)
    assert.ok(!existsSync(user.inHome('.plumbline')))
    const fresh = userOf(t)
    assert.match((await fresh.run('init', 'codex', '--dry-run')).out, /^\+ \{$/m)
    assert.deepEqual(fresh.all(), {})
  })

  test('goes where the environment says', async (t) => {
    verifies('hosts.init', 'hosts.uninstall')
    const other = freshFolder(t)
    const at = (name: string) => join(other, name)
    const user = userOf(t, {
      CLAUDE_CONFIG_DIR: at('claude'),
      CODEX_HOME: at('co dex'),
      PLUMBLINE_HOME: at('pl "$umb'),
    })
    await user.init('claude-code')
    await user.init('codex')
    assert.deepEqual(user.all(), {})
    const [entry] = ownEntries(JSON.parse(readFileSync(at('co dex/hooks.json'), 'utf8')))
    const command = String(entry?.handler.command)
    const env = { HOME: user.home, PATH: user.environment.PATH }
    assert.deepEqual(await runHook(command, {}, env), { code: 0, out: '{}\n' })
    assert.ok(existsSync(at('claude/settings.json')))
    for (const host of ['claude-code', 'codex']) {
      assert.equal((await user.run('uninstall', host)).code, 0)
    }
    assert.deepEqual(contentsOf(other), {})
  })

  test('is one with its processes', async (t) => {
    verifies('hosts.init')
    const home = freshFolder(t)
    const env = { HOME: home, PLUMBLINE_KEY: key, PORT: '9' }
    const { written, ended } = spawnPlumbline(t, ['init', 'gemini-cli'], { env })
    assert.equal(await ended, 0, written.err)
    assert.match(written.out, /the server is http:\/\/127\.0\.0\.1:9\.$/m)
    assert.ok(existsSync(join(home, '.gemini/settings.json')))
  })
})

/** Settings of others: any JSON, and hooks as hosts hold them. */
const event = fc.constantFrom('Stop', 'SessionStart', 'AfterTool', 'PostToolUse', 'Other', 'x')
const group = fc.record(
  {
    matcher: fc.string(),
    hooks: fc.array(fc.record({ type: fc.constant('command'), command: fc.string() })),
  },
  { requiredKeys: ['hooks'] },
)
const hooks = fc.dictionary(event, fc.array(group, { maxLength: 3 }))
const settings = fc
  .tuple(
    fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
    fc.record(
      { hooks, hooksConfig: fc.record({ enabled: fc.boolean() }, { requiredKeys: [] }) },
      { requiredKeys: [] },
    ),
  )
  .map(([others, own]) => ({ ...others, ...own }))
const text = fc
  .tuple(
    settings,
    fc.constantFrom('', ' ', '  ', '   ', '    ', '\t', ' '.repeat(12)),
    fc.constantFrom('', '\n', '\n\n'),
    fc.boolean(),
  )
  .map(([value, indent, end, isWindows]) => {
    const lines = `${JSON.stringify(value, null, indent)}${end}`
    return isWindows ? lines.replaceAll('\n', '\r\n') : lines
  })
const anyHost = fc.constantFrom(...installHosts)

describe('plumbline init --project', () => {
  const projectFiles = {
    'claude-code': '.claude/settings.json',
    codex: '.codex/hooks.json',
    'gemini-cli': '.gemini/settings.json',
    'qwen-code': '.qwen/settings.json',
    copilot: '.github/hooks/plumbline.json',
    cursor: '.cursor/hooks.json',
  }

  test('puts hooks into the project, without a key, which report for whoever has run plumbline init', async (t) => {
    verifies('hosts.init.project', 'hosts.doctor.project')
    const app = await start(t)
    const { key: theirs, headers } = await app.newAccount()
    for (const [host, name] of Object.entries(projectFiles) as [
      keyof typeof projectFiles,
      string,
    ][]) {
      const user = userOf(t)
      const file = `shop/${name}`
      user.write(file, { hooks: { Other: [foreign] }, last: 1 })
      const before = user.all()
      const init = ['init', host, '--project', '--server', app.url, '--key', theirs]
      const { code, out, err } = await user.run(...init)
      assert.deepEqual([code, err], [0, ''], out)
      assert.ok(!existsSync(user.inHome(files[host])), 'the settings of the user are left alone')
      const { hooks, last } = user.settings(file)
      assert.deepEqual([hooks.Other, last], [[foreign], 1])
      if (host === 'copilot') assert.equal(user.settings(file).version, 1)
      const text = user.read(file)
      for (const secret of [theirs, user.home, 'Bearer pl_']) assert.ok(!text.includes(secret))

      const entry = ownEntries({ hooks })[1]!
      const { command, bash } = entry.handler
      const runs = (env: Record<string, string>) =>
        runHook(
          String(command ?? bash),
          { session_id: host, prompt: errand, hook_event_name: entry.event },
          env,
        )
      const { PATH } = user.environment
      const empty = host === 'cursor' ? '{"continue":true}' : '{}'
      assert.deepEqual(await runs({ HOME: freshFolder(t), PATH }), { code: 0, out: `${empty}\n` })
      assert.deepEqual((await runs({ HOME: user.home, PATH })).code, 0)

      assert.match((await user.run(...init)).out, /has its hooks already/)
      const { findings } = JSON.parse((await user.run('doctor', '--hosts', '--json')).out)
      const found = findings.find(({ check }: { check: string }) => check === host)
      assert.match(found.says, /^\d+ hooks in \S+, of this project; /, host)
      const undone = await user.run('uninstall', host, '--project')
      assert.equal(undone.code, 0)
      assert.ok(existsSync(user.inHome('.plumbline/hook')), 'other projects may need it')
      const left = Object.entries(user.all()).filter(([path]) => path.startsWith('shop/'))
      assert.deepEqual(Object.fromEntries(left), before)
    }
    const run = await app.get('/v1/drift/run?run_id=codex:codex', headers)
    assert.equal(run.body.run.ground, errand)
  })

  test('lets Claude Code call a server of this machine with the key of each user', async (t) => {
    verifies('hosts.init.project')
    const user = userOf(t, { PLUMBLINE_KEY: key })
    assert.equal((await user.init('claude-code', '--project')).code, 0)
    const own = ownEntries(user.settings('shop/.claude/settings.json'))
    const called = own.filter(({ handler }) => handler.type === 'http')
    assert.equal(called.length, own.length - 1)
    assert.deepEqual(called[0]!.handler.headers, { Authorization: 'Bearer $PLUMBLINE_KEY' })
    assert.deepEqual(called[0]!.handler.allowedEnvVars, ['PLUMBLINE_KEY'])
  })

  test('gives a project files for opencode and Cline', async (t) => {
    verifies('hosts.init.project')
    const user = userOf(t)
    user.write('shop/.clinerules/hooks/TaskStart', '#!/bin/sh\n')
    const before = user.all()
    for (const host of ['opencode', 'cline']) {
      const { code, out } = await user.run(
        'init',
        host,
        '--project',
        '--key',
        key,
        '--server',
        nobody,
      )
      assert.equal(code, 0, out)
      if (host === 'cline') assert.match(out, /Kept \S+TaskStart, which is not of Plumbline/)
    }
    const { out: told } = await user.run('doctor', '--hosts')
    assert.match(told, /^ok +opencode +\S+plumbline\.js, of this project; /m)
    assert.match(told, /^ok +cline +\d files of hooks in \S+, of this project; /m)
    assert.ok(!user.read('shop/.opencode/plugin/plumbline.js').includes(user.home))
    const script = user.read('shop/.clinerules/hooks/PostToolUse')
    assert.ok(!script.includes(user.home))
    const ran = await runHook(script, {}, { HOME: freshFolder(t), PATH: user.environment.PATH })
    assert.deepEqual(ran, { code: 0, out: '{}\n' })
    await user.run('uninstall', '--all', '--project')
    const left = Object.entries(user.all()).filter(([path]) => path.startsWith('shop/'))
    assert.deepEqual(Object.fromEntries(left), before)
  })

  test('leaves no folder that it has made, and each that was there', async (t) => {
    verifies('hosts.init.project.folders')
    const user = userOf(t)
    const made = () =>
      readdirSync(user.home, { recursive: true, encoding: 'utf8' })
        .filter((name) => !name.startsWith('.plumbline'))
        .sort()
    mkdirSync(user.inHome('shop/.gemini'), { recursive: true })
    mkdirSync(user.inHome('.codex'))
    const before = made()
    for (const host of ['codex', 'gemini-cli', 'copilot', 'cline', 'opencode']) {
      await user.run('init', host, '--project', '--key', key, '--server', nobody)
      assert.notDeepEqual(made(), before)
      const { out } = await user.run('uninstall', host, '--project')
      assert.deepEqual(made(), before, out)
      if (host === 'copilot')
        assert.match(out, /Removed \S+\.github, which plumbline init had made\./)
    }
    await user.run('init', 'cursor', '--project', '--key', key, '--server', nobody)
    user.write('shop/.cursor/rules', 'mine')
    await user.run('uninstall', '--all', '--project')
    assert.deepEqual(made(), [...before, 'shop/.cursor', 'shop/.cursor/rules'].sort())
    // Those of the user's own settings too, and nothing is remembered when the last host is gone.
    rmSync(user.inHome('shop'), { recursive: true })
    for (const host of ['codex', 'gemini-cli', 'cline', 'vscode', 'copilot'])
      await user.run('init', host, '--key', key, '--server', nobody)
    await user.run('uninstall', '--all')
    assert.deepEqual(readdirSync(user.home, { recursive: true }).sort(), ['.codex'])
  })

  test('says what a project cannot have', async (t) => {
    verifies('hosts.init.project')
    const user = userOf(t)
    for (const [args, says] of [
      [['vscode', '--project'], /vscode has no hooks of a project of its own/],
      [['claude-code', '--project', '--plugin'], /does not go with --project/],
    ] as const) {
      const { code, err } = await user.run('init', ...args, '--key', key, '--server', nobody)
      assert.deepEqual([code, Object.keys(user.all())], [2, []])
      assert.match(err, says)
    }
  })
})

describe('plumbline init --otel', () => {
  test('prints how a host exports its telemetry, and names the key by its variable', async (t) => {
    verifies('hosts.init.otel')
    const user = userOf(t)
    for (const [host, says] of [
      ['claude-code', /OTEL_EXPORTER_OTLP_ENDPOINT=http:\/\/127\.0\.0\.1:9\/v1\/otlp/],
      ['gemini-cli', /GEMINI_TELEMETRY_OTLP_ENDPOINT=http:\/\/127\.0\.0\.1:9\/v1\/otlp/],
      ['codex', /endpoint = "http:\/\/127\.0\.0\.1:9\/v1\/logs"/],
    ] as const) {
      const { code, out } = await user.init(host, '--otel')
      assert.equal(code, 0)
      assert.match(out, says)
      assert.match(out, /PLUMBLINE_KEY/)
      assert.ok(!out.includes(key))
    }
    for (const [args, says] of [
      [['qwen-code'], /--otel is for claude-code, gemini-cli, codex/],
      [['codex', '--server', 'https://plumbline.example'], /past the relay/],
      [['codex', '--server', nobody, '--level', 'hashes'], /past the relay/],
    ] as const) {
      const { code, err } = await user.run('init', ...args, '--otel', '--key', key)
      assert.equal(code, 2)
      assert.match(err, says)
    }
  })
})

describe('plumbline uninstall', () => {
  test('gives back every file byte for byte', async (t) => {
    verifies('hosts.uninstall', 'hosts.init.twice')
    await fc.assert(
      fc.asyncProperty(anyHost, text, fc.boolean(), async (host, before, twice) => {
        const user = userOf(t)
        user.write(files[host], before)
        const all = user.all()
        assert.equal((await user.init(host)).code, 0)
        assert.notEqual(user.read(files[host]), before)
        if (twice) await user.init(host, '--server', 'http://127.0.0.1:10')
        const { code, out } = await user.run('uninstall', host)
        assert.deepEqual([code, user.all()], [0, all], out)
        rmSync(user.home, { recursive: true })
      }),
      { numRuns: 40 },
    )
  })

  test('takes exactly its hooks out of settings that have changed since', () => {
    verifies('hosts.uninstall')
    fc.assert(
      fc.property(anyHost, settings, settings, fc.boolean(), (host, before, later, byUrl) => {
        const way = { shim: '/home/kim/.plumbline/hook', url: byUrl ? nobody : null }
        const entries = entriesFor(host, way)
        const order = (value: object) => JSON.stringify(value)
        const added = addEntries(host, before, entries)
        assert.deepEqual(ownEntries(added).length, entries.length)
        assert.equal(order(removeEntries(host, added, before)), order(before))
        // What the user adds in between stays.
        const left = removeEntries(host, { ...added, later }, before)
        assert.equal(order(left), order({ ...before, later }))
      }),
    )
  })

  test('leaves what the user has added since, and what was empty before', async (t) => {
    verifies('hosts.uninstall')
    const user = userOf(t)
    user.write(files['qwen-code'], '{\n    "hooks": { "Stop": [] }\n}\n')
    await user.init('qwen-code')
    const changed = user.settings(files['qwen-code'])
    changed.hooks.SessionEnd[0].hooks.push(foreign.hooks[0])
    user.write(files['qwen-code'], JSON.stringify({ ...changed, mine: 1 }, null, 4))
    assert.match((await user.run('uninstall', 'qwen-code')).out, /Took 9 hooks out of/)
    assert.equal(
      user.read(files['qwen-code']),
      JSON.stringify({ hooks: { Stop: [], SessionEnd: [foreign] }, mine: 1 }, null, 4),
    )
    assert.match((await user.run('uninstall', 'qwen-code')).out, /has no hooks of Plumbline/)

    // Without the copy, the switch may be the user's.
    rmSync(user.inHome(files['qwen-code']))
    rmSync(user.inHome(`${files['qwen-code']}.plumbline-backup`))
    await user.init('qwen-code')
    const made = user.settings(files['qwen-code'])
    const more = { ...made, hooks: { ...made.hooks, Mine: [foreign] } }
    for (const [settings, left] of [
      [more, { hooks: { Mine: [foreign] }, hooksConfig: { enabled: true } }],
      [{ ...made, mine: 1 }, { mine: 1 }],
    ]) {
      user.write(files['qwen-code'], settings)
      await user.run('uninstall', 'qwen-code')
      assert.deepEqual(user.settings(files['qwen-code']), left)
    }
  })

  test('removes a file that init made, and the program with the last host', async (t) => {
    verifies('hosts.uninstall')
    const user = userOf(t)
    for (const host of installHosts) await user.init(host)
    for (const host of installHosts) {
      assert.ok(existsSync(user.inHome('.plumbline/hook')))
      assert.equal((await user.run('uninstall', host)).code, 0)
    }
    assert.deepEqual(user.all(), {})
    assert.ok(!existsSync(user.inHome('.plumbline')))
  })

  test('leaves no folder that init made, of the user or of a project', async (t) => {
    verifies('hosts.uninstall', 'hosts.init.project')
    const user = userOf(t)
    user.write('.gemini/tmp/session.json', '{}')
    user.write('shop/notes.txt', 'mine')
    const places = () => readdirSync(user.home, { recursive: true, encoding: 'utf8' }).sort()
    const before = places()
    for (const host of [...installHosts, ...fileHosts]) {
      assert.equal((await user.init(host)).code, 0)
      if (host !== 'vscode') assert.equal((await user.init(host, '--project')).code, 0)
    }
    assert.ok(places().length > before.length + 20)
    assert.equal((await user.run('uninstall', '--all', '--project')).code, 0)
    assert.equal((await user.run('uninstall', '--all')).code, 0)
    assert.deepEqual(places(), before)
  })

  test('never writes over an older copy, and follows a link', async (t) => {
    verifies('hosts.uninstall', 'hosts.init')
    const user = userOf(t)
    const target = user.write('dotfiles/claude.json', { a: 1 })
    const copy = user.write(`${files['claude-code']}.plumbline-backup`, 'mine')
    const link = user.inHome(files['claude-code'])
    symlinkSync(target, link)
    await user.init('claude-code')
    assert.ok(lstatSync(link).isSymbolicLink())
    assert.equal(ownEntries(user.settings('dotfiles/claude.json')).length, 11)
    await user.run('uninstall', 'claude-code')
    assert.ok(lstatSync(link).isSymbolicLink())
    assert.equal(readFileSync(copy, 'utf8'), 'mine')
    assert.equal(readFileSync(target, 'utf8'), JSON.stringify({ a: 1 }, null, 2))
  })
})

describe('the program that hosts run', () => {
  /** The command of an event as it stands in the host's settings, run with an event. */
  const hookOf = (user: ReturnType<typeof userOf>, host: InstallHost, event: string) => {
    const entry = ownEntries(user.settings(files[host])).find((each) => each.event === event)
    const env = { HOME: user.home, PATH: user.environment.PATH }
    const { command, bash } = entry?.handler ?? {}
    return (body: unknown) => runHook(String(command ?? bash), body, env)
  }

  test('logs a prompt as a step of a run', async (t) => {
    verifies('hosts.shim')
    const app = await start(t)
    const { headers, key } = await app.newAccount()
    for (const host of installHosts) {
      const user = userOf(t)
      const { out } = await user.run('init', host, '--key', key, '--server', `${app.url}/`)
      assert.match(out, /Probe: the server at \S+ answered\.$/m)
      const prompts: Partial<Record<InstallHost, string>> = {
        'gemini-cli': 'BeforeAgent',
        copilot: 'userPromptSubmitted',
        cursor: 'beforeSubmitPrompt',
        vscode: 'UserPromptSubmit',
      }
      const event = prompts[host] ?? 'UserPromptSubmit'
      const session = { session_id: 's', sessionId: 's', conversation_id: 's' }
      const body = { ...session, cwd: '/home/kim', hook_event_name: event, prompt: errand }
      const empty = host === 'cursor' ? '{"continue":true}' : '{}'
      assert.deepEqual(await hookOf(user, host, event)(body), { code: 0, out: `${empty}\n` })
      const { run, trace } = (await app.get(`/v1/drift/run?run_id=${host}:s`, headers)).body
      assert.deepEqual([run.ground, trace.length], [errand, 1])
    }
    const { runs } = (await app.get('/v1/drift/runs', headers)).body
    assert.equal(runs.length, installHosts.length)
    const stranger = await userOf(t).run('init', 'codex', '--key', 'x', '--server', app.url)
    assert.match(stranger.out, /answered, and took no event: .*key/)
  })

  test('lets the host go on whatever the server does, and asks a slow one once', async (t) => {
    verifies('hosts.shim')
    const [deaf, garbage, faulty] = await Promise.all([
      startReceiver(t, () => {}),
      startReceiver(t, (socket) => socket.end(answerOf('200 OK', '<html>hello</html>'))),
      startReceiver(t, (socket) => socket.end(answerOf('500 Oh', '{"error":"internal"}'))),
    ])
    const noise = createServer((socket) => socket.end('\0\u0001 no HTTP at all {}'))
    await new Promise<void>((done) => noise.listen(0, '127.0.0.1', done))
    t.after(() => noise.close())
    const { port } = noise.address() as { port: number }
    for (const [server, says] of [
      ['http://127.0.0.1:9', /did not answer \(curl says 7\)/],
      [`http://127.0.0.1:${garbage.port}`, /Probe: the server|answered/],
      [`http://127.0.0.1:${faulty.port}`, /answered with status 500/],
      [`http://127.0.0.1:${port}`, /did not answer/],
      [`http://127.0.0.1:${deaf.port}`, /did not answer \(not in time\)/],
    ] as const) {
      const user = userOf(t)
      const ran = await user.init('codex', '--server', server)
      assert.equal(ran.code, 0)
      assert.match(ran.out, says)
      const hook = hookOf(user, 'codex', 'UserPromptSubmit')
      assert.deepEqual(await hook({ prompt: 'x'.repeat(500_000) }), { code: 0, out: '{}\n' })
      const pause = user.inHome('.plumbline/pause')
      assert.equal(existsSync(pause), server.endsWith(`:${deaf.port}`))
      if (!existsSync(pause)) continue
      const { connections } = deaf
      assert.deepEqual(await hook({}), { code: 0, out: '{}\n' })
      assert.equal(deaf.connections, connections)
      // Another hook is just writing it, or something else is wrong with it.
      for (const content of ['', 'x', '08', '9'.repeat(30), '1)) || exit 2; ((']) {
        writeFileSync(pause, content)
        assert.deepEqual(await hook({}), { code: 0, out: '{}\n' }, content)
      }
      assert.ok(deaf.connections > connections)
    }
  })

  test('lets the host go on without curl and without its files', async (t) => {
    verifies('hosts.shim')
    const user = userOf(t)
    await user.init('codex')
    const tools = freshFolder(t)
    for (const name of ['cat', 'date']) {
      symlinkSync([`/bin/${name}`, `/usr/bin/${name}`].find(existsSync)!, join(tools, name))
    }
    symlinkSync('/bin/sh', join(tools, 'sh'))
    const shim = `"${user.home}/.plumbline/hook" cursor beforeSubmitPrompt`
    const went = { code: 0, out: '{"continue":true}\n' }
    assert.deepEqual(await runHook(shim, { prompt: 'x'.repeat(500_000) }, { PATH: tools }), went)
    rmSync(user.inHome('.plumbline/curl.conf'))
    rmSync(user.inHome('.plumbline/url'))
    assert.deepEqual(await runHook(shim, {}, { PATH: user.environment.PATH }), went)
  })
})

describe('the program that hosts run, where there is no curl', () => {
  test('asks by Node, and lets the host go on whatever the server does', async (t) => {
    verifies('hosts.shim.no-curl')
    const app = await start(t)
    const { headers, key } = await app.newAccount()
    const tools = freshFolder(t)
    for (const name of ['sh', 'cat', 'date']) {
      symlinkSync([`/bin/${name}`, `/usr/bin/${name}`].find(existsSync)!, join(tools, name))
    }
    const user = userOf(t, { PATH: tools }, [process.execPath])
    const hook = (body: object) =>
      runHook(`"${user.home}/.plumbline/hook" codex UserPromptSubmit`, body, {
        PATH: tools,
        NODE_OPTIONS: '--no-such-option',
      })
    const { out } = await user.run('init', 'codex', '--key', key, '--server', app.url)
    assert.match(out, /There is no curl here, so a Node program asks in its place/)
    assert.match(out, /Probe: the server at \S+ answered\.$/m)
    assert.ok(!user.read('.plumbline/ask').includes(key))
    const prompt = { session_id: 's', prompt: errand, hook_event_name: 'UserPromptSubmit' }
    assert.deepEqual(await hook(prompt), { code: 0, out: '{}\n' })
    const { run } = (await app.get('/v1/drift/run?run_id=codex:s', headers)).body
    assert.equal(run.ground, errand)
    const { findings } = JSON.parse((await user.run('doctor', '--hosts', '--json')).out)
    assert.match(findings[0].says, /by a Node program because there was no curl/)

    const deaf = await startReceiver(t, () => {})
    for (const [server, waits] of [
      [nobody, false],
      [`http://127.0.0.1:${deaf.port}`, true],
    ] as const) {
      await user.init('codex', '--server', server)
      assert.deepEqual(await hook(prompt), { code: 0, out: '{}\n' })
      assert.equal(existsSync(user.inHome('.plumbline/pause')), waits)
    }
    rmSync(user.inHome('.plumbline/ask'))
    const lacking = JSON.parse((await user.run('doctor', '--hosts', '--json')).out).findings[0]
    assert.match(lacking.says, /there is no curl/)
    await user.run('uninstall', 'codex')
    assert.deepEqual(user.all(), {})
  })
})

describe('plumbline doctor --hosts', () => {
  /** The findings by host, and the exit code. */
  async function examined(user: ReturnType<typeof userOf>) {
    const { code, out } = await user.run('doctor', '--hosts', '--json')
    const { findings } = JSON.parse(out) as {
      findings: { check: string; state: string; says: string }[]
    }
    return {
      code,
      ...Object.fromEntries(findings.map(({ check, state, says }) => [check, `${state}: ${says}`])),
    } as Record<string, string | number>
  }

  test('says of each host on the machine whether it reports, and when it last did', async (t) => {
    verifies('hosts.doctor', 'hosts.seen', 'hosts.silent')
    const app = await start(t)
    const { key } = await newCaller(app)
    const more = { PLUMBLINE_BASE_URL: app.url, PLUMBLINE_KEY: key }
    const user = userOf(t, more)
    mkdirSync(user.inHome('.gemini'))
    const bare = await examined(user)
    assert.equal(bare.code, 0)
    assert.match(
      String(bare.program),
      /^ok: nothing is set up yet \(.*\.plumbline\/hook is not there\); plumbline init says what to do$/,
    )
    assert.match(String(bare['gemini-cli']), /does not report: plumbline init gemini-cli lets it/)
    assert.equal(bare.codex, undefined)

    await user.run('init', 'gemini-cli')
    await user.run('init', 'opencode')
    assert.match(String((await examined(user))['gemini-cli']), /^ok: .*7 hooks in .*no event has/)
    const { command } = user.settings(files['gemini-cli']).hooks.BeforeAgent[0].hooks[0]
    const { environment } = user
    await runHook(command, { session_id: 's1', prompt: errand }, environment)
    await runHook(command, { session_id: 's1', hook_event_name: 'TeaBreak' }, environment)
    const found = await examined(user)
    assert.match(
      String(found['gemini-cli']),
      /^ok: .*last run gemini-cli:s1, last event \d+ min ago, no act seen yet; answers within [\d.]+ ms, 99 % within [\d.]+ ms, of 1; events that were not understood: TeaBreak \(1\)$/,
    )
    const read = { tool_name: 'read_file', tool_input: { path: 'a.js' }, tool_response: 'x' }
    await runHook(
      command.replace('BeforeAgent', 'AfterTool'),
      { session_id: 's1', ...read },
      environment,
    )
    await app.running.service.waitingActs.flush()
    app.advance(11 * 60_000)
    assert.match(
      String((await examined(user))['gemini-cli']),
      /ago, seen 1 of 1 acts to their end, silent since \d{4}-\d\d-\d\dT\d\d:\d\dZ;/,
    )
    for (let nth = 2; nth <= 14; nth++) {
      const more = { ...read, tool_input: { path: `src/${nth}.js` } }
      await runHook(
        command.replace('BeforeAgent', 'AfterTool'),
        { session_id: 's1', ...more },
        environment,
      )
    }
    await app.running.service.waitingActs.flush()
    assert.match(
      String((await examined(user))['gemini-cli']),
      /seen 14 of 14 acts to their end, the errand explains 0 % of 1\d acts;/,
    )
    assert.match(String(found.opencode), /^ok: .*plumbline\.js; no event has arrived yet$/)
    assert.match(
      String(found.server),
      /^ok: http\S+ answers in [\d.]+ ms \(slowest of 20: \S+ ms\); it is told words$/,
    )
    const lines = (await user.run('doctor', '--hosts')).out
    assert.match(lines, /^ok +program +\S+hook\nok +server +http/)
  })

  test('asks the server that hooks report to, and shows it no key of another one', async (t) => {
    verifies('hosts.doctor.server')
    const app = await start(t)
    const { key } = await newCaller(app)
    const user = userOf(t, { PLUMBLINE_KEY: key, PORT: '9' })
    mkdirSync(user.inHome('.gemini'))
    await user.run('init', 'gemini-cli', '--server', app.url)
    const { command } = user.settings(files['gemini-cli']).hooks.BeforeAgent[0].hooks[0]
    await runHook(command, { session_id: 's1', prompt: errand }, user.environment)
    assert.match(String((await examined(user))['gemini-cli']), /last run gemini-cli:s1, /)
    Object.assign(user.environment, { PLUMBLINE_BASE_URL: 'https://away.example' })
    assert.match(
      String((await examined(user))['gemini-cli']),
      /; PLUMBLINE_KEY is for https:\/\/away\.example, and hooks report to http:\/\/127/,
    )
  })

  test('says why a host does not report', async (t) => {
    verifies('hosts.doctor')
    const user = userOf(t)
    await user.init('claude-code')
    const name = files['claude-code']
    const good = user.settings(name)
    const says = async (settings: object) => {
      user.write(name, settings)
      const found = await examined(user)
      assert.equal(found.code, 1) // Nobody answers.
      return String(found['claude-code'])
    }
    assert.match(await says(good), /^ok: .*11 hooks in .*; set PLUMBLINE_KEY to see its last run$/)
    for (const [change, fault] of [
      [{ disableAllHooks: true }, /^fault: .*disableAllHooks is true/],
      [{ allowManagedHooksOnly: true }, /^fault: .*allowManagedHooksOnly is true/],
      [{ hooks: { ...good.hooks, Stop: [] } }, /^warning: .*lacks hooks for Stop;/],
      [
        { hooks: { ...good.hooks, Other: [{ hooks: [{ command: 'x', timeout: 5000 }] }] } },
        /^warning: .*another unit than the host's: Other 5000/,
      ],
    ] as const)
      assert.match(await says({ ...good, ...change }), fault)
    const command = '"/elsewhere/.plumbline/hook" claude-code Stop'
    const elsewhere = { hooks: { ...good.hooks, Stop: [{ hooks: [{ command }] }] } }
    assert.match(await says({ ...good, ...elsewhere }), /^warning: .*runs another program than/)
    const url = `${nobody}/v1/hooks/claude-code/Stop`
    const called = { hooks: { ...good.hooks, Stop: [{ hooks: [{ type: 'http', url }] }] } }
    const refusing = { ...good, ...called, allowedHttpHookUrls: ['https://example.com/*'] }
    assert.match(await says(refusing), /^fault: .*allowedHttpHookUrls does not name it/)
    const naming = { ...refusing, allowedHttpHookUrls: ['http://127.0.0.1:9/*'] }
    assert.match(await says(naming), /^ok: /)
    user.write(name, '// mine\n{}')
    assert.match(String((await examined(user))['claude-code']), /^fault: .*is not JSON/)
  })

  test('says how much of the last session was seen, and when its last event came', async (t) => {
    verifies('hosts.doctor.seen')
    const app = await start(t, { beginsNow: true })
    const { key, post } = await newCaller(app)
    const user = userOf(t, { PLUMBLINE_BASE_URL: app.url, PLUMBLINE_KEY: key })
    mkdirSync(user.inHome('.gemini'))
    await user.run('init', 'gemini-cli')
    const report = (event: string, body: object) =>
      post(`/v1/hooks/gemini-cli/${event}`, { session_id: 's1', ...body })
    await report('BeforeAgent', { prompt: errand })
    for (let nth = 1; nth <= 11; nth++) {
      await report('AfterTool', {
        tool_name: 'read_file',
        tool_input: { absolute_path: `/home/kim/shop/src/login-${nth}.js` },
        ...(nth > 2 ? { tool_response: { llmContent: `text ${nth}` } } : {}),
        timestamp: new Date(app.running.service.now() + nth).toISOString(),
      })
    }
    const [, acts = '', said = ''] =
      /seen (\d+ of \d+) acts to their end(.*)/.exec(
        String((await examined(user))['gemini-cli']),
      ) ?? []
    const { coverage } = (
      await app.get('/v1/drift/run?run_id=gemini-cli:s1', {
        authorization: `Bearer ${key}`,
      })
    ).body.run
    assert.equal(acts, `${Math.round(coverage.outcomes * coverage.acts)} of ${coverage.acts}`, said)
  })

  test('says what a policy of the machine does to the hooks of Claude Code', async (t) => {
    verifies('hosts.doctor.policy')
    const user = userOf(t)
    mkdirSync(user.inHome('.claude'))
    const says = async (files: Record<string, unknown>) => {
      rmSync(user.inHome('policy'), { recursive: true, force: true })
      for (const [name, content] of Object.entries(files)) user.write(`policy/${name}`, content)
      return String((await examined(user))['claude-code'])
    }
    const main = 'managed-settings.json'
    assert.match(
      await says({ [main]: { allowManagedHooksOnly: true } }),
      /^ok: .*does not report, and hooks of the user would not run by a policy of this machine, \S+managed-settings\.json: allowManagedHooksOnly is true/,
    )
    assert.match(
      (await user.init('claude-code')).out,
      /A policy of this machine lets no hook run: \S+: allowManagedHooksOnly/,
    )
    for (const [files, finding] of [
      [{}, /^ok: .*11 hooks in/],
      [{ [main]: { permissions: {} } }, /^ok: .*11 hooks in/],
      [
        { [main]: { allowManagedHooksOnly: true } },
        /^fault: .*runs no hooks by a policy of this machine, \S+: allowManagedHooksOnly/,
      ],
      [{ [main]: { disableAllHooks: true } }, /^fault: .*: disableAllHooks is true/],
      [
        {
          [main]: {},
          'managed-settings.d/20-hooks.json': { strictPluginOnlyCustomization: ['hooks'] },
        },
        /^fault: .*20-hooks\.json: strictPluginOnlyCustomization holds for hooks/,
      ],
      [{ [main]: { strictPluginOnlyCustomization: ['mcp'] } }, /^ok: .*11 hooks in/],
      [{ [main]: { strictPluginOnlyCustomization: true } }, /^fault: .*holds for hooks/],
      [
        { [main]: 'not JSON' },
        /^warning: .*11 hooks in .*managed-settings\.json, a policy of this machine, cannot be read/,
      ],
    ] as const)
      assert.match(await says(files), finding)
    // An administrator may have set the hooks of Plumbline there.
    const { hooks } = user.settings(files['claude-code'])
    const managed = { [main]: { allowManagedHooksOnly: true, hooks } }
    assert.match(await says(managed), /^ok: .*11 hooks in \S+managed-settings\.json, a policy/)
    const off = { [main]: { disableAllHooks: true, hooks } }
    assert.match(await says(off), /^fault: .*disableAllHooks is true/)

    Object.assign(user.environment, { PLUMBLINE_KEY: key })
    await user.init('claude-code')
    assert.match(
      await says({ [main]: { allowedHttpHookUrls: ['https://x.example/*'] } }),
      /^fault: .*allowedHttpHookUrls does not name it/,
    )
    assert.match(
      await says({ [main]: { httpHookAllowedEnvVars: ['OTHER'] } }),
      /^fault: .*sends no key with its hooks: httpHookAllowedEnvVars does not name PLUMBLINE_KEY/,
    )
    const settings = user.settings(files['claude-code'])
    user.write(files['claude-code'], { ...settings, httpHookAllowedEnvVars: ['PLUMBLINE_KEY'] })
    assert.match(await says({ [main]: { httpHookAllowedEnvVars: ['OTHER'] } }), /^ok: /)
  })

  test('says what is wrong with the program, the key and the server', async (t) => {
    verifies('hosts.doctor')
    const app = await start(t)
    const user = userOf(t)
    await user.init('codex', '--server', app.url)
    const first = await examined(user)
    assert.match(String(first.server), /^fault: http\S+ takes no event: /)
    assert.match(
      String(first.codex),
      /^warning: .*does not run any of them \(not trusted yet\): open \/hooks in Codex/,
    )
    const { hooks } = user.settings(files.codex)
    const trust = (event: string, hash: string, more = '') => {
      const place = `${user.inHome(files.codex)}:${trustLabel(event)}:0:0`
      return `[hooks.state.${JSON.stringify(place)}]\n${more}trusted_hash = "${hash}"\n`
    }
    const trusted = Object.entries<{ hooks: [object] }[]>(hooks).map(
      ([event, [group]]) =>
        [
          event,
          trustHash(trustLabel(event), undefined, group!.hooks[0] as Record<string, unknown>),
        ] as const,
    )
    const config = (entries: readonly string[]) =>
      user.write('.codex/config.toml', `[hooks.state]\n${entries.join('\n')}[tui]\n`)
    config(trusted.map(([event, hash]) => trust(event, hash)))
    assert.match(String((await examined(user)).codex), /^ok: .*8 hooks in/)
    config(
      trusted
        .slice(1)
        .map(([event, hash], nth) =>
          nth === 0
            ? trust(event, 'sha256:0')
            : trust(event, hash, nth === 1 ? 'enabled = false\n' : ''),
        ),
    )
    assert.match(
      String((await examined(user)).codex),
      /does not run SessionStart \(not trusted yet\), UserPromptSubmit \(changed since they were trusted\), PostToolUse \(switched off\): open \/hooks/,
    )
    chmodSync(user.inHome('.plumbline/curl.conf'), 0o644)
    assert.match(String((await examined(user)).program), /^warning: others .*chmod 600/)
    chmodSync(user.inHome('.plumbline/curl.conf'), 0o600)
    user.write('.plumbline/pause', '0')
    assert.match(String((await examined(user)).program), /^warning: a hook had no answer 0 s ago/)
    rmSync(user.inHome('.plumbline/hook'))
    assert.match(String((await examined(user)).program), /^fault: .*init HOST writes it again/)
  })
})
