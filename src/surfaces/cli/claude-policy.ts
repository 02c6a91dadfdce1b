import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Fields, fieldsOf, listOf } from '../../core/hosts/fields.ts'
import { forbidsHooks, ownEntries } from '../../core/hosts/install.ts'
import { parseJson } from '../../core/text.ts'

/** A file of the policy that an administrator has set for Claude Code on this machine. */
export interface PolicyFile {
  path: string
  /** Null if it cannot be read or is no JSON object. */
  settings: Fields | null
}

/** The folder of that policy on an operating system. */
export function policyFolderOn(platform: NodeJS.Platform): string {
  if (platform === 'darwin') return '/Library/Application Support/ClaudeCode'
  return platform === 'win32' ? 'C:\\Program Files\\ClaudeCode' : '/etc/claude-code'
}

/** The files of the policy: the main one, and those that administrators drop beside it, in the order of their names. */
export function readPolicy(folder: string): PolicyFile[] {
  if (!existsSync(folder)) return []
  const dropped = globSync('managed-settings.d/*.json', { cwd: folder }).sort()
  return ['managed-settings.json', ...dropped]
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .map((path) => ({ path, settings: settingsIn(path) }))
}

function settingsIn(path: string): Fields | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    // An administrator may keep it from others.
    return null
  }
  const value = parseJson(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? fieldsOf(value)
    : null
}

/** Why the policy keeps the hooks in the settings of the user from running, with the file that says so; null if it does not. */
export function policyAgainst(files: readonly PolicyFile[]): string | null {
  for (const { path, settings } of files) {
    const why = settings === null ? null : forbidsHooks(settings)
    if (why !== null) return `${path}: ${why}`
  }
  return null
}

/** The file of the policy that has hooks of Plumbline itself, with their number; null if none has. */
export function policyWithHooks(
  files: readonly PolicyFile[],
): { path: string; hooks: number } | null {
  const found = files.find(({ settings }) => ownEntries(settings).length > 0)
  if (found === undefined) return null
  return { path: found.path, hooks: ownEntries(found.settings).length }
}

/** The settings of the user with the lists of the policy joined to theirs, as Claude Code joins them. */
export function withPolicy(settings: Fields, files: readonly PolicyFile[]): Fields {
  const joined: Record<string, unknown> = { ...settings }
  for (const name of ['allowedHttpHookUrls', 'httpHookAllowedEnvVars']) {
    const lists = [settings, ...files.map((file) => file.settings ?? {})]
      .map((each) => each[name])
      .filter((list) => Array.isArray(list))
    if (lists.length > 0) joined[name] = lists.flatMap(listOf)
  }
  return joined
}
