import { isUtf8 } from 'node:buffer'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { editCommented, parseCommented } from '../../core/hosts/commented-json.ts'
import { type Fields, fieldsOf } from '../../core/hosts/fields.ts'
import {
  addEntries,
  commentingHosts,
  faultIn,
  type InstallHost,
  ownEntries,
} from '../../core/hosts/install.ts'
import { parseJson } from '../../core/text.ts'
import { usageFault } from './usage-fault.ts'

/** The settings of a host as they stand in its file. */
export interface HostFile {
  text: string
  settings: Fields
}

/** What a file was before hooks were put in, if it is byte for byte what that makes of it. */
export interface Origin extends HostFile {
  /** The copy; null if there was no file. */
  backup: string | null
}

/** Where the settings of a host are, from the environment of the user. */
export function hostFileOf(
  host: InstallHost,
  home: string,
  { CLAUDE_CONFIG_DIR, CODEX_HOME }: Readonly<Record<string, string | undefined>>,
): string {
  switch (host) {
    case 'claude-code':
      return join(CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json')
    case 'codex':
      return join(CODEX_HOME || join(home, '.codex'), 'hooks.json')
    case 'gemini-cli':
      return join(home, '.gemini', 'settings.json')
    case 'qwen-code':
      return join(home, '.qwen', 'settings.json')
    case 'copilot':
      return join(home, '.copilot', 'settings.json')
    case 'cursor':
      return join(home, '.cursor', 'hooks.json')
    case 'vscode':
      // VS Code reads every file of this folder; this one holds nothing of others.
      return join(home, '.copilot', 'hooks', 'plumbline.json')
  }
}

/** The settings of a host that a project has, below its folder; those of VS Code are read by Copilot CLI too. */
const projectFiles: Record<Exclude<InstallHost, 'vscode'>, string> = {
  'claude-code': '.claude/settings.json',
  codex: '.codex/hooks.json',
  'gemini-cli': '.gemini/settings.json',
  'qwen-code': '.qwen/settings.json',
  copilot: '.github/hooks/plumbline.json',
  cursor: '.cursor/hooks.json',
}

/** The hosts that have settings of a project. */
export const projectHosts = Object.keys(projectFiles) as InstallHost[]

/** Where the settings of a host are in a project, or a usage fault. */
export function projectFileOf(host: InstallHost, project: string): string {
  if (host === 'vscode')
    throw usageFault('vscode has no hooks of a project of its own: leave out --project.')
  return join(project, projectFiles[host])
}

/** Reads the settings of a host; null if there is no file. A file that cannot be merged into is a usage fault. */
export function readHostFile(host: InstallHost, path: string): HostFile | null {
  if (!existsSync(path)) return null
  const bytes = readFileSync(path)
  const text = bytes.toString()
  const settings = isUtf8(bytes) ? parsed(host, text) : undefined
  if (settings === undefined) {
    const why = commentingHosts.has(host) ? '' : ` ${host} takes no comments.`
    throw usageFault(`${path} is not JSON, so nothing was changed; mend it first.${why}`)
  }
  const fault = faultIn(settings)
  if (fault !== null) throw usageFault(`${path}: ${fault}, so nothing was changed; mend it first.`)
  return { text, settings: fieldsOf(settings) }
}

function parsed(host: InstallHost, text: string): unknown {
  return parseJson(text) ?? (commentingHosts.has(host) ? parseCommented(text) : undefined)
}

/**
 * Settings as text, with the indentation, the line ends and the last line end of an earlier text, and its comments if it has
 * any.
 */
export function textLike(earlier: string, settings: Fields): string {
  if (earlier !== '' && parseJson(earlier) === undefined) return editCommented(earlier, settings)
  const [indent = '  '] = /^[ \t]+(?=\S)/m.exec(earlier) ?? []
  const end = earlier === '' || earlier.endsWith('\n') ? '\n' : ''
  const text = `${JSON.stringify(settings, null, indent)}${end}`
  return earlier.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text
}

/** Finds what a file with hooks of Plumbline was before; null if it has been changed since, or is not known. */
export function originOf(host: InstallHost, path: string, now: HostFile): Origin | null {
  const own = ownEntries(now.settings)
  const made = ({ text, settings }: HostFile) =>
    textLike(text, addEntries(host, settings, own)) === now.text
  const origin = backupsWithout(host, path).find(made)
  if (origin !== undefined) return origin
  const none = { text: '', settings: {}, backup: null }
  return made(none) ? none : null
}

/** The settings of the newest copy without hooks of Plumbline; null if there is none. */
export function settingsBefore(host: InstallHost, path: string): Fields | null {
  return backupsWithout(host, path)[0]?.settings ?? null
}

/** The copies of a file that have no hooks of Plumbline, newest first. */
function backupsWithout(host: InstallHost, path: string): (Origin & { backup: string })[] {
  return backupNumbers(path).flatMap((number) => {
    const backup = backupName(path, number)
    const text = readFileSync(backup, 'utf8')
    const settings = parsed(host, text)
    const isClean = faultIn(settings) === null && ownEntries(settings).length === 0
    return isClean ? [{ backup, text, settings: fieldsOf(settings) }] : []
  })
}

/** Copies a file beside it, never over an older copy, and returns the name of the copy. */
export function backUp(path: string): string {
  const [newest = -1] = backupNumbers(path)
  const backup = backupName(path, newest + 1)
  const mode = statSync(path).mode & 0o7777
  writeFileSync(backup, readFileSync(path), { mode, flag: 'wx', flush: true })
  chmodSync(backup, mode)
  return backup
}

/** The numbers of the copies of a file, newest first. */
function backupNumbers(path: string): number[] {
  const first = basename(backupName(path, 0))
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(first))
    .map((name) => name.slice(first.length))
    .filter((rest) => /^(?:-[1-9]\d*)?$/.test(rest))
    .map((rest) => Number(rest.slice(1)))
    .sort((one, other) => other - one)
}

function backupName(path: string, number: number): string {
  return `${path}.plumbline-backup${number === 0 ? '' : `-${number}`}`
}

/** Removes a file, and the folders below `root` that hold nothing else: init makes those that it lacks. */
export function removeFile(path: string, root: string): void {
  rmSync(path)
  let folder = dirname(path)
  while (folder.startsWith(root + sep) && readdirSync(folder).length === 0) {
    rmdirSync(folder)
    folder = dirname(folder)
  }
}

/**
 * Writes a file whole or not at all. Its mode is `mode`, or that of the file which it replaces; a link stays one, and
 * what it leads to is replaced.
 */
export function replaceFile(path: string, content: string | Uint8Array, mode?: number): void {
  const target = existsSync(path) ? realpathSync(path) : path
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  const kept = mode ?? (existsSync(target) ? statSync(target).mode & 0o7777 : 0o600)
  const temporary = `${target}.plumbline-new`
  rmSync(temporary, { force: true })
  try {
    writeFileSync(temporary, content, { mode: kept, flag: 'wx', flush: true })
    // The mode of a new file is less what the user's mask takes.
    chmodSync(temporary, kept)
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
