import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type FileHost, hookFilesOf, ownMark } from '../../core/hosts/install-files.ts'
import { removeFile, replaceFile } from './host-file.ts'
import type { Where } from './user-home.ts'

/** The files of a host that are ours now, and those that others have put in their place. */
export function filesNow(
  host: FileHost,
  { root, isProject }: Where,
): { own: string[]; foreign: string[] } {
  const paths = hookFilesOf(host, isProject ? null : '', '').map(({ name }) => join(root, name))
  const there = paths.filter((path) => existsSync(path))
  return {
    own: there.filter((path) => isOwn(path)),
    foreign: there.filter((path) => !isOwn(path)),
  }
}

/** The files that `writeFiles` would change, with their texts. */
export function filesToWrite(host: FileHost, { root, isProject }: Where, folder: string) {
  const kept = isProject ? null : folder
  return hookFilesOf(host, kept, pluginText(kept))
    .map(({ name, ...file }) => ({ path: join(root, name), ...file }))
    .filter(({ path }) => !existsSync(path) || isOwn(path))
    .filter(({ path, text }) => !existsSync(path) || readFileSync(path, 'utf8') !== text)
}

/** Writes the files of a host, but none in the place of a file of others, and returns their paths. */
export function writeFiles(host: FileHost, where: Where, folder: string): string[] {
  const files = filesToWrite(host, where, folder)
  for (const { path, text, isProgram } of files) {
    mkdirSync(dirname(path), { recursive: true })
    replaceFile(path, text, isProgram ? 0o755 : 0o600)
  }
  return files.map(({ path }) => path)
}

/** Removes our files of a host, and returns their paths. */
export function removeFiles(host: FileHost, where: Where): string[] {
  const { own } = filesNow(host, where)
  for (const path of own) removeFile(path, where.root)
  return own
}

/** The plugin of opencode, with the folder in which it finds the server's address and the key, or the folder of its user. */
function pluginText(folder: string | null): string {
  const file = new URL('../../../plugin/opencode/plumbline.js', import.meta.url)
  const text = readFileSync(file, 'utf8')
  const named = `const folder = ${JSON.stringify(folder)}`
  return folder === null ? text : text.replace(/^const folder = .*$/m, () => named)
}

function isOwn(path: string): boolean {
  return readFileSync(path, 'utf8').includes(ownMark)
}
