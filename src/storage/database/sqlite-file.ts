import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { unavailable } from './database.ts'
import { BUSY, DAMAGE, resultCode } from './sqlite.ts'

/** The state of a SQLite file. */
export interface FileState {
  /** The version of the schema, 0 if it is not a Plumbline database. */
  version: number
  /** The damage that SQLite reports, at most five lines; empty if the file is sound. */
  faults: string[]
}

const maxFaults = 5

/** Reads every page of a SQLite file and reports damage; the file may be in use. */
export function checkSqliteFile(path: string): FileState {
  try {
    return withFile(path, { readOnly: true }, (file) => {
      const rows = file.prepare(`PRAGMA integrity_check(${maxFaults})`).all()
      const faults = rows.map((row) => String(row.integrity_check)).filter((line) => line !== 'ok')
      return { version: readVersion(file), faults }
    })
  } catch (error) {
    return { version: 0, faults: [error instanceof Error ? error.message : String(error)] }
  }
}

/**
 * Reads the structure of a SQLite file of at most `maxBytes` and reports damage, at half a gigabyte a
 * second or faster once the disk has delivered it. Returns null for a larger file, without reading it.
 */
export function checkSmallFile(path: string, maxBytes: number): string[] | null {
  if (statSync(path).size > maxBytes) return null
  return withFile(path, { readOnly: true }, (file) => {
    const rows = file.prepare(`PRAGMA quick_check(${maxFaults})`).all()
    return rows.map((row) => String(row.quick_check)).filter((line) => line !== 'ok')
  })
}

/**
 * Copies a snapshot of a SQLite file to a new file that only its owner can read. Writers to the source do
 * not wait. The copy is checked before it gets its final name. Throws if the target exists or the copy is
 * damaged.
 */
export function backUpSqliteFile(from: string, to: string): FileState {
  return withPrivateCopy(to, (copy) => {
    const state = copySound(from, copy)
    if (existsSync(to)) throw unavailable(`${to} appeared meanwhile`)
    moveDurably(copy, to)
    return state
  })
}

/**
 * Replaces one SQLite file with a copy of another. An interruption leaves either the old file or the new
 * one. Throws, as unavailable, while any process has the old file open.
 */
export function replaceSqliteFile(from: string, to: string): void {
  mkdirSync(dirname(resolve(to)), { recursive: true, mode: 0o700 })
  withExclusiveFile(to, () =>
    withPrivateCopy(to, (copy) => {
      copySound(from, copy)
      // SQLite would apply the old database's log to the new file.
      for (const suffix of ['-wal', '-shm']) rmSync(to + suffix, { force: true })
      moveDurably(copy, to)
    }),
  )
}

function withFile<T>(
  path: string,
  options: { readOnly?: boolean; timeout?: number },
  use: (file: DatabaseSync) => T,
): T {
  const file = new DatabaseSync(path, options)
  try {
    return use(file)
  } finally {
    file.close()
  }
}

function readVersion(file: DatabaseSync): number {
  const table = file.prepare("SELECT name FROM sqlite_master WHERE name = 'migrations'").get()
  if (table === undefined) return 0
  return Number(file.prepare('SELECT MAX(version) AS version FROM migrations').get()?.version ?? 0)
}

/** Runs `work` with a file name in a new private folder on the same disk, and deletes the folder afterwards. */
function withPrivateCopy<T>(path: string, work: (copy: string) => T): T {
  const folder = mkdtempSync(join(dirname(resolve(path)), '.plumbline-'))
  try {
    return work(join(folder, 'copy.db'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** VACUUM INTO copies in one read transaction: writers do not wait, and they do not restart the copy. */
function copySound(from: string, to: string): FileState {
  try {
    withFile(from, { readOnly: true }, (file) => file.prepare('VACUUM INTO ?').run(to))
  } catch (error) {
    throw unavailable(error)
  }
  const state = checkSqliteFile(to)
  if (state.faults.length > 0) throw unavailable(`the copy is damaged: ${state.faults.join('; ')}`)
  return state
}

function moveDurably(from: string, to: string): void {
  chmodSync(from, 0o600)
  sync(from)
  renameSync(from, to)
  sync(dirname(resolve(to)))
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** Runs `work` while no process has the database open or can open it. */
function withExclusiveFile(path: string, work: () => void): void {
  if (!existsSync(path)) {
    work()
    return
  }
  withFile(path, { timeout: 0 }, (file) => {
    try {
      // A process with the database open in WAL mode holds a lock that conflicts with this change; the
      // change also empties the log.
      file.exec('PRAGMA journal_mode = DELETE')
      file.exec('BEGIN EXCLUSIVE')
    } catch (error) {
      const code = resultCode(error)
      if (code === BUSY) throw unavailable(`a server, or another command, has ${path} open`)
      // A file too damaged to read cannot be locked, and no server can use it.
      if (!DAMAGE.has(code)) throw unavailable(error)
    }
    work()
  })
}
