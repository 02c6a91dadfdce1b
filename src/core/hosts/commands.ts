import { placeOf } from './paths.ts'

const mostWords = 24
const longestWord = 60
const longestLine = 8000

/** Programs and scripts that test, check or build. */
const verifies =
  /^(?:(?:\S*[:._-])?(?:tests?|checks?|lint|build|typecheck|spec)(?:[:._-]\S*)?|tsc|pytest|jest|vitest|mocha|ava|rspec|phpunit|tox|ctest|gradlew?|mvnw?|make|eslint|biome|ruff|mypy|clippy)$/i
/** Programs whose subcommand says what they do. */
const runners =
  /^(?:npm|npx|pnpm|yarn|bun|deno|cargo|go|dotnet|mix|bundle|poetry|uv|python3?|node|rake|sbt|swift|zig|just|task|run|exec|-m)$/i
const searches = /^(?:grep|rg|ag|ack|find|fd|locate|which)$/
const reads = /^(?:cat|head|tail|less|more|ls|tree|stat|file|wc|nl|bat)$/
const waits = /^(?:sleep|wait|watch)$/
const fetches = /^(?:curl|wget|http|https|lynx)$/
/** What they are given is the content of what they write. */
const prints = /^(?:echo|printf)$/
const shells = /^(?:\S*\/)?(?:ba|da|k|z)?sh$/
/** Words that stand before the program. */
const before =
  /^(?:sudo|env|time|timeout|\d+[smh]?|nohup|nice|exec|command|then|do|if|!|\w+=[\s\S]*)$/
const spelledSecret =
  /\b(?:(?:sk|pk|gh[a-z]|xox[a-z])[-_]|AKIA|eyJ)[-_A-Za-z0-9]{8,}|(?=[A-Za-z+/]*\d)(?=[a-z\d+/]*[A-Z])[A-Za-z\d+/]{40,}={0,2}/g
/** In a command a long word with a digit is taken for a secret too; in prose it may be an order or a branch. */
const secret = new RegExp(
  `${spelledSecret.source}|(?=[A-Za-z+_-]*\\d)[A-Za-z\\d+_-]{24,}={0,2}`,
  'g',
)
const secretFlag =
  /^(?:-[Hup]|--?(?:\w+-)*(?:token|key|pass|secret|credential|header|user|auth|bearer|cookie|data|message|body)\w*)$/i
