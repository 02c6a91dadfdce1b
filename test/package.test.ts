import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { detectorNames } from '../src/core/detector/contract/detector.ts'
import { detect } from '../src/core/detector/detect.ts'
import { newMemory } from '../src/core/detector/memory.ts'
import { spawnProgram, untilListening } from './spawned.ts'
import { verifies } from './verifies.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'plumbline-package-'))
const installed = join(folder, 'node_modules/plumbline')
// The package's command starts with `env node`, so the Node of this test has to come first.
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
const inFolder = { cwd: folder, env }

before(async () => {
  const built = join(folder, 'built')
  await run('npm', ['run', '-s', 'build', '--', built], { env })
  const { stdout } = await run('npm', ['pack', built, '--pack-destination', folder], { env })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  await run('npm', ['install', '--no-audit', '--no-fund', stdout.trim()], inFolder)
})

after(() => rmSync(folder, { recursive: true }))

test('the lock file names every platform’s packages, so that `npm ci` works on each', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const missing = Object.values<{ optionalDependencies?: object }>(packages)
    .flatMap(({ optionalDependencies }) => Object.keys(optionalDependencies ?? {}))
    .filter((name) => !(`node_modules/${name}` in packages))
  assert.deepEqual(missing, [])
})

test('every dependency is imported by the source', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const source = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => extname(file) === '.ts')
    .map((file) => readFileSync(join('src', file), 'utf8'))
    .join('\n')
  const unused = Object.keys(dependencies).filter(
    (name) => !source.includes(`from '${name}'`) && !source.includes(`from '${name}/`),
  )
  assert.deepEqual(unused, [])
})

test('the packed package installs elsewhere and its command runs', async () => {
  verifies('command.published')
  const command = join(folder, 'node_modules/.bin/plumbline')
  const version = await run(command, ['--version'], inFolder)
  assert.equal(version.stdout.trim(), JSON.parse(readFileSync('package.json', 'utf8')).version)
  const drifting = await run(
    command,
    ['check', '--ground', 'refund order 17', '--goal', 'refund order 71', '--json'],
    inFolder,
  ).catch((error) => error)
  assert.equal(drifting.code, 1)
  assert.equal(JSON.parse(drifting.stdout).reason, 'goal-drift')
})

test('it holds the pages, built and compressed', () => {
  verifies('web.packed')
  for (const file of ['index.html', 'app.html', 'app.html.br', 'app.html.gz', 'llms.txt']) {
    assert.ok(existsSync(join(installed, 'web/dist', file)), file)
  }
})

test('started by npx it ends at a SIGTERM to npx', async (t) => {
  verifies('process.sigterm.npm', 'web.packed')
  const { HOME = '' } = process.env
  const options = {
    folder,
    env: { HOME, PATH: env.PATH, PORT: '0', DATABASE_URL: 'sqlite::memory:' },
  }
  const npx = await untilListening(
    spawnProgram(t, 'npx', ['--no-install', 'plumbline', 'serve'], options),
  )
  assert.match(await (await fetch(npx.url)).text(), /Is the agent still on its errand\?/)
  npx.child.kill('SIGTERM')
  // Closed when the last process that could write to it has ended.
  await npx.ended
  await assert.rejects(fetch(npx.url))
  assert.match(npx.written.err, /"reason":"npx has ended"|"reason":"SIGTERM"/)
})

