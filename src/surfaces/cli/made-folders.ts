import { existsSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fieldsOf, listOf, textOf } from '../../core/hosts/fields.ts'
import { parseJson } from '../../core/text.ts'
import { replaceFile } from './host-file.ts'

/** A folder that plumbline init has made for the files of a host. */
interface MadeFolder {
  path: string
  isProject: boolean
}

/** Runs `write`, and remembers in the folder of what hooks need which folders of these files it has made. */
export function noteMade<T>(
  folder: string,
  files: readonly string[],
  isProject: boolean,
  write: () => T,
): T {
  const missing = files.flatMap((file) => foldersAbove(file).filter((path) => !existsSync(path)))
  const written = write()
  const made = missing.filter((path) => existsSync(path))
  if (made.length > 0) {
    const known = readMade(folder).filter(({ path }) => !made.includes(path))
    keepMade(folder, [...known, ...[...new Set(made)].map((path) => ({ path, isProject }))])
  }
  return written
}

/** Removes those folders of removed files that plumbline init has made and that are empty, and returns their paths. */
export function removeMade(folder: string, files: readonly string[]): string[] {
  const known = new Set(readMade(folder).map(({ path }) => path))
  const removed: string[] = []
  for (const file of files) {
    for (const path of foldersAbove(file)) {
      if (!known.has(path) || !isRemoved(path)) break
      known.delete(path)
      removed.push(path)
    }
  }
  if (removed.length > 0) {
    keepMade(
      folder,
      readMade(folder).filter(({ path }) => known.has(path)),
    )
  }
  return removed
}

/** Forgets the folders of the user's own settings: no hook is left in them. */
export function forgetMade(folder: string): void {
  const known = readMade(folder)
  if (known.length > 0) {
    keepMade(
      folder,
      known.filter(({ isProject }) => isProject),
    )
  }
}

function madeFile(folder: string): string {
  return join(folder, 'made-folders.json')
}

function readMade(folder: string): MadeFolder[] {
  const file = madeFile(folder)
  if (!existsSync(file)) return []
  return listOf(parseJson(readFileSync(file, 'utf8'))).map((each) => {
    const { path, project } = fieldsOf(each)
    return { path: textOf(path), isProject: project === true }
  })
}

function keepMade(folder: string, made: readonly MadeFolder[]): void {
  // A folder that somebody has removed is no longer the one that was made.
  const left = made.filter(({ path }) => existsSync(path))
  if (left.length === 0) {
    rmSync(madeFile(folder), { force: true })
    return
  }
  const shown = left.map(({ path, isProject }) => ({ path, project: isProject }))
  replaceFile(madeFile(folder), `${JSON.stringify(shown, null, 2)}\n`, 0o600)
}

/** The folders above a file, the nearest first. */
function foldersAbove(file: string): string[] {
  const folder = dirname(file)
  return folder === file || folder === dirname(folder) ? [] : [folder, ...foldersAbove(folder)]
}

/** Removes an empty folder; false if it is not empty or cannot be removed. */
function isRemoved(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch {
    return false
  }
}