/** Words outside a flag after which a secret stands. */
const secretWord =
  /^(?:bearer|basic)$|(?:token|key|password|secret|authorization)["']?:$|_(?:token|key|password|secret)$/i
/** A word with what it quotes, or what parts two commands. */
const token = /(?:"(?:\\[\s\S]|[^"\\])*"|'[^']*'|\\[\s\S]|[<>]&|&>|[^\s;|&])+|\|\||&&|[;|&\n]/g
/** The lines that a command is given as its input; the third group is the rest of its own line. */
const hereDocument = /<<-?\s*(["']?)(\w+)\1([^\n]*)\n[\s\S]*?(?:\n[ \t]*\2(?=\s|$)|$)/g

/** What a command line does, and the words of it that may be kept. */
export interface Command {
  family: 'read' | 'search' | 'run' | 'verify' | 'web' | 'wait'
  /**
   * Programs, subcommands, names of flags and relative paths. Assignments, quoted values of flags, those of flags that
   * name a secret, what is printed and what looks like a secret become `…`; queries of addresses and the lines of an
   * input are left out.
   */
  words: string
}

/** Reads a command line. It is no shell: what it cannot tell stays a run. */
export function readCommand(line: string, root: string): Command {
  const parts = partsOf(line.slice(0, longestLine))
  const words = parts.flatMap((part) => keptWords(part, root))
  return { family: familyOf(parts), words: words.slice(0, mostWords).join(' ') }
}

/** The commands of a line, each as its words; of a shell only what it is given to run. */
function partsOf(line: string): string[][] {
  const parts: string[][] = [[]]
  const bare = line.replace(hereDocument, '$3\n').replaceAll('\\\n', ' ')
  for (const [word] of bare.matchAll(token)) {
    if (/^(?:\|\||&&|[;|&\n])$/.test(word)) parts.push([])
    else parts.at(-1)?.push(word)
  }
  return parts.flatMap((part) => {
    const at = part.findIndex((word) => /^-[a-z]*c$/.test(word))
    const script = part[at + 1]
    const isShell = at > 0 && shells.test(part[at - 1] ?? '') && script !== undefined
    return isShell ? partsOf(unquoted(script)) : [part]
  })
}

function unquoted(word: string): string {
  const bare = /^(["'])([\s\S]*)\1$/.exec(word)?.[2] ?? word
  return word.startsWith('"') ? bare.replace(/\\(["\\$`])/g, '$1') : bare
}

function familyOf(parts: readonly string[][]): Command['family'] {
  const calls = parts.map(callOf)
  const programs = calls.map(programOf)
  if (calls.some((call, at) => isVerifying(programs[at] ?? '', call))) return 'verify'
  const known = programs.filter(
    (program) => program !== '' && program !== 'cd' && program !== 'echo',
  )
  const first = known[0] ?? ''
  if (known.length > 0 && known.every((program) => waits.test(program))) return 'wait'
  if (searches.test(first)) return 'search'
  if (reads.test(first)) return known.some((program) => searches.test(program)) ? 'search' : 'read'
  if (fetches.test(first)) return 'web'
  return 'run'
}

/** The program and its arguments, without what stands before it. */
function callOf(part: readonly string[]): readonly string[] {
  const at = part.findIndex((word) => !before.test(word))
  return at < 0 ? [] : part.slice(at)
}

function programOf([program = '']: readonly string[]): string {
  return program.split('/').at(-1) ?? ''
}

function isVerifying(program: string, call: readonly string[]): boolean {
  // The shell's own `test` asks whether a file is there.
  if (verifies.test(program)) return call[0] !== 'test'
  if (!runners.test(program)) return false
  if (program === 'node' && call.includes('--test')) return true
  const told = call.slice(1).find((word) => !runners.test(word))
  return told !== undefined && verifies.test(told.replace(/^--?/, ''))
}

function keptWords(part: readonly string[], root: string): string[] {
  const program = programOf(callOf(part))
  return part.flatMap((word, at) => {
    const last = part[at - 1] ?? ''
    if (secretFlag.test(last) || secretWord.test(last)) return ['…']
    const isTold = prints.test(program) || (last.startsWith('-') && !searches.test(program))
    return isTold && /^["']/.test(word) ? ['…'] : keptOf(word, root)
  })
}

/** What may be kept of one word, and of the words that it quotes. */
function keptOf(word: string, root: string): string[] {
  const bare = word.replace(/^["'`]+|["'`]+$/g, '').replace(/^\$(?:HOME\b|\{HOME\})/, '~')
  const assigned = /^(--?[\w.:-]+|\$?\w[\w.:-]*)=/.exec(bare)
  if (assigned !== null) return [`${assigned[1]}=…`]
  const attached = /^-[Hup](?=\S{2})/.exec(bare)
  if (attached !== null) return [`${attached[0]}…`]
  if (/^(?:[~/]|\.\.?\/|[a-z]:[\\/]|file:\/\/)/i.test(bare)) return [safe(placeOf(bare, root))]
  if (/\s/.test(bare)) return keptWords(bare.split(/\s+/).filter(Boolean), root)
  const address = /^([a-z][a-z\d+.-]*:\/\/)(?:[^/@\s]*@)?([^?#\s]*)/i.exec(bare)
  if (address !== null) return [safe(`${address[1]}${address[2]}`)]
  const placed = bare.replace(
    /([:<>(,])((?:~?\/)[^\s:,<>)]+)/g,
    (_, mark: string, path: string) => `${mark}${placeOf(path, root)}`,
  )
  return [safe(placed.replace(/[?#&][\w.-]+=.*$/, ''))]
}

/** A text with `…` for what looks like a secret: values of names such as `token=`, keys, queries of addresses. */
export function withoutSecrets(text: string): string {
  return text
    .replace(userInAddress, '$1…@')
    .replace(queryOfAddress, '$1…')
    .replace(namedSecret, '$1…')
    .replace(spelledSecret, '…')
}

const userInAddress = /\b([a-z][a-z\d+.-]{0,20}:\/{1,2})[^/@\s]{1,200}@/gi
const queryOfAddress = /\b([a-z][a-z\d+.-]{0,20}:\/{1,2}[^?#\s]{0,400})[?#][^\s)\]"']*/gi
/** What follows a name that tells a secret, or is assigned in the way of an environment. */
const namedSecret =
  /((?:\b[A-Z][A-Z\d_]*=|[\w-]{0,40}(?:password|passwd|passphrase|secret|token|api[_-]?key|credential)s?["']?\s?[=:]\s?|\bbearer\s))(?:"[^"\n]{0,400}"|'[^'\n]{0,400}'|[^\s"',;]+)/gi

/** The word without what looks like a secret, and not too long. */
function safe(word: string): string {
  const bare = word.replace(secret, '…')
  return bare.length > longestWord ? `${bare.slice(0, longestWord).toWellFormed()}…` : bare
}
