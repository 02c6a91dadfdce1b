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

/** What a SQLite file holds. */
export interface FileState {
  /** The version of the schema, 0 when it is no database of ours. */
  version: number
  /** What SQLite finds damaged, a few sentences at most; empty when it finds nothing. */
  faults: string[]
}

const maxFaults = 5

/** Reads every page of a SQLite file and tells what is wrong with it; it may be in use meanwhile. */
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
 * Reads the structure of a SQLite file of at most `maxBytes` and tells what is wrong with it, at half a
 * gigabyte a second or faster once the disk has given it; null for a larger one, which is not read.
 */
export function checkSmallFile(path: string, maxBytes: number): string[] | null {
  if (statSync(path).size > maxBytes) return null
  return withFile(path, { readOnly: true }, (file) => {
    const rows = file.prepare(`PRAGMA quick_check(${maxFaults})`).all()
    return rows.map((row) => String(row.quick_check)).filter((line) => line !== 'ok')
  })
}

/**
 * Copies a SQLite file, as it stands at one instant, to a new file that only its owner may read. The
 * file may be in use, and whoever writes to it does not wait. The copy is checked before it appears
 * under its name. Throws when there is a file of that name, and when the copy is not sound.
 */
export function backUpSqliteFile(from: string, to: string): FileState {
  return besides(to, (copy) => {
    const state = copySound(from, copy)
    if (existsSync(to)) throw unavailable(`${to} appeared meanwhile`)
    moveDurably(copy, to)
    return state
  })
}

/**
 * Puts a copy of one SQLite file in the place of another: either the old one or the new one is there,
 * whenever it is interrupted. Throws, as unavailable, while any process has the old one open.
 */
export function replaceSqliteFile(from: string, to: string): void {
  mkdirSync(dirname(resolve(to)), { recursive: true, mode: 0o700 })
  holdAlone(to, () =>
    besides(to, (copy) => {
      copySound(from, copy)
      // A log of the old database would be taken for one of the new.
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

/** Lends the name of a file in a new folder beside `path`, on the same disk, which nobody else can read. */
function besides<T>(path: string, work: (copy: string) => T): T {
  const folder = mkdtempSync(join(dirname(resolve(path)), '.plumbline-'))
  try {
    return work(join(folder, 'copy.db'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** In one read transaction, so that writers neither wait nor have the copy begin again. */
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

/** Works while no process has the database open or can open it. */
function holdAlone(path: string, work: () => void): void {
  if (!existsSync(path)) {
    work()
    return
  }
  withFile(path, { timeout: 0 }, (file) => {
    try {
      // Whoever has a database with a write-ahead log open holds a lock that this one excludes; it
      // also empties the log.
      file.exec('PRAGMA journal_mode = DELETE')
      file.exec('BEGIN EXCLUSIVE')
    } catch (error) {
      const code = resultCode(error)
      if (code === BUSY) throw unavailable(`a server, or another command, has ${path} open`)
      // What is too damaged to be read cannot be locked, nor has a server any use of it.
      if (!DAMAGE.has(code)) throw unavailable(error)
    }
    work()
  })
}
