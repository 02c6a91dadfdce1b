import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Program } from './programs.ts'
import { type Script, startStandIn } from './stand-in.ts'

const plumbline = fileURLToPath(new URL('../bin/plumbline.js', import.meta.url))
const promptLimitMs = 240_000

/** A person with a home, a project and a host. */
export interface Person {
  home: string
  project: string
}

/** How a session of two prompts went. */
export interface Session {
  codes: (number | null)[]
  results: string[]
  /** The names of the files of the project afterwards, in one text. */
  files: string
  ms: number
  printed: string[]
}

/** Makes a home and a small project with one failing test. `folder` holds both and is removed at the end of the process. */
export function newPerson(): Person {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-hosts-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const project = join(folder, 'shop')
  write(join(project, 'src/login.js'), 'export function login() {\n  return true\n}\n')
  write(
    join(project, 'test/login.test.js'),
    `import assert from 'node:assert'
import test from 'node:test'
import { login } from '../src/login.js'
test('login is limited', () => assert.equal(login(), 'limited'))
`,
  )
  write(join(project, 'package.json'), '{"name":"shop","type":"module"}\n')
  const home = join(folder, 'home')
  mkdirSync(home)
  return { home, project }
}

/** Another person with the same home and project. */
export function copyOf({ home, project }: Person): Person {
  const other = newPerson()
  cpSync(home, other.home, { recursive: true })
  cpSync(project, other.project, { recursive: true })
  return other
}

/** Gives a person the settings of a host. */
export function install({ home, project }: Person, program: Program, model: string): void {
  for (const [name, text] of Object.entries(program.files(project, model)))
    write(join(home, name), text)
}

/** The contents of all files of a folder, by their names. */
export function contentsOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  const files = names.filter(
    (name) => !name.includes('.git/') && statSync(join(folder, name)).isFile(),
  )
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

/** Runs a command of Plumbline as the person does. */
export async function runPlumbline({ home }: Person, ...args: string[]): Promise<string> {
  const { code, out, err } = await ran(process.execPath, [plumbline, ...args], home, { HOME: home })
  if (code !== 0) throw new Error(`plumbline ${args[0]}: ${err}`)
  return out
}

/** Lets the host work through prompts with a model that plays a script. */
export async function drive(
  { home, project }: Person,
  program: Program,
  bin: string,
  script: Script,
  prompts: readonly string[],
  env: Record<string, string> = {},
): Promise<Session> {
  const model = await startStandIn(script)
  // The settings name the model, whose port is another each time.
  const files = Object.entries(program.files(project, model.url)).filter(([, text]) =>
    text.includes(model.url),
  )
  for (const [name, text] of files) write(join(home, name), text)
  const began = performance.now()
  const codes: (number | null)[] = []
  const printed: string[] = []
  for (const [nth, prompt] of prompts.entries()) {
    const args = program.args(nth, prompt, printed[0] ?? '')
    const { code, out, err } = await ran(bin, args, project, {
      HOME: home,
      ...program.env(model.url),
      ...env,
    })
    codes.push(code)
    printed.push(code === 0 ? out : `${out}\n${err}`)
  }
  const ms = performance.now() - began
  await model.close()
  const results = printed.map((each, nth) =>
    codes[nth] === 0 ? program.result(each) : each.slice(-600),
  )
  return { codes, results, files: Object.keys(contentsOf(project)).join(' '), ms, printed }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

async function ran(
  file: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
) {
  const { PATH = '' } = process.env
  const child = spawn(file, args, {
    cwd,
    env: { PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const texts = { out: '', err: '' }
  child.stdout.on('data', (part) => {
    texts.out += part
  })
  child.stderr.on('data', (part) => {
    texts.err += part
  })
  const late = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), promptLimitMs)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(late)
  return { code, ...texts }
}
