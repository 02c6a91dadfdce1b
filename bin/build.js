// Builds the published package into dist/, or the folder named: compiled JavaScript and types, and a
// manifest of its own.
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { buildWeb } from './build-web.js'

const [folder = 'dist'] = process.argv.slice(2)
const root = JSON.parse(readFileSync('package.json', 'utf8'))

rmSync(folder, { recursive: true, force: true })
execFileSync('tsc', ['-p', 'tsconfig.build.json', '--outDir', folder], { stdio: 'inherit' })

const entry = (path) => ({ types: `./src/${path}.d.ts`, default: `./src/${path}.js` })
const manifest = {
  name: root.name,
  version: root.version,
  description: root.description,
  license: root.license,
  type: root.type,
  engines: root.engines,
  bin: root.bin,
  exports: {
    './detector': entry('core/detector/public'),
    './client': entry('surfaces/client/client'),
    './package.json': './package.json',
  },
  dependencies: root.dependencies,
}
writeFileSync(`${folder}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`)
for (const file of ['README.md', 'LICENSE', 'NOTICE.md', 'CHANGELOG.md'])
  copyFileSync(file, `${folder}/${file}`)

// What the compiler leaves behind: the forms of the encoder's kernel, its weights if they are there, and a plugin.
const weights = 'model/encoder/weights.bin'
const binaries = [
  'src/encoder/kernel.wasm',
  'src/encoder/kernel-plain.wasm',
  'src/encoder/kernel-linux-x64.node',
  'plugin/opencode/plumbline.js',
]
if (existsSync(weights)) binaries.push(weights)
for (const file of binaries) {
  mkdirSync(`${folder}/${dirname(file)}`, { recursive: true })
  copyFileSync(file, `${folder}/${file}`)
}

// The pages, built.
await buildWeb()
cpSync('web/dist', `${folder}/web/dist`, { recursive: true })
