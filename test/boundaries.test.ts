import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

/** Folders from the top down: a folder may import itself and what stands below it. */
const layers = ['surfaces', 'operations', 'jobs', 'storage outbound encoder', 'core'].map((names) =>
  names.split(' '),
)
const root = 'src'
const files = globSync(`${root}/**/*.ts`)
const importing = /(?<=\sfrom |^import |import\()'([^'\n]+)'/gm

interface Import {
  file: string
  from: string
  target: string
}

const imports: Import[] = files.flatMap((file) =>
  [...withoutDocComments(readFileSync(file, 'utf8')).matchAll(importing)].map(
    ([, target = '']) => ({
      file,
      from: relative(root, file).split('/')[0] ?? '',
      target,
    }),
  ),
)

/** The examples in doc comments import the published package, and no file depends on them. */
function withoutDocComments(text: string): string {
  return text.replace(/^ *\/\*\*[\s\S]*?\*\//gm, '')
}

function depthOf(folder: string): number {
  return layers.findIndex((layer) => layer.includes(folder))
}

function folderOf({ file, target }: Import): string | null {
  if (!target.startsWith('.')) return null
  return relative(root, join(dirname(file), target)).split('/')[0] ?? null
}

function pointsUp(each: Import): boolean {
  const folder = folderOf(each)
  if (folder === null || folder === each.from || depthOf(each.from) < 0) return false
  return depthOf(folder) <= depthOf(each.from)
}

test('there are imports to look at', () => {
  assert.ok(imports.length > 80)
  assert.ok(pointsUp({ file: 'src/core/x.ts', from: 'core', target: '../storage/store.ts' }))
  assert.ok(pointsUp({ file: 'src/storage/x.ts', from: 'storage', target: '../outbound/mail.ts' }))
  assert.ok(pointsUp({ file: 'src/core/x.ts', from: 'core', target: '../config.ts' }))
  assert.ok(!pointsUp({ file: 'src/surfaces/x.ts', from: 'surfaces', target: '../core/text.ts' }))
})

test('imports point down', () => {
  assert.deepEqual(imports.filter(pointsUp), [])
})

/**
 * Folders inside a layer from the top down, as the layers themselves; '' is the layer's own files.
 * A new folder takes its place here.
 */
const rooms: Record<string, readonly string[]> = {
  surfaces: ['cli http', 'client mcp relay'],
  operations: ['tools', '', 'account hosts operating', 'steps', 'gate'],
  jobs: [''],
  outbound: [''],
  encoder: [''],
  storage: ['', 'runs', 'alerts', 'database'],
  core: [
    'accounts backtest corpus language telemetry transcripts',
    'evaluation',
    'runs',
    'alerts guidance hosts',
    'detector',
    'detector/meaning',
    'detector/exact detector/user',
    'acts',
    'detector/words',
    'detector/contract',
    '',
  ],
}

/** The layer of a file and its folder inside the layer. */
function roomOf(file: string): { layer: string; room: string } {
  const [layer = '', ...room] = dirname(relative(root, file)).split('/')
  return { layer, room: room.join('/') }
}

function floorOf({ layer, room }: { layer: string; room: string }): number {
  return rooms[layer]?.findIndex((floor) => floor.split(' ').includes(room)) ?? -1
}

test('inside a layer, folders import only those below them', () => {
  for (const file of files) {
    const from = roomOf(file)
    if (from.layer === '.') continue
    assert.ok(floorOf(from) >= 0, `${file} is in a folder that this test does not place`)
    for (const target of targetsOf(file)) {
      const to = roomOf(target)
      if (to.layer !== from.layer || to.room === from.room) continue
      assert.ok(floorOf(to) > floorOf(from), `${file} imports ${target}`)
    }
  }
})

/** The files that a file imports, types included. */
function targetsOf(file: string): string[] {
  return imports
    .filter((each) => each.file === file && each.target.startsWith('.'))
    .map(({ target }) => join(dirname(file), target))
}

test('no files import each other in a circle, types included', () => {
  assert.deepEqual(circleIn(new Map(files.map((file) => [file, targetsOf(file)]))), null)
  const circle = new Map([
    ['a', ['b']],
    ['b', ['c']],
    ['c', ['b']],
  ])
  assert.deepEqual(circleIn(circle), ['b', 'c', 'b'])
})

/** The first circle of a graph as the way round it, or null. */
function circleIn(graph: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>()
  function visit(node: string, way: readonly string[]): string[] | null {
    const before = way.indexOf(node)
    if (before >= 0) return [...way.slice(before), node]
    if (done.has(node)) return null
    for (const next of graph.get(node) ?? []) {
      const found = visit(next, [...way, node])
      if (found !== null) return found
    }
    done.add(node)
    return null
  }
  for (const node of graph.keys()) {
    const found = visit(node, [])
    if (found !== null) return found
  }
  return null
}

test('the pages talk to the server through the client, and know of it only what is pure', () => {
  const pages = globSync('web/{app,product,shared}/**/*.{ts,tsx}')
  assert.ok(pages.length > 40)
  const builtBy = ['web/product/page.ts', 'web/product/record.ts', 'web/shared/plumb-line.ts']
  const wrong = pages
    .filter((file) => !builtBy.includes(file))
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(importing)].map(([, target = '']) => ({
        file,
        target: target.startsWith('.') ? relative('.', join(dirname(file), target)) : target,
      })),
    )
    .filter(({ target }) => !/^(web|src\/core|src\/surfaces\/client)\//.test(target))
    // A page shows how another program imports the client.
    .filter(({ target }) => target !== 'plumbline/client')
    .filter(({ target }) => !/^(preact|@preact\/signals|uplot)(\/|$)/.test(target))
  assert.deepEqual(wrong, [])
})

test('core imports no package and no node module', () => {
  assert.deepEqual(
    imports.filter(({ from, target }) => from === 'core' && !target.startsWith('.')),
    [],
  )
})

test('only main and tests import the composition root', () => {
  const importers = imports.filter(({ target }) => target.endsWith('/service.ts'))
  assert.deepEqual(
    importers.map(({ file }) => file),
    ['src/main.ts'],
  )
})

test('time, chance and environment are values that the composition root hands down', () => {
  const world = /\b(Date\.now|new Date\(\)|Math\.random|process\.)/
  const allowed = ['src/main.ts', 'src/service.ts', 'src/config.ts']
  const offenders = files.filter(
    (file) => !allowed.includes(file) && world.test(withoutComments(readFileSync(file, 'utf8'))),
  )
  assert.deepEqual(offenders, [])
})

test('SQL stands in storage only', () => {
  const sql = /\b(SELECT .+ FROM|INSERT INTO|UPDATE .+ SET|DELETE FROM|CREATE TABLE)\b/
  const offenders = files.filter(
    (file) => !file.startsWith('src/storage/') && sql.test(readFileSync(file, 'utf8')),
  )
  assert.deepEqual(offenders, [])
})

test('imports are relative with .ts, and nothing re-exports but the published entries', () => {
  // Two megabytes of generated text are JavaScript, so that no types are looked for in them.
  const generated = './weights.js'
  const wrong = imports.filter(
    ({ target }) => target.startsWith('.') && !target.endsWith('.ts') && target !== generated,
  )
  assert.deepEqual(wrong, [])
  const reexporting = files.filter((file) => /^export .* from '/m.test(readFileSync(file, 'utf8')))
  assert.deepEqual(reexporting.sort(), [
    'src/core/detector/public.ts',
    'src/surfaces/client/client.ts',
  ])
})

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '')
}
