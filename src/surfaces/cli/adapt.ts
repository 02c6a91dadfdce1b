import { readFileSync, writeFileSync } from 'node:fs'
import type { Adaptation } from '../../core/detector/contract/adaptation.ts'
import {
  type AdaptationSource,
  buildTable,
  type Example,
  readTable,
} from '../../core/detector/meaning/adaptation-table.ts'
import type { Service } from '../../operations/gate/context.ts'
import { type CliWorld, type Command, exitCodes, parse } from './command.ts'
import { readCommits } from './git-log.ts'
import { succeededRuns } from './succeeded-runs.ts'
import { usageFault } from './usage-fault.ts'

const defaultFile = 'plumbline-adaptation.json'
const defaultCommits = 20_000
const mostCommits = 200_000
const fewestExamples = 20

/** Builds a table of the words of one's own work. */
export const adaptCommand: Command = {
  name: 'adapt',
  summary: 'teach the detector the words of your own work',
  usage: `plumbline adapt --git DIR [--until DATE] [--commits N] [--out FILE]
  plumbline adapt --history [--account ID] [--out FILE]`,
  details: `Counts the words that occur together in finished work, and writes a table of at most 200 kB. The
detector uses the table in addition to its own model, so that "open token_bucket.ts" can belong to
"rate limiting" because it did before. Nothing changes until you name a table:

  PLUMBLINE_ADAPTATION=FILE plumbline serve
  plumbline check --adaptation FILE --ground "…" --goal "…"
  plumbline eval DATA.jsonl --adaptation FILE

Every verdict that used the table names its version. The table moves a step's score by 1.5 at most.
It never overrules a name, an opposite or a planted instruction.

  --git DIR      the history of a repository: words of commit subjects with words of the paths they
                 changed. Runs git log, which reads only
  --until DATE   only commits older than DATE, so that you can measure the table on newer work
  --commits N    at most N of the newest commits (${defaultCommits.toLocaleString('en-US')})
  --history      the runs of an account with the outcome success, from the database that
                 DATABASE_URL names: their grounds with the goals that were on the errand
  --account ID   the account of the runs; you can leave it out if there is only one
  --out FILE     the file of the table (${defaultFile})

The file holds words of your work in plain text: keep it where you keep the work.`,
  run: adapt,
}

async function adapt(args: string[], world: CliWorld): Promise<number> {
  const { values, positionals } = parse(args, {
    git: { type: 'string' },
    until: { type: 'string' },
    commits: { type: 'string' },
    history: { type: 'boolean' },
    account: { type: 'string' },
    out: { type: 'string' },
  })
  if (positionals.length > 0) throw usageFault(`unexpected argument "${positionals[0]}".`)
  const { git, history, account, until, out = defaultFile } = values
  if ((git === undefined) === (history !== true)) {
    throw usageFault('name either --git DIR or --history.')
  }
  if (git === undefined && (until !== undefined || values.commits !== undefined)) {
    throw usageFault('--until and --commits go with --git.')
  }
  if (git !== undefined && account !== undefined) throw usageFault('--account goes with --history.')

  const from: AdaptationSource = git === undefined ? 'history' : 'git'
  const examples =
    git === undefined
      ? await world.withService((service) => examplesOfRuns(service, account))
      : await examplesOfCommits(
          String(git),
          readCount(values.commits),
          typeof until === 'string' ? until : null,
          world,
        )
  if (examples.length < fewestExamples) {
    throw usageFault(
      `there are ${examples.length} ${from === 'git' ? 'commits' : 'runs that succeeded'} to learn from; a table needs ${fewestExamples} or more.`,
    )
  }
  const text = buildTable(from, examples)
  if (text === null) throw usageFault('no two words occur together more than once.')
  writeFileSync(String(out), text)
  const { version } = readAdaptation(out).adaptation ?? {}
  world.out(`${out}: the table ${version}, from ${examples.length.toLocaleString('en-US')} ${
    from === 'git' ? 'commits' : 'runs'
  }, ${Math.ceil(text.length / 1000)} kB.

Use it in the server:  PLUMBLINE_ADAPTATION=${out} plumbline serve
`)
  return exitCodes.ok
}

function readCount(value: unknown): number {
  if (value === undefined) return defaultCommits
  const count = Number(value)
  if (Number.isSafeInteger(count) && count >= 1 && count <= mostCommits) return count
  throw usageFault(`--commits is "${value}"; send a number from 1 to ${mostCommits}.`)
}

async function examplesOfCommits(
  folder: string,
  commits: number,
  until: string | null,
  { err, isTerminal }: CliWorld,
): Promise<Example[]> {
  const every = isTerminal ? 500 : 5_000
  const show = (read: number) => `${read.toLocaleString('en-US')} commits read`
  let lastShown = 0
  const progress = (read: number) => {
    if (read % every !== 0) return
    lastShown = read
    err(isTerminal ? `\r${show(read)}\x1b[K` : `${show(read)}\n`)
  }
  try {
    const examples: Example[] = []
    for await (const commit of readCommits({ folder, commits, until, progress })) {
      examples.push(commit)
    }
    return examples
  } finally {
    if (isTerminal && lastShown > 0) err('\r\x1b[K')
  }
}

async function examplesOfRuns({ store, now }: Service, account: unknown): Promise<Example[]> {
  const known = await store.accounts.list(2, null)
  const [only, ...more] = known
  if (typeof account === 'string') {
    if ((await store.accounts.find(account)) === null) {
      throw usageFault(`there is no account "${account}"; see plumbline keys list.`)
    }
    return succeededRuns(store, account, now())
  }
  if (only === undefined) throw usageFault('the database has no account yet.')
  if (more.length > 0) {
    throw usageFault(
      'there are several accounts; name one with --account, from plumbline keys list.',
    )
  }
  return succeededRuns(store, only.id, now())
}

/** Reads the table that an option names, as a field to spread. Without the option there is no field. */
export function readAdaptation(file: unknown): { adaptation?: Adaptation } {
  if (typeof file !== 'string') return {}
  const table = readTable(readFileSync(file, 'utf8'))
  if ('fault' in table) {
    throw usageFault(`${file}: ${table.fault}; name a file that plumbline adapt has written.`)
  }
  return { adaptation: table }
}
