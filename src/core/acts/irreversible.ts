import { type IrreversibleKind, irreversibleKindOf } from './commands.ts'
import { isDisk } from './disks.ts'
import { programOf, readInvocation, wrappedBy } from './invocation.ts'
import { type Call, type CommandLine, readCommandLine } from './shell.ts'
import { clientKindOf, sqlKindOf } from './sql.ts'

/** Greatest nesting depth of commands that is read. */
const maxDepth = 8

/** Most wrappers before the program, as in `sudo nice env rm`. */
const maxWrappers = 16

/**
 * Most characters parsed for one command, over all nested texts. Each text is parsed once, so only
 * commands that repeat themselves inside each other reach the limit.
 */
const maxTaken = 65_536

/** The state while one command is read. */
interface Reading {
  /** Every text without a finding, with the least depth at which it was read. */
  texts: Map<string, { line: CommandLine; depth: number }>
  /** The programs of each text. */
  programs: Map<string, string[]>
  /** Characters that may still be parsed. */
  left: number
}

/**
 * The kind of the first irreversible command in a command line, or null. Nested commands count: behind
 * `sudo` and other wrappers, in `bash -c`, on another host, in substitutions, piped to a shell, in code
 * for an interpreter. Commands that are only mentioned do not count: in a message, a search or a comment.
 * Variables and aliases are not expanded. A command that is nested too deeply or repeats itself too often
 * is `unreadable`. The time is linear in the length.
 */
export function irreversibleIn(command: string): IrreversibleKind | null {
  return kindIn(command, 0, { texts: new Map(), programs: new Map(), left: maxTaken })
}

function kindIn(text: string, depth: number, reading: Reading): IrreversibleKind | null {
  const before = reading.texts.get(text)
  // A reading at a lesser depth went further than this one would.
  if (before !== undefined && before.depth <= depth) return null
  reading.left -= text.length + 1
  if (depth > maxDepth || reading.left < 0) return 'unreadable'
  const line = before?.line ?? readCommandLine(text)
  // Record it before reading, because the first finding ends the reading.
  reading.texts.set(text, { line, depth })
  return (
    firstOf(line.pipelines, (pipeline) => kindOfPipeline(pipeline, depth, reading)) ??
    firstOf(line.substitutions, (inner) => kindIn(inner, depth + 1, reading))
  )
}

function kindOfPipeline(
  pipeline: readonly Call[],
  depth: number,
  reading: Reading,
): IrreversibleKind | null {
  // The text printed so far that no shell or database client has read.
  let forShells: string[] = []
  let forClients: string[] = []
  for (const call of pipeline) {
    const found = kindOfCall(call, depth, reading)
    if (found !== null) return found
    const readers = programsOf(call.words, reading)
    if (readers.some(isShell)) {
      const fed = [...call.inputs, ...forShells]
      const kind = firstOf(fed, (input) => kindIn(input, depth + 1, reading))
      if (kind !== null) return kind
      forShells = []
    } else if (readers.some(isClient)) {
      const kind = firstOf([...call.inputs, ...forClients], clientKindOf)
      if (kind !== null) return kind
      forClients = []
    }
    const printed = printedBy(call)
    forShells.push(...printed)
    forClients.push(...printed)
  }
  return null
}

/**
 * The programs that a call runs: its own, or those of its nested command lines, which were read for the
 * kind of the call before.
 */
function programsOf(words: readonly string[], reading: Reading): string[] {
  const run = unwrapped(words)
  if (run.kind === 'unreadable') return []
  if (run.kind === 'call') return [programOf(run.words[0] ?? '')]
  const programs: string[] = []
  for (const text of run.texts) {
    let inside = reading.programs.get(text)
    if (inside === undefined) {
      const calls = reading.texts.get(text)?.line.pipelines.flat() ?? []
      inside = [...new Set(calls.flatMap((call) => programsOf(call.words, reading)))]
      reading.programs.set(text, inside)
    }
    programs.push(...inside)
  }
  return programs
}

function kindOfCall(call: Call, depth: number, reading: Reading): IrreversibleKind | null {
  if (call.writes.some(isDisk)) return 'disk-format'
  const run = unwrapped(call.words)
  if (run.kind === 'unreadable') return 'unreadable'
  if (run.kind === 'texts') return firstOf(run.texts, (text) => kindIn(text, depth + 1, reading))
  if (run.words.length === 0) return null
  const invocation = readInvocation(run.words)
  const kind = irreversibleKindOf(invocation)
  if (kind !== null) return kind
  const { program, args } = invocation
  if (isClient(program))
    return firstOf([...args, args.join(' ')], (arg) => clientKindOf(saidBy(arg)))
  if (speaksOnly.test(program)) return null
  const code = interpreters.test(program) ? [...codeIn(args), ...call.inputs] : []
  return (
    sqlKindOf(run.words.join(' ')) ??
    firstOf(args, (arg) => sqlKindOf(saidBy(arg))) ??
    firstOf(code, (text) => kindInCode(text, depth, reading))
  )
}

