import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { fieldsOf } from '../../core/hosts/fields.ts'
import { parseJson } from '../../core/text.ts'

/** A place in the spool: everything before it was sent. */
export interface Mark {
  part: number
  offset: number
}

/** Lines that wait to be sent, in files that only the user may read. */
export interface Spool {
  /** Adds a line, which then survives the end of the process. Throws if the disk takes no more. */
  append(line: string): void
  /** The oldest lines, at most `most`, and the place behind them. */
  next(most: number): { lines: string[]; end: Mark }
  /** Forgets what stands before a place. */
  done(end: Mark): void
  /** Forgets everything. Returns how many lines waited. */
  clear(): number
  /** Has the disk hold what was added, so that it survives a power cut too. */
  sync(): void
  close(): void
  /** Lines and bytes that wait. */
  readonly waiting: number
  readonly bytes: number
  /** Lines that were dropped because the spool was full, or somebody has deleted its files. */
  readonly dropped: number
}

/** The most that one batch reads; far longer than the longest line. */
const chunkBytes = 1024 * 1024
const namePattern = /^spool-(\d{10})\.ndjson$/

interface Part {
  number: number
  bytes: number
}

/**
 * Opens the spool of a folder. It is a row of files, so that the oldest lines can be dropped and what was sent can be
 * forgotten without writing the rest again. A last line that was not written whole is cut off. `maxBytes` bounds all
 * files together; when they are full, the oldest twentieth goes. When somebody has deleted its files, it begins again, and
 * `onGone` is told how many lines waited in them.
 */
