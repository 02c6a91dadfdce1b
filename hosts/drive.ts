import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Program } from './programs.ts'
import { type Script, startStandIn } from './stand-in.ts'

const plumbline = fileURLToPath(new URL('../bin/plumbline.js', import.meta.url))
const promptLimitMs = 240_000

const folders: string[] = []
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A person with a home, a project and a host. */
export interface Person {
  /** Holds the other two, and nothing else. */
  folder: string
  home: string
  project: string
}

/** How a session of one or two prompts went. */
export interface Session {
  codes: (number | null)[]
  results: string[]
  /** The contents of the files of the project afterwards, in one text. */
  files: string
  /** How long the host ran for all prompts, in milliseconds. */
  ms: number
  /** When the host began with each prompt and when it ended, milliseconds since 1970. */
  times: { begun: number; ended: number }[]
  /** The tools that it offered to the model. */
  offered: ReadonlySet<string>
  /** Whether it handed over a prompt which says that a sub-agent has ended. */
  hasNews: boolean
}

/** What happens beside a session. */
export interface Beside {
  /** Is waited for when the model is asked for an answer with this mark. */
  onMark?(mark: string): Promise<void>
  /** Is waited for before the second prompt. */
  between?(): Promise<void>
}

/** Makes a home and a small project with one failing test. `folder` holds both and is removed at the end of the process. */
export function newPerson(): Person {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-hosts-'))
  folders.push(folder)
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
  return { folder, home, project }
}

/** Another person with the same home and project, whose hooks go to another address if there is one. */
export function copyOf(person: Person, address?: { from: string; to: string }): Person {
  const other = newPerson()
  for (const part of ['home', 'project'] as const) {
    cpSync(person[part], other[part], { recursive: true })
    for (const [path, { text }] of Object.entries(contentsOf(other[part]))) {
      if (text === null) continue
      const own = text.replaceAll(person.folder, other.folder)
      const placed = address === undefined ? own : own.replaceAll(address.from, address.to)
      if (placed !== text) writeFileSync(join(other[part], path), placed)
    }
  }
  return other
}

/** Gives a person the settings of a host. */
export function install({ home, project }: Person, program: Program, model: string): void {
  for (const [name, text] of Object.entries(program.files(project, model)))
    write(join(home, name), text)
}

/** What a place of a folder is: the text of a file, and the rights. */
interface Content {
  /** Null for a folder. */
  text: string | null
  mode: number
}

/** All files and folders of a folder, by their names. */
export function contentsOf(folder: string): Record<string, Content> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, name)
      const { mode } = lstatSync(path)
      return [name, { text: lstatSync(path).isFile() ? readFileSync(path, 'latin1') : null, mode }]
    }),
  )
}

/** The names of what is in only one of two contents, or differs. */
export function differences(
  before: Record<string, Content>,
  after: Record<string, Content>,
): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => {
    const [one, other] = [before[name], after[name]]
    return one?.text !== other?.text || one?.mode !== other?.mode
  })
}

/** Runs a command of Plumbline as the person does, in the project. */
export async function runPlumbline({ home, project }: Person, ...args: string[]): Promise<string> {
  const env = { HOME: home }
  const { code, out, err } = await ran(process.execPath, [plumbline, ...args], project, env)
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
  { onMark, between }: Beside = {},
): Promise<Session> {
  const model = await startStandIn(script, onMark)
  // The settings name the model, whose port is another each time.
  const files = Object.entries(program.files(project, model.url)).filter(([, text]) =>
    text.includes(model.url),
  )
  for (const [name, text] of files) write(join(home, name), text)
  const codes: (number | null)[] = []
  const printed: string[] = []
  const times: Session['times'] = []
  let ms = 0
  for (const [nth, prompt] of prompts.entries()) {
    if (nth > 0) await between?.()
    const args = program.args(nth, prompt, printed[0] ?? '')
    const began = performance.now()
    const begun = Date.now()
    const { code, out, err } = await ran(bin, args, project, {
      HOME: home,
      ...program.env(model.url),
    })
    ms += performance.now() - began
    times.push({ begun, ended: Date.now() })
    codes.push(code)
    printed.push(code === 0 ? out : `${out}\n${err}`)
  }
  await model.close()
  const results = printed.map((each, nth) =>
    codes[nth] === 0 ? program.result(each) : each.slice(-600),
  )
  const after = JSON.stringify(contentsOf(project)).replaceAll(project, '')
  return {
    codes,
    results,
    files: after,
    ms,
    times,
    offered: model.offered,
    hasNews: model.hasNews(),
  }
}

/**
 * Puts a clock around the program that the hooks of a person run. Returns a function that reads how long each of them took
 * so far, in milliseconds; null if the host's hooks run no program.
 */
export function withClock({ home }: Person): () => number[] | null {
  const hook = join(home, '.plumbline/hook')
  const times = join(home, '.plumbline/times')
  if (!existsSync(hook)) return () => null
  renameSync(hook, `${hook}.real`)
  writeFileSync(
    hook,
    `#!/bin/sh
b=$(date +%s%N); "$0.real" "$@"; c=$?
echo "$b $(date +%s%N)" >>"\${0%/*}/times"; exit $c
`,
    { mode: 0o755 },
  )
  return () => {
    if (!existsSync(times)) return null
    const lines = readFileSync(times, 'utf8').trim().split('\n')
    return lines.map((line) => {
      const [begun = 0, ended = 0] = line.split(' ').map(Number)
      return (ended - begun) / 1e6
    })
  }
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
  // A host that goes on after its time, or after ours, takes with it what it has started.
  const kill = () => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL')
    } catch {
      // Nothing of it is left.
    }
  }
  process.on('exit', kill)
  const late = setTimeout(kill, promptLimitMs)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(late)
  process.off('exit', kill)
  return { code, ...texts }
}
