import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'

/** The most that is read of the end of a session file. */
const tailBytes = 512 * 1024

/** The newest whole lines of a session file; none if it cannot be read. A pipe, which would block, is no file. */
export function tailOf(path: string): string[] {
  if (!isAbsolute(path) || !path.endsWith('.jsonl')) return []
  try {
    const found = statSync(path)
    if (!found.isFile()) return []
    const from = Math.max(0, found.size - tailBytes)
    const bytes = Buffer.alloc(found.size - from)
    const file = openSync(path, 'r')
    const read = readSync(file, bytes, 0, bytes.length, from)
    closeSync(file)
    const lines = bytes.subarray(0, read).toString().split('\n')
    // The first may be cut, and the last is still being written.
    return lines.slice(from > 0 ? 1 : 0, -1).filter((line) => line.trim() !== '')
  } catch {
    return []
  }
}