export function openSpool(
  folder: string,
  maxBytes: number,
  onGone: (lines: number) => void = () => {},
): Spool {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const partBytes = Math.ceil(maxBytes / 20)
  const fileOf = (number: number) =>
    join(folder, `spool-${String(number).padStart(10, '0')}.ndjson`)
  const markFile = join(folder, 'sent.json')

  const parts: Part[] = readdirSync(folder)
    .flatMap((name) => namePattern.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
    .map((number) => ({ number, bytes: wholeBytes(fileOf(number)) }))
  const kept = readMark(markFile)
  let { dropped } = kept
  let offset = 0
  if (parts[0] !== undefined && parts[0].number === kept.part) {
    offset = Math.min(kept.offset, parts[0].bytes)
  }
  let file = begin((parts.at(-1)?.number ?? kept.part) + 1)
  let waiting = 0
  for (const [nth, { number }] of parts.entries()) {
    waiting += linesFrom(fileOf(number), nth === 0 ? offset : 0)
  }
  let isSynced = true
  forgetSent()

  function begin(number: number): number {
    const opened = openSync(fileOf(number), 'a', 0o600)
    parts.push({ number, bytes: 0 })
    return opened
  }

  /** A file that was deleted still takes lines, and nobody could ever read them. */
  function beginAgainIfGone(): void {
    if (existsSync(fileOf(newest().number))) return
    // Not the folder above it: whoever has deleted that wants none of this.
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
    const [lines, { number }] = [waiting, newest()]
    closeSync(file)
    for (const part of [...parts]) remove(part)
    file = begin(number + 1)
    waiting = 0
    dropped += lines
    writeMark()
    onGone(lines)
  }

  function newest(): Part {
    return parts.at(-1) as Part
  }

  function rotate(): void {
    // What was sent needs no disk.
    if (waiting > 0) sync()
    isSynced = true
    closeSync(file)
    file = begin(newest().number + 1)
  }

  function total(): number {
    return parts.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  function remove({ number }: Part): void {
    rmSync(fileOf(number), { force: true })
    parts.shift()
    offset = 0
  }

  function dropOldest(): void {
    if (parts.length === 1) rotate()
    const [oldest] = parts
    if (oldest === undefined) return
    const lines = linesFrom(fileOf(oldest.number), offset)
    dropped += lines
    waiting -= lines
    remove(oldest)
    writeMark()
  }

  /** Removes the parts that are sent whole, the newest too, so that the spool is empty on disk when it is empty. */
  function forgetSent(): void {
    while (parts[0] !== undefined && parts[0].bytes > 0 && offset >= parts[0].bytes) {
      if (parts.length === 1) rotate()
      remove(parts[0])
    }
    // Parts without lines hold nothing back.
    while (parts.length > 1 && parts[0]?.bytes === 0) remove(parts[0])
  }

  function writeMark(): void {
    const mark = { part: parts[0]?.number ?? 0, offset, dropped }
    writeFileSync(`${markFile}.new`, JSON.stringify(mark), { mode: 0o600 })
    renameSync(`${markFile}.new`, markFile)
  }

  function sync(): void {
    if (!isSynced) fdatasyncSync(file)
    isSynced = true
  }

  return {
    append(line) {
      beginAgainIfGone()
      const bytes = Buffer.from(`${line}\n`)
      if (newest().bytes + bytes.length > partBytes && newest().bytes > 0) rotate()
      while (total() + bytes.length > maxBytes && waiting > 0) dropOldest()
      const part = newest()
      try {
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
      } catch (error) {
        // A line that is there in part would spoil the next one.
        ftruncateSync(file, part.bytes)
        throw error
      }
      part.bytes += bytes.length
      waiting++
      isSynced = false
    },
    next(most) {
      beginAgainIfGone()
      const part = parts.find(({ bytes }, nth) => (nth === 0 ? offset : 0) < bytes)
      if (part === undefined) return { lines: [], end: { part: newest().number, offset } }
      const from = part === parts[0] ? offset : 0
      const read = bytesFrom(fileOf(part.number), from, Math.min(chunkBytes, part.bytes - from))
      const text = read.subarray(0, read.lastIndexOf(10) + 1).toString()
      const lines = text.split('\n').slice(0, -1).slice(0, most)
      const length = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
      return { lines, end: { part: part.number, offset: from + length } }
    },
    done(end) {
      const lines = linesUntil(end)
      while (parts[0] !== undefined && parts[0].number < end.part) remove(parts[0])
      if (parts[0]?.number === end.part && end.offset > offset) offset = end.offset
      waiting -= lines
      forgetSent()
      writeMark()
    },
    clear() {
      const lines = waiting
      rotate()
      while (parts[0] !== undefined && parts.length > 1) remove(parts[0])
      waiting = 0
      writeMark()
      return lines
    },
    sync,
    close() {
      sync()
      closeSync(file)
    },
    get waiting() {
      return waiting
    },
    get bytes() {
      return total() - offset
    },
    get dropped() {
      return dropped
    },
  }

  /** The waiting lines before a place. */
  function linesUntil(end: Mark): number {
    let lines = 0
    for (const [nth, { number, bytes }] of parts.entries()) {
      const from = nth === 0 ? offset : 0
      if (number > end.part) break
      const until = number === end.part ? end.offset : bytes
      if (until > from) lines += countLines(bytesFrom(fileOf(number), from, until - from))
    }
    return lines
  }
}

/** The bytes of a file up to the end of its last whole line; what stands behind it is cut off. */
function wholeBytes(path: string): number {
  const bytes = readFileSync(path)
  const whole = bytes.lastIndexOf(10) + 1
  if (whole < bytes.length) {
    const file = openSync(path, 'r+')
    ftruncateSync(file, whole)
    closeSync(file)
  }
  return whole
}

function linesFrom(path: string, offset: number): number {
  const { size } = statSync(path)
  return size <= offset ? 0 : countLines(bytesFrom(path, offset, size - offset))
}

function bytesFrom(path: string, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  const file = openSync(path, 'r')
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, length, offset))
  } finally {
    closeSync(file)
  }
}

function countLines(bytes: Buffer): number {
  let lines = 0
  for (const byte of bytes) if (byte === 10) lines++
  return lines
}

/** The place up to which an earlier process has sent; the beginning if its file is damaged. */
function readMark(path: string): Mark & { dropped: number } {
  let text = ''
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    // Nothing was sent yet.
  }
  const { part, offset, dropped } = fieldsOf(parseJson(text))
  const count = (value: unknown) => (Number.isSafeInteger(value) ? Math.max(0, Number(value)) : 0)
  return { part: count(part), offset: count(offset), dropped: count(dropped) }
}
