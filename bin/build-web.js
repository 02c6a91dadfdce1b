// Builds the pages of web/ into web/dist, if they are missing or older than their sources, and says so.
// What is built is held as its bytes and their two compressed forms, so that the server only sends it.
import './require-node.js'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const web = join(root, 'web')
const built = join(web, 'dist')
/** The sources outside web/ that the pages are made of. */
const others = [
  'src/core',
  'src/surfaces/client',
  'openapi.json',
  'package-lock.json',
  'bin/build-web.js',
]
const compressible = /\.(html|css|js|svg|json|txt|md)$/

/** Builds the pages unless what is built came from the same sources. Returns whether it built them. */
export async function buildWeb({ say = (text) => process.stderr.write(text) } = {}) {
  const sources = hashOf(sourceFiles())
  if (builtFrom() === sources) return false
  say('Building the pages of web/ …\n')
  const { build } = await import('vite')
  const fresh = join(web, `dist-${process.pid}`)
  try {
    await build({
      root: web,
      configFile: join(web, 'vite.config.ts'),
      logLevel: 'warn',
      build: { outDir: fresh },
    })
    const { buildPages } = await import('../web/pages.ts')
    await buildPages(fresh)
    for (const file of filesIn(fresh).filter((each) => compressible.test(each))) compress(file)
    writeFileSync(join(fresh, 'built-from'), sources)
    rmSync(built, { recursive: true, force: true })
    renameSync(fresh, built)
  } catch (error) {
    // Another process that built the same may have been faster.
    if (builtFrom() !== sources) throw error
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return true
}

function builtFrom() {
  const mark = join(built, 'built-from')
  return existsSync(mark) ? readFileSync(mark, 'utf8') : null
}

function compress(file) {
  const bytes = readFileSync(file)
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }))
}

function sourceFiles() {
  const ours = filesIn(web).filter(
    (file) => !/^(dist|dist-\d+|node_modules)\//.test(relative(web, file)),
  )
  const theirs = others.flatMap((path) => {
    const full = join(root, path)
    if (!existsSync(full)) return []
    return /\.\w+$/.test(path) ? [full] : filesIn(full)
  })
  return [...ours, ...theirs].sort()
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

function hashOf(files) {
  const hash = createHash('sha256')
  for (const file of files)
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0')
  return hash.digest('hex')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(web, { recursive: true })
  await buildWeb().catch((error) => {
    process.stderr.write(
      `The pages of web/ could not be built: ${error.message}\nThe server runs without them.\n`,
    )
  })
}
