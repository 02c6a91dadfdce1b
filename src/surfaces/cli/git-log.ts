import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Example } from '../../core/detector/meaning/adaptation-table.ts'
import { usageFault } from './usage-fault.ts'

/** The commits of a repository that are read. */
export interface GitLog {
  /** A folder in its working tree, or a bare repository. */
  folder: string
  /** The largest number of commits to read, newest first. */
  commits: number
  /** Only commits older than this date, in any form that git knows; null for all. */
  until: string | null
  /** Called with the number of commits so far. */
  progress(commits: number): void
}

const subject = '\u0001'
/**
 * A commit of more files says nothing of an errand: it is a move, a formatter run or a vendored library.
 */
export const mostFiles = 60
const longestSubject = 400
const limitMs = 120_000

/**
 * Reads the commits of a repository, newest first, as errands with the files that they changed. It leaves
 * out merges. It runs `git log`, which only reads, and ends it after two minutes.
 */
export async function* readCommits(log: GitLog): AsyncGenerator<Example> {
  const { folder, commits, until, progress } = log
  const git = spawn('git', argumentsFor(folder, commits, until), {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.timeout(limitMs),
  })
  let said = ''
  git.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, 2000)
  })
  const lines = createInterface({ input: git.stdout })
  const ended = new Promise<number | string | null>((resolve) => {
    git.on('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? error.message)
      // A program that did not start does not close its output.
      lines.close()
    })
    git.on('close', (code, signal) => resolve(code ?? signal))
  })
  let errand: string | null = null
  let parts: string[] = []
  let read = 0
  const finished = (): Example[] => {
    const isTold = errand !== null && parts.length > 0 && parts.length <= mostFiles
    return isTold ? [{ errand: errand ?? '', parts }] : []
  }
  try {
    for await (const line of lines) {
      if (line.startsWith(subject)) {
        yield* finished()
        errand = line.slice(subject.length, longestSubject)
        parts = []
        progress(++read)
      } else if (line !== '' && parts.length <= mostFiles) parts.push(line)
    }
    const end = await ended
    if (end !== 0) throw usageFault(faultOf(end, folder, said))
    yield* finished()
  } finally {
    git.kill()
  }
}

function argumentsFor(folder: string, commits: number, until: string | null): string[] {
  return [
    '-C',
    folder,
    '-c',
    'core.quotePath=off',
    '-c',
    'log.showSignature=false',
    '--no-pager',
    'log',
    '--no-merges',
    '--no-color',
    '--no-show-signature',
    '--name-only',
    `--max-count=${commits}`,
    ...(until === null ? [] : [`--until=${until}`]),
    '--format=%x01%s',
    '--',
  ]
}

function faultOf(end: number | string | null, folder: string, said: string): string {
  if (end === 'ENOENT') return 'git is not installed, or not on the PATH.'
  if (end === 'ABORT_ERR')
    return `git log did not end within ${limitMs / 1000} seconds; try --commits.`
  const reason = said.split('\n')[0]?.replace(/^fatal: /, '') ?? ''
  return `the history of ${folder} cannot be read: ${reason === '' ? `git ended with ${end}` : reason}`
}
