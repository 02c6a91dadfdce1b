import type { Spool } from './spool.ts'

/** Creates a spool in memory, for lines that can be read again where they came from. It drops none. */
export function createMemorySpool(): Spool {
  const lines: string[] = []
  return {
    append(line) {
      lines.push(line)
    },
    next: (most) => ({
      lines: lines.slice(0, most),
      end: { part: 0, offset: Math.min(most, lines.length) },
    }),
    done({ offset }) {
      lines.splice(0, offset)
    },
    clear: () => lines.splice(0).length,
    sync() {},
    close() {},
    get waiting() {
      return lines.length
    },
    get bytes() {
      return lines.reduce((sum, line) => sum + line.length, 0)
    },
    dropped: 0,
  }
}