test('its two modules import without the server’s dependencies', async () => {
  const script = `
    import { detect, newMemory } from 'plumbline/detector'
    import { createClient } from 'plumbline/client'
    const { verdict } = detect(newMemory('overlap'), { goal: 'a goal', progress: 'advancing', distance: 5 })
    console.log(verdict.reason, typeof createClient({ baseUrl: 'http://x' }).check)`
  writeFileSync(join(folder, 'use.mjs'), script)
  const { stdout } = await run(process.execPath, ['use.mjs'], inFolder)
  assert.equal(stdout.trim(), 'grounded function')
  for (const module of ['core/detector/public', 'surfaces/client/client']) {
    for (const file of reached(join(installed, 'src', `${module}.js`))) {
      // The examples in doc comments import the package itself.
      const code = readFileSync(file, 'utf8').replace(/^ *\/\*\*[\s\S]*?\*\//gm, '')
      const imported = [...code.matchAll(/from '([^']+)'/g)]
      assert.ok(
        imported.every(([, target = '']) => target.startsWith('.')),
        file,
      )
    }
  }
})

test('a strict TypeScript project compiles against its types', async () => {
  const source = `
    import { detect, newMemory, type Verdict } from 'plumbline/detector'
    import { type Client, createClient, isServiceError } from 'plumbline/client'
    const verdict: Verdict = detect(newMemory('overlap'), { goal: 'g', progress: 'advancing', distance: 5 }).verdict
    const client: Client = createClient({ baseUrl: 'http://127.0.0.1:1' })
    export async function ask(): Promise<boolean> {
      const answer = await client.check({ ground: verdict.goal, goal: 'h', distance: 3 })
      return answer.verdict.drifting
    }
    export async function loop(): Promise<string> {
      const run = client.run({ ground: verdict.goal })
      const next = await run.step({ goal: 'h', parentGoal: 'g' })
      for await (const { run_id } of client.runs()) return run_id
      return next?.why ?? run.stats.late.toFixed()
    }
    export const wordOf = (error: unknown) => (isServiceError(error) ? error.word : '')
    // @ts-expect-error a goal is a text
    export const wrong = () => client.check({ ground: 1, goal: 2 })`
  writeFileSync(join(folder, 'use.ts'), source)
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024', 'dom'],
    types: [],
    noEmit: true,
    skipLibCheck: true,
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['use.ts'] }),
  )
  const tsc = join(process.cwd(), 'node_modules/.bin/tsc')
  await run(tsc, ['-p', folder], { env }).catch((error) => assert.fail(error.stdout))
})

const browser = process.env.CHROMIUM ?? '/usr/bin/chromium'

const inBrowser = {
  skip: existsSync(browser) ? false : `there is no browser at ${browser}; CHROMIUM names another`,
}

/** A page of a server that holds the installed package, and answers all else by `answer`. */
async function openPage(t: TestContext, answer: (path: string) => string) {
  const server = createServer((request, response) => {
    const path = join(installed, request.url ?? '')
    const isModule = extname(path) === '.js' && existsSync(path)
    response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html')
    response.end(isModule ? readFileSync(path) : answer(request.url ?? ''))
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  const page = await chromium.launch({
    executablePath: browser,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
  t.after(() => page.close())
  const tab = await page.newPage()
  await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  return tab
}

test('the detector gives the same bytes in a browser', inBrowser, async (t) => {
  const goals = [
    'add rate limiting to the login endpoint',
    'write a token bucket for the login endpoint',
    '修复登录页面',
    'Kündigung prüfen und café menü ändern',
    'أَصْلِح تسجيل الدخول',
    'lone \uD800 surrogate',
  ]
  const steps = goals.map((goal, place) => ({ goal, progress: 'advancing', distance: 9 - place }))
  const tab = await openPage(t, () => '<!doctype html>')
  for (const name of detectorNames) {
    const there = await tab.evaluate(
      async ([given, chosen]) => {
        const { detect, newMemory } = await import('/src/core/detector/public.js' as string)
        let memory = newMemory(chosen)
        return given.map((step: unknown) => {
          const detected = detect(memory, step)
          memory = detected.memory
          return JSON.stringify(detected)
        })
      },
      [steps, name] as const,
    )
    let memory = newMemory(name)
    const here = steps.map((step) => {
      const detected = detect(memory, step)
      memory = detected.memory
      return JSON.stringify(detected)
    })
    assert.deepEqual(there, here)
  }
})

test('the client runs in a browser', inBrowser, async (t) => {
  const tab = await openPage(t, (path) =>
    path === '/v1/drift' ? '{"drifting":true,"revision":1}' : '<!doctype html>',
  )
  const [verdict, stats, isDone] = await tab.evaluate(async (baseUrl) => {
    const { createClient } = await import('/src/surfaces/client/client.js' as string)
    const client = createClient({ baseUrl, key: 'k' })
    const run = client.run({ ground: 'fix the login', budgetMs: 30_000 })
    return [await run.step({ goal: 'paint the shed' }), run.stats, await client.close()]
  }, new URL(tab.url()).origin)
  assert.equal(verdict.drifting, true)
  assert.deepEqual(stats, { sent: 1, late: 0, failed: 0, dropped: 0, waiting: 0 })
  assert.equal(isDone, true)
})

test('an older Node is told what to do', async () => {
  const older =
    'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.20.2"})'
  for (const command of ['bin/plumbline.js', join(installed, 'bin/plumbline.js')]) {
    const refused = await run(process.execPath, ['--import', older, command]).catch(
      (error) => error,
    )
    assert.equal(refused.code, 1)
    assert.match(
      refused.stderr,
      /^Plumbline needs Node 24\.15 or newer, and this is Node 20\.20\.2\./,
    )
  }
})

function reached(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g)) {
    reached(join(dirname(file), target), seen)
  }
  return seen
}