/** Programs that only print, search for or store their arguments. */
const speaksOnly =
  /^(echo|printf|print|cat|grep|egrep|fgrep|rg|ag|ack|git|gh|glab|less|more|head|tail|man|which|type|test|\[|\[\[|ls|jq|true|false|:|diff|wc|touch|mkdir|read|export|set|alias|curl|wget)$/

const interpreters =
  /^(python|python\d(\.\d+)?|node|nodejs|ruby|perl|php|deno|bun|osascript|awk|gawk)$/

function isShell(program: string): boolean {
  return /^(ba|z|k|da|a|fi|c|tc)?sh$|^(powershell|pwsh|cmd)$/.test(program)
}

function isClient(program: string): boolean {
  return /^(psql|pgcli|mysql|mariadb|mycli|sqlite3|sqlcmd|sqlplus|duckdb|clickhouse|clickhouse-client|bq|cqlsh|mongo|mongosh|cockroach|snowsql|trino|spark-sql|beeline|hive|isql|db2|turso|usql|litecli)$/.test(
    program,
  )
}

/** The value of an option argument: `--command=…`, `-c…`. */
function saidBy(arg: string): string {
  return arg.replace(/^--?[\w-]+=|^-[a-zA-Z](?=[^-\s])/, '')
}

/** The output of a pipeline call, if it is literal in the line. */
function printedBy({ words, inputs }: Call): string[] {
  const [program = '', ...args] = words
  const prints = /^(echo|printf|print)$/.test(programOf(program))
  return [...inputs, ...(prints ? [args.filter((arg) => !/^-[neE]+$/.test(arg)).join(' ')] : [])]
}

function codeIn(args: readonly string[]): string[] {
  return args.filter((_, place) =>
    /^-[a-z]*[cer]$|^--?(eval|print|command)$|^eval$/i.test(args[place - 1] ?? ''),
  )
}

/** Code of another language: commands for a shell or a database are in its strings. */
function kindInCode(code: string, depth: number, reading: Reading): IrreversibleKind | null {
  if (/\brmtree\s*\(|\brm_rf\b/.test(code) || code.split(')').some(removesFolder)) {
    return 'recursive-force-delete'
  }
  const texts = code.matchAll(/"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g)
  return firstOf(texts, ([, double, single, back]) =>
    kindIn(double ?? single ?? back ?? '', depth + 1, reading),
  )
}

/** Whether code, cut before its closing parenthesis, calls Node's `rm` or `rmSync` for a whole folder. */
function removesFolder(code: string): boolean {
  const call = /\brm(Sync)?\s*\(/.exec(code)
  return call !== null && code.includes('recursive', call.index)
}

/** A call without wrappers: a program with arguments, or texts that are command lines. */
type Unwrapped =
  | { kind: 'call'; words: string[] }
  | { kind: 'texts'; texts: Iterable<string> }
  | { kind: 'unreadable' }

const assignment = /^[A-Za-z_]\w*\+?=/

const keywords = /^(if|then|elif|else|while|until|do|!|\{|builtin|coproc)$/
const wrappers =
  /^(sudo|doas|gsudo|env|nohup|nice|ionice|timeout|xargs|stdbuf|strace|setsid|caffeinate|flock|exec|command|unbuffer|busybox|chroot|npx|bunx|pnpx|uvx|dotenv|direnv|time|chronic|systemd-run)$/
/** Wrapper programs, and the number of their own words before the wrapped program. */
const launchers: readonly { words: RegExp; skip: number }[] = [
  { words: /^(npm|pnpm|yarn|bun) (exec|dlx|x)( |$)/, skip: 2 },
  { words: /^(poetry|uv|pdm|pipx|hatch|rye|pipenv|conda) run( |$)/, skip: 2 },
  { words: /^bundle exec( |$)/, skip: 2 },
  { words: /^(uv|hatch) tool run( |$)/, skip: 3 },
  { words: /^(python|python3|py) -m( |$)/, skip: 2 },
  { words: /^(php|python|python3|ruby|node) \S*(artisan|setup\.py|manage\.py)( |$)/, skip: 1 },
]

function unwrapped(given: readonly string[]): Unwrapped {
  let words = [...given]
  for (let turn = 0; turn <= maxWrappers; turn++) {
    words = words.slice(countLeading(words, (word) => assignment.test(word) || keywords.test(word)))
    const [first = ''] = words
    const program = programOf(first)
    const texts = textsOf(program, words)
    if (texts !== null) return { kind: 'texts', texts }
    const start = [program, ...words.slice(1, 4)].join(' ')
    const launcher = launchers.find(({ words: match }) => match.test(start))
    if (first === 'function') words = words.slice(2)
    else if (wrappers.test(program)) words = insideOf(program, words)
    else if (launcher !== undefined) words = words.slice(launcher.skip)
    else if (/^(docker|podman|nerdctl|docker-compose|kubectl|oc)$/.test(program)) {
      const inside = insideContainer(program, words)
      if (inside === null) return { kind: 'call', words }
      words = inside
    } else return { kind: 'call', words }
  }
  return { kind: 'unreadable' }
}

/** Counts the leading words that match. */
function countLeading(words: readonly string[], isOfKind: (word: string) => boolean): number {
  const count = words.findIndex((word) => !isOfKind(word))
  return count < 0 ? words.length : count
}

/** The command of a wrapper: it begins after options, assignments and the wrapper's own arguments. */
function insideOf(program: string, words: readonly string[]): string[] {
  const wrapped = wrappedBy(words)
  const inside = wrapped.slice(countLeading(wrapped, (word) => /^\w+=/.test(word)))
  // These take one argument before the command.
  return /^(timeout|flock|chroot)$/.test(program) ? inside.slice(1) : inside
}

function insideContainer(program: string, words: readonly string[]): string[] | null {
  const inside = wrappedBy(words)
  if (/^(kubectl|oc)$/.test(program)) {
    const end = inside.indexOf('--')
    return inside[0] === 'exec' && end > 0 ? inside.slice(end + 1) : null
  }
  const [verb = ''] =
    inside[0] === 'compose' || inside[0] === 'container' ? inside.slice(1) : inside
  if (verb !== 'exec' && verb !== 'run') return null
  const rest = wrappedBy(inside.slice(inside.indexOf(verb)), `docker ${verb}`)
  // The container or image comes before the command.
  return rest.length > 1 ? rest.slice(1) : null
}

/** The command lines for a shell, another host or a search, or null for any other program. */
function textsOf(program: string, words: readonly string[]): Iterable<string> | null {
  const args = words.slice(1)
  if (program === 'eval') return [args.join(' ')]
  if (program === 'trap') return args.slice(0, 1)
  if (program === 'watch' || program === 'parallel') return [wrappedBy(words).join(' ')]
  if (program === 'heroku' && args[0] === 'run') return [wrappedBy(args).join(' ')]
  const split = args.findIndex((arg) => /^(-S|--split-string)$/.test(arg))
  if (program === 'env' && split >= 0) return [args.slice(split + 1).join(' ')]
  if (program === 'ssh') {
    const [, ...command] = wrappedBy(words)
    return command.length === 0 ? null : [command.join(' ')]
  }
  if (program === 'find') {
    const runs = args.flatMap((arg, place) =>
      /^-(exec|execdir|ok|okdir)$/.test(arg) ? [place + 1] : [],
    )
    return runs.length === 0 ? null : textsOfSearch(args, runs)
  }
  if (!isShell(program) && program !== 'su' && program !== 'runuser') return null
  const place = args.findIndex((arg) =>
    /^-[a-z]*c$|^-(command|encodedcommand)$|^\/[ck]$/i.test(arg),
  )
  if (place < 0) return null
  const given = args.slice(place + 1)
  return [/^(powershell|pwsh|cmd)$/.test(program) ? given.join(' ') : (given[0] ?? '')]
}

/**
 * The commands that a search runs for each match, yielded one by one because each may extend to the end of
 * the line.
 */
function* textsOfSearch(args: readonly string[], runs: readonly number[]): Iterable<string> {
  for (const from of runs) {
    const to = args.findIndex((arg, place) => place >= from && (arg === ';' || arg === '+'))
    const run = args.slice(from, to < 0 ? undefined : to)
    // Every match is deleted, so `rm -f` is as bad as `rm -rf`.
    yield (run[0] === 'rm' ? ['rm', '-rf', ...run.slice(1)] : run).map(quoted).join(' ')
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

function firstOf<Item>(
  items: Iterable<Item>,
  kindOf: (item: Item) => IrreversibleKind | null,
): IrreversibleKind | null {
  for (const item of items) {
    const kind = kindOf(item)
    if (kind !== null) return kind
  }
  return null
}
