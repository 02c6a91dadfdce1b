import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { alone, type Row } from './table.ts'

/** Builds the pages from a copy without any built ones, as `npm start` does on a fresh clone. */
export async function measureBuild(folder: string): Promise<Row> {
  const clone = join(folder, 'clone')
  copyClone(clone)
  process.stderr.write('web: building the pages\n')
  const started = performance.now()
  const child = spawn(process.execPath, ['bin/build-web.js'], {
    cwd: clone,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(child, 'exit')
  if (code !== 0 || !existsSync(join(clone, 'web/dist/app.html')))
    throw new Error('the pages were not built')
  const seconds = (performance.now() - started) / 1000
  return alone('web: npm start on a fresh clone, building the pages, s', seconds, '≤ 15')
}

/** Copies what `npm start` needs, without built pages, to a folder that is not there yet. */
export function copyClone(clone: string): void {
  const root = join(import.meta.dirname, '..')
  mkdirSync(clone)
  const parts = [
    'web',
    'src',
    'bin',
    'openapi.json',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'model',
    'docs',
    'README.md',
    'CHANGELOG.md',
    'test',
  ]
  for (const part of parts) {
    cpSync(join(root, part), join(clone, part), {
      recursive: true,
      filter: (path) => !/web\/dist/.test(path),
    })
  }
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
}
