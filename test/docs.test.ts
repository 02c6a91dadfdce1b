import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { start } from './harness.ts'

const run = promisify(execFile)
const documents = globSync([
  '*.md',
  'bench/**/*.md',
  'faults/**/*.md',
  'model/**/*.md',
  'docs/**/*.md',
])
const scripts = JSON.parse(readFileSync('package.json', 'utf8')).scripts
const address = 'http://127.0.0.1:8787'

function blocksOf(document: string, language: string): string[] {
  const text = readFileSync(document, 'utf8')
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)]
    .filter(([, named]) => named === language)
    .map(([, , block = '']) => block)
}

/** The commands of a document's shell blocks; a trailing backslash continues a line. */
function commandsOf(document: string): string[] {
  return blocksOf(document, 'sh')
    .flatMap((block) => block.replaceAll('\\\n', '').split('\n'))
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

for (const document of documents) {
  describe(document, () => {
    const text = readFileSync(document, 'utf8')
    const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^[a-z]+:/.test(link))
    const paths = [...text.matchAll(/`((?:src|test|bench|model|bin|web|docs)\/[\w./-]+)`/g)]

    test('every link and path in it exists', () => {
      for (const link of links) {
        assert.ok(existsSync(normalize(join(dirname(document), link))), link)
      }
      for (const [, path = ''] of paths) assert.ok(existsSync(path), path)
    })

    test('every npm script in it exists', () => {
      for (const [, name = ''] of text.matchAll(/npm run (?:-s )?([\w:-]+)/g)) {
        assert.ok(name in scripts, name)
      }
    })
  })
}

test('every picture stands in a document', () => {
  const texts = documents.map((document) => readFileSync(document, 'utf8'))
  for (const picture of globSync('docs/pictures/*')) {
    const name = picture.slice('docs/'.length)
    assert.ok(
      texts.some((text) => text.includes(name)),
      picture,
    )
  }
})

describe('README.md', () => {
  // Started, tested and measured by other tests and by CI, or needing a file of the reader's own.
  const runElsewhere = [
    'npm ci && npm start',
    'npm test',
    'npm run -s plumbline -- eval LABELLED.jsonl',
    'npm run bench',
    'npm run faults',
    'npm run hosts',
  ]
  const commands = commandsOf('README.md').filter((command) => !runElsewhere.includes(command))

  test('it begins with the two lines that start and test it', () => {
    assert.deepEqual(commandsOf('README.md').slice(0, 2), ['npm ci && npm start', 'npm test'])
    assert.ok(commands.length >= 3)
  })

  for (const command of commands) {
    test(command, async (t) => {
      const { url } = await start(t)
      // `check` exits with 1 when it finds a drift and with 3 when it cannot tell: answers as good as others.
      const { stdout } = await run('sh', ['-c', command.replaceAll(address, url)]).catch(
        (error) => {
          assert.ok([1, 3].includes(error.code), error.stderr)
          return error
        },
      )
      assert.match(stdout, /drift|errand/i)
    })
  }

  test('the verdict it shows is the answer to the request above it', async (t) => {
    const app = await start(t)
    const [request = ''] = blocksOf('README.md', 'sh').filter((block) =>
      block.includes('/v1/check'),
    )
    const sent = /-d '(.+)'/.exec(request)?.[1] ?? ''
    const { body } = await app.request('POST', '/v1/check', { body: sent })
    const [shown = ''] = blocksOf('README.md', 'json')
    const fields = JSON.parse(shown)
    assert.ok(Object.keys(fields).length > 4)
    for (const [name, value] of Object.entries(fields))
      assert.deepEqual(body.verdict[name], value, name)
  })

  test('what it shows of a step that only the user can judge is the answer to the command above it', async () => {
    const command = commands.find((each) => each.includes('voucher')) ?? ''
    const { stdout, code } = await run('sh', ['-c', command]).catch((error) => error)
    assert.equal(code, 3)
    assert.deepEqual(
      [stdout],
      blocksOf('README.md', 'text').map((text) => `${text.trimEnd()}\n`),
    )
  })

  test('its TypeScript runs and compiles', async (t) => {
    const { url, newAccount, get } = await start(t)
    const { key, headers } = await newAccount()
    const folder = mkdtempSync(join(tmpdir(), 'plumbline-readme-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const source = blocksOf('README.md', 'ts')
      .join('\n')
      .replaceAll(address, url)
      // However busy this machine is.
      .replaceAll('client.run({', 'client.run({ budgetMs: 30_000,')
      .replaceAll("'plumbline/detector'", `'${join(process.cwd(), 'src/core/detector/public.ts')}'`)
      .replaceAll("'plumbline/client'", `'${join(process.cwd(), 'src/surfaces/client/client.ts')}'`)
    const file = join(folder, 'readme.ts')
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(file, source)
    const env = { ...process.env, PLUMBLINE_KEY: key }
    const { stdout } = await run(process.execPath, [file], { env })
    assert.match(stdout, /^true (The wording is the ground's, but "add" .*)\n\1\n$/)
    const { body } = await get('/v1/drift/runs', headers)
    assert.deepEqual([body.runs[0].steps, body.runs[0].outcome], [2, 'success'])
    const base = JSON.parse(readFileSync('tsconfig.json', 'utf8'))
    const compilerOptions = {
      ...base.compilerOptions,
      rewriteRelativeImportExtensions: false,
      typeRoots: [join(process.cwd(), 'node_modules/@types')],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }))
    await run('node_modules/.bin/tsc', ['-p', folder]).catch((error) => assert.fail(error.stdout))
  })
})
