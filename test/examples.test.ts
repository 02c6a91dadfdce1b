import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { format, promisify } from 'node:util'
import {
  API,
  type Checker,
  type Symbol as Named,
  SignatureKind,
  SymbolFlags,
} from 'typescript/unstable/sync'
import { start } from './harness.ts'

const run = promisify(execFile)
const root = process.cwd()

/** The published entries and their sources, as `bin/build.js` publishes them. */
const entries = {
  'plumbline/detector': 'src/core/detector/public.ts',
  'plumbline/client': 'src/surfaces/client/client.ts',
}

/** A public name, or a member of a public type, with its doc comment. */
interface Documented {
  /** `plumbline/client: Client.run` */
  name: string
  /** True of functions, classes and methods. The mapped method of a route may go without an example. */
  needsExample: boolean
  described: boolean
  examples: readonly string[]
}

/** An example as it stands in a doc comment, without the fence. */
interface Example {
  name: string
  /** In the folder of the examples. */
  file: string
  source: string
}

const documented = readDocumented()
const examples = examplesOf(documented)
const folder = newFolder()
after(() => rmSync(folder, { recursive: true }))

test('everything public is described, and every public function, class and method has an example', () => {
  const names = (wanted: (each: Documented) => boolean) =>
    documented.filter(wanted).map(({ name }) => name)
  assert.deepEqual(
    names(({ described }) => !described),
    [],
  )
  assert.deepEqual(
    names(({ needsExample, examples }) => needsExample && examples.length === 0),
    [],
  )
  for (const name of ['detector: detect', 'client: createClient', 'client: RunHandle.step'])
    assert.ok(names(({ needsExample }) => needsExample).includes(`plumbline/${name}`), name)
})

test('every example compiles in a strict project, as it is written', async () => {
  const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8'))
  const options = { ...compilerOptions, typeRoots: [join(root, 'node_modules/@types')] }
  const files = examples.map(({ file }) => file)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }))
  const tsc = join(root, 'node_modules/.bin/tsc')
  await run(tsc, ['-p', folder]).catch((error) => assert.fail(error.stdout))
})

for (const { name, file, source } of examples) {
  test(`${name}: its example runs, and prints the stated values`, async (t) => {
    const stated = [...source.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text)
    const served = join(folder, `served-${file}`)
    const isClients = source.includes("'plumbline/client'")
    writeFileSync(served, isClients ? await servedBy(t, source) : source)
    const { mock } = t.mock.method(console, 'log', () => {})
    await import(pathToFileURL(served).href)
    assert.deepEqual(
      mock.calls.map((call) => format(...call.arguments)),
      stated,
    )
  })
}

/** An example that asks a service of its own, with the key of an account there. */
async function servedBy(t: TestContext, source: string): Promise<string> {
  const { url, newAccount } = await start(t, { env: { PLUMBLINE_DETECTOR: 'meaning' } })
  const { key } = await newAccount()
  process.env.PLUMBLINE_KEY = key
  return (
    source
      .replaceAll('http://127.0.0.1:8787', url)
      // However busy this machine is.
      .replaceAll('client.run({', 'client.run({ budgetMs: 30_000,')
  )
}

/** What the two entries export, read by the compiler, so that no way to export is missed. */
function readDocumented(): Documented[] {
  const compiler = new API({ cwd: root })
  try {
    const config = join(root, 'tsconfig.json')
    const project = compiler.updateSnapshot({ openProjects: [config] }).getProject(config)
    assert.ok(project !== undefined)
    const { checker, program } = project
    return Object.entries(entries).flatMap(([entry, file]) => {
      const module = program.getSourceFile(join(root, file))
      const symbol = module && checker.getSymbolAtLocation(module)
      assert.ok(symbol !== undefined, file)
      return checker
        .getExportsOfModule(symbol)
        .map((each) => (each.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each))
        .flatMap((each) => withMembers(checker, entry, each))
    })
  } finally {
    compiler.close()
  }
}

function withMembers(checker: Checker, entry: string, symbol: Named): Documented[] {
  const isType = (symbol.flags & (SymbolFlags.Interface | SymbolFlags.TypeAlias)) !== 0
  const members = isType
    ? checker
        .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
        .filter((member) => isOurs(member) && isCallable(checker, member))
    : []
  return [
    documentedOf(checker, `${entry}: ${symbol.name}`, symbol),
    ...members.map((each) => documentedOf(checker, `${entry}: ${symbol.name}.${each.name}`, each)),
  ]
}

/** Whether the source of this repository declares a member, and not the language, as of a text. */
function isOurs({ declarations }: Named): boolean {
  const source = join(root, 'src').toLowerCase()
  return declarations.some(({ path }) => path.toLowerCase().startsWith(source))
}

function isCallable(checker: Checker, member: Named): boolean {
  const type = checker.getTypeOfSymbol(member)
  return type !== undefined && checker.getSignaturesOfType(type, SignatureKind.Call).length > 0
}

function documentedOf(checker: Checker, name: string, symbol: Named): Documented {
  const kinds = SymbolFlags.Function | SymbolFlags.Class | SymbolFlags.Method
  return {
    name,
    needsExample: (symbol.flags & kinds) !== 0,
    described: checker.getDocumentationCommentOfSymbol(symbol) !== '',
    examples: checker
      .getJsDocTagsOfSymbol(symbol)
      .filter((tag) => tag.name === 'example')
      .map(({ text = '' }) => text),
  }
}

/** Each example once, though a type passes its methods on to another. */
function examplesOf(all: readonly Documented[]): Example[] {
  const bySource = new Map<string, string>()
  for (const { name, examples } of all) {
    for (const text of examples) {
      const [, source] = /^```ts\n(.*)\n```$/s.exec(text.trim()) ?? []
      assert.ok(source !== undefined, `${name}: an example is one block of ts`)
      if (!bySource.has(source)) bySource.set(source, name)
    }
  }
  return [...bySource].map(([source, name]) => ({
    name,
    file: `${name.replace('plumbline/', '').replace(': ', '-')}.ts`,
    source: `${source}\n`,
  }))
}

/** A folder in which the package's names lead to the sources, with a file for each example. */
function newFolder(): string {
  const made = mkdtempSync(join(tmpdir(), 'plumbline-examples-'))
  const installed = join(made, 'node_modules/plumbline')
  mkdirSync(installed, { recursive: true })
  symlinkSync(join(root, 'src'), join(installed, 'src'))
  const exports = Object.fromEntries(
    Object.entries(entries).map(([name, file]) => [name.replace('plumbline', '.'), `./${file}`]),
  )
  const manifest = { name: 'plumbline', type: 'module', exports }
  writeFileSync(join(installed, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(made, 'package.json'), '{ "type": "module" }')
  for (const { file, source } of examples) writeFileSync(join(made, file), source)
  return made
}
