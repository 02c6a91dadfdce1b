// Drives real hosts against a Plumbline of this checkout, without a cloud and without a network:
//   npm run hosts [-- [--quick] HOST …]

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { programs } from './programs.ts'

const scenario = fileURLToPath(new URL('scenario.ts', import.meta.url))
const cache = process.env.HOSTS_CACHE ?? join(homedir(), '.cache/plumbline-hosts')
const { values, positionals } = parseArgs({
  // Runs each session with a broken server once, and compares no times at 15 %.
  options: { quick: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const names = positionals.length > 0 ? positionals : Object.keys(programs)
const unknown = names.filter((name) => programs[name] === undefined)
if (unknown.length > 0) {
  console.error(`There is no host ${unknown.join(', ')}; name ${Object.keys(programs).join(', ')}.`)
  process.exit(2)
}

if (spawnSync('unshare', ['-n', 'true']).status !== 0) {
  console.log(
    'SKIPPED: hosts run in a network namespace of their own, and this machine makes none (unshare -n).',
  )
  process.exit(0)
}
let failures = 0
for (const name of names) {
  const program = programs[name]
  if (program === undefined) continue
  const bin = installed(name, program.package, program.bin)
  if (bin === null) {
    console.log(`SKIPPED ${name}: ${program.package} could not be installed from the registry.`)
    continue
  }
  const { status } = spawnSync(
    'unshare',
    [
      '-n',
      'sh',
      '-c',
      'ip link set lo up && exec "$@"',
      'sh',
      process.execPath,
      scenario,
      name,
      bin,
      ...(values.quick ? ['quick'] : []),
    ],
    { stdio: 'inherit' },
  )
  if (status !== 0) failures++
}
process.exit(failures === 0 ? 0 : 1)

/** The program of a package in the cache folder; null if it cannot be had. */
function installed(name: string, wantedPackage: string, bin: string): string | null {
  const folder = join(cache, name, wantedPackage.split('@').at(-1) ?? '')
  const path = join(folder, 'node_modules/.bin', bin)
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{}')
  console.log(`installing ${wantedPackage}`)
  try {
    const args = ['install', '--no-audit', '--no-fund', '--no-save', wantedPackage]
    execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  } catch {
    return null
  }
  return existsSync(path) ? path : null
}
