import { readCommand } from './commands.ts'
import { errorClassOf, failingOf } from './failures.ts'
import { digestOf, digestOfValue, type Fields, fieldsOf, given, listOf, textOf } from './fields.ts'
import type { Act, ActFamily } from './host-event.ts'
import { placeOf, placesOf } from './paths.ts'

/** The families of tools, by their names in any host, in lower case without separators. */
const families: Readonly<Record<string, ActFamily>> = {
  ...named(
    'read',
    'read readfile readmanyfiles view notebookread listdir listdirectory ls list viewimage open fetchfile readfiles listfiles listcodedefinitionnames',
  ),
  ...named(
    'search',
    'grep glob search grepsearch searchfiles searchfilecontent greptool codebasesearch filesearch find lsp toolsearch findfiles searchcode searchcodebase semanticsearch',
  ),
  ...named(
    'edit',
    'write edit multiedit notebookedit applypatch replace writefile create createfile strreplace strreplaceeditor editfile editfiles insert patch writetofile replaceinfile deletefile delete movefile applydiff searchreplace editor replacestringinfile multireplacestringinfile inserteditintofile',
  ),
  ...named(
    'run',
    'bash shell runshellcommand runcommand runinterminal execcommand executecommand terminal localshell writestdin runterminalcmd powershell bashoutput runcommands',
  ),
  ...named(
    'web',
    'webfetch websearch googlewebsearch fetch browser websearchtool fetchwebpage browseraction fetchwebcontent',
  ),
  ...named(
    'wait',
    'sleep clocksleep wait waitagent collaborationwaitagent multiagentvwaitagent taskoutput readbash readpowershell getterminaloutput',
  ),
}

const longestSaid = 400
const longestWords = 400

/** What a host says of one use of a tool. */
export interface ToolUse {
  tool: string
  input: Fields
  /** The folder of the project. */
  root: string
  outcome: Act['outcome']
  exit?: number | undefined
  /** What the tool answered, as a text; absent if it has not. */
  output?: string | undefined
  ms?: number | undefined
}

/** The act that one use of a tool is. */
export function actOf({ tool, input, root, outcome, exit, output, ms }: ToolUse): Act {
  const command = commandOf(input)
  const isCommand = command !== '' && (familyOf(tool) ?? 'run') === 'run'
  const told = isCommand ? readCommand(command, root) : null
  const family = told?.family ?? familyOf(tool) ?? 'other'
  const edits = editsOf(input, root)
  const didFail = outcome === 'failed'
  return {
    kind: 'act',
    family,
    tool: tool.slice(0, 100),
    paths: placesOf([...pathsIn(input), ...patched(input)], root),
    words: (told?.words ?? queryOf(input)).slice(0, longestWords),
    ...given('said', textOf(input.description).slice(0, longestSaid)),
    outcome,
    ...given('exit', exit),
    ...given('errorClass', didFail ? errorClassOf(output ?? '') : undefined),
    argsHash: argsHashOf(tool, input),
    ...given('resultHash', output === undefined ? undefined : digestOf(output)),
    ...given('failing', family === 'verify' && didFail ? failingOf(output ?? '') : undefined),
    ...given('edits', edits.length === 0 ? undefined : edits),
    ...given('ms', ms),
  }
}

/** The agent describes the same act in other words each time. */
function argsHashOf(tool: string, { description: _, ...input }: Fields): string {
  return digestOf(`${tool}\n${digestOfValue(input)}`)
}

/** The family of a tool by its name; undefined if the name tells nothing. */
export function familyOf(tool: string): ActFamily | undefined {
  const name = tool.toLowerCase().replace(/[^a-z]/g, '')
  if (Object.hasOwn(families, name)) return families[name]
  return /^mcp__|browser|http|fetch/i.test(tool) && /web|browser|fetch|http/i.test(tool)
    ? 'web'
    : undefined
}

function commandOf({ command, cmd, script }: Fields): string {
  const given = command ?? cmd ?? script
  return Array.isArray(given)
    ? given
        .filter((each) => typeof each === 'string')
        .map((each) => (/\s/.test(each) ? JSON.stringify(each) : each))
        .join(' ')
    : textOf(given)
}

/** The arguments that name one file or folder, and those that name several. */
const pathFields =
  'file_path filePath path absolute_path notebook_path target_file relPath dir_path directory uri'.split(
    ' ',
  )
const pathLists = ['paths', 'files', 'file_paths']

function pathsIn(input: Fields): unknown[] {
  const lists = pathLists.flatMap((name) => [...listOf(input[name])])
  return [...pathFields.map((name) => input[name]), ...lists]
}

/** The files that a patch in the text of an argument names. */
function patched(input: Fields): string[] {
  const patch = patchOf(input)
  if (patch === '') return []
  const headers = patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.{1,400})$/gm)
  return [...headers].map(([, path = '']) => path.trim())
}

function patchOf({ patch, input, command }: Fields): string {
  const text = [patch, input, command].find(
    (each) => typeof each === 'string' && /^\*\*\* (?:Begin|Add|Update)/m.test(each),
  )
  return typeof text === 'string' ? text.slice(0, 200_000) : ''
}

function queryOf({ query, pattern, q, search_term, url, regex, prompt, sql }: Fields): string {
  const address = textOf(url).replace(/[?#].*$/, '')
  return [textOf(query, pattern, q, search_term, regex, prompt, sql), address]
    .filter(Boolean)
    .join(' ')
}

function editsOf(input: Fields, root: string): { path: string; from: string; to: string }[] {
  const [path] = pathsIn(input).filter((each) => typeof each === 'string')
  const patch = patchOf(input)
  if (patch !== '') {
    const lines = patch.split('\n')
    const side = (mark: string) =>
      lines
        .filter((line) => line.startsWith(mark))
        .map((line) => line.slice(1))
        .join('\n')
    const [of = ''] = patched(input)
    return of === ''
      ? []
      : [{ path: placeOf(of, root), from: digestOf(side('-')), to: digestOf(side('+')) }]
  }
  if (typeof path !== 'string') return []
  const pairs = [input, ...listOf(input.edits)].flatMap((each) => {
    const { old_string, new_string, oldString, newString, old_str, new_str, content, file_text } =
      fieldsOf(each)
    const to = new_string ?? newString ?? new_str ?? content ?? file_text
    const from = old_string ?? oldString ?? old_str ?? ''
    return typeof to === 'string' && typeof from === 'string' ? [{ from, to }] : []
  })
  return pairs
    .slice(0, 8)
    .map(({ from, to }) => ({ path: placeOf(path, root), from: digestOf(from), to: digestOf(to) }))
}

function named(family: ActFamily, tools: string): Record<string, ActFamily> {
  return Object.fromEntries(tools.split(' ').map((tool) => [tool, family]))
}
