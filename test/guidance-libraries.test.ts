import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { type Framework, guidanceFor } from '../src/core/guidance/guidance.ts'
import type { RunHandle } from '../src/surfaces/client/run.ts'
import { converse as converseThroughMiddleware } from './frameworks/langchain.ts'
import { converse as converseThroughProcessor } from './frameworks/mastra.ts'
import { Agent } from './frameworks/openai-agents.ts'
import { type Say, scripted } from './frameworks/say.ts'
import { type App, start } from './harness.ts'
import { verifies } from './verifies.ts'

const run = promisify(execFile)
const here = import.meta.dirname

/** What the snippets import, and what stands for it: this client, and the libraries' own shapes. */
const modules: Record<string, string> = {
  'plumbline/client': join(here, '../src/surfaces/client/client.ts'),
  ai: join(here, 'frameworks/ai.ts'),
  '@openai/agents': join(here, 'frameworks/openai-agents.ts'),
  langchain: join(here, 'frameworks/langchain.ts'),
  '@mastra/core/processors': join(here, 'frameworks/mastra.ts'),
}
registerHooks({
  resolve: (specifier, context, next) => {
    const path = modules[specifier]
    return next(path === undefined ? specifier : pathToFileURL(path).href, context)
  },
})

const folder = mkdtempSync(join(tmpdir(), 'plumbline-guidance-'))
after(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')

const errand = 'add rate limiting to the login endpoint'
const lines = [
  'Writing the rate limit for the login endpoint.\nI begin with the bucket.',
  '',
  'Removing rate limiting from the login endpoint.',
  'Added rate limiting to the login endpoint.',
]

interface Snippet {
  // biome-ignore lint/suspicious/noExplicitAny: what a snippet exports is its own
  [name: string]: (...args: any[]) => any
}

let loaded = 0

/**
 * The snippet as a module that reports to the app, once some of its text was replaced, and what it does when the process
 * ends.
 */
async function load(
  app: App,
  framework: Framework,
  replaced: Record<string, string>,
): Promise<{ snippet: Snippet; close: (() => unknown) | undefined }> {
  const { key } = await app.newAccount()
  process.env.PLUMBLINE_KEY = key
  const source = Object.entries(replaced).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    guidanceFor(framework, app.url).snippet,
  )
  const file = join(folder, `run-${loaded++}.ts`)
  writeFileSync(file, source)
  const before = new Set(process.listeners('beforeExit'))
  const snippet = await import(pathToFileURL(file).href)
  const own = process.listeners('beforeExit').filter((each) => !before.has(each))
  for (const each of own) process.off('beforeExit', each)
  return { snippet, close: own[0] && (() => own[0]?.(0)) }
}

async function storedRun(app: App) {
  const headers = { authorization: `Bearer ${process.env.PLUMBLINE_KEY}` }
  const { body } = await app.get('/v1/drift/runs', headers)
  assert.equal(body.runs.length, 1)
  const { body: read } = await app.get(`/v1/drift/run?run_id=${body.runs[0].run_id}`, headers)
  return read
}

type Use = (snippet: Snippet, say: Say, words: string, before?: RunHandle) => Promise<RunHandle>

const recipes: Partial<Record<Framework, { outcome: string | null; use: Use }>> = {
  'vercel-ai-sdk': {
    outcome: 'success',
    use: async ({ work }, say, words, before) =>
      (await work?.(say, { look: {} }, words, before))?.run,
  },
  'openai-agents': {
    outcome: 'success',
    use: async ({ work }, say, words, before) =>
      (await work?.(new Agent({ name: 'worker', model: say }), words, before))?.run,
  },
  langgraph: {
    outcome: null,
    async use({ measured, hear }, say, words, before) {
      const run = await hear?.(words, before)
      await converseThroughMiddleware(measured?.(run), say)
      return run
    },
  },
  mastra: {
    outcome: null,
    async use({ measure, hear }, say, words, before) {
      const run = await hear?.(words, before)
      await converseThroughProcessor(measure?.(run), say)
      return run
    },
  },
}

for (const [name, { outcome, use }] of Object.entries(recipes)) {
  test(`the recipe for ${name} reports a run and tells the model of a drift`, async (t) => {
    verifies('guidance.read')
    const app = await start(t)
    const { say, instructed } = scripted(lines)
    const { snippet } = await load(app, name as Framework, {
      // However busy this machine is.
      'plumbline.run({': 'plumbline.run({ budgetMs: 30_000,',
    })
    const { runId } = await use(snippet, say, errand)
    const { run: stored, trace } = await storedRun(app)
    assert.equal(stored.run_id, runId)
    assert.deepEqual(
      trace.map(({ goal, drifting }: { goal: string; drifting: boolean }) => [goal, drifting]),
      [
        ['Writing the rate limit for the login endpoint.', false],
        ['Removing rate limiting from the login endpoint.', true],
        ['Added rate limiting to the login endpoint.', false],
      ],
    )
    assert.deepEqual([stored.ground, stored.tokens, stored.outcome], [errand, 40, outcome])
    const told = instructed.map((text) => text.includes(`"${errand}"`))
    assert.deepEqual(told, [false, false, false, true])
    assert.match(
      instructed[3] ?? '',
      /The last step: "Removing rate limiting from the login endpoint\."\. .+ but "add" /,
    )
    assert.ok(instructed.every((text) => text.includes('say in one line')))
  })

  test(`with the recipe for ${name} an agent goes on without the server`, async (t) => {
    const app = await start(t)
    const { snippet } = await load(app, name as Framework, {})
    await app.running.stop()
    const { say, instructed } = scripted(lines)
    await use(snippet, say, errand)
    assert.equal(instructed.length, lines.length)
  })

  test(`the recipe for ${name} hands over what the user says next, and closes the client`, async (t) => {
    verifies('guidance.conversation')
    const app = await start(t)
    const { snippet, close } = await load(app, name as Framework, {
      'plumbline.run({': 'plumbline.run({ budgetMs: 30_000,',
    })
    const next = 'also write a page about our prices'
    const run = await use(snippet, scripted(['Writing the rate limit.']).say, errand)
    await use(snippet, scripted(['Writing the page about our prices.']).say, next, run)
    const { run: stored, trace } = await storedRun(app)
    assert.equal(stored.revision, 2)
    assert.deepEqual(
      trace.flatMap(({ goal, revision }: { goal: string; revision: number }) =>
        goal === next ? revision : [],
      ),
      [2],
    )
    await close?.()
    assert.equal(await run.step({ goal: 'after the end' }), null)
  })
}

test('the TypeScript of the recipes compiles against the client and the libraries’ shapes', async () => {
  verifies('guidance.read')
  const files = Object.keys(recipes).map((name) => {
    const file = join(folder, `${name}.ts`)
    writeFileSync(file, guidanceFor(name as Framework, 'http://127.0.0.1:8787').snippet)
    return file
  })
  const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8'))
  const paths = Object.fromEntries(Object.entries(modules).map(([name, path]) => [name, [path]]))
  const options = {
    ...compilerOptions,
    rewriteRelativeImportExtensions: false,
    typeRoots: [join(process.cwd(), 'node_modules/@types')],
    paths,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }))
  await run('node_modules/.bin/tsc', ['-p', folder]).catch((error) => assert.fail(error.stdout))
})
