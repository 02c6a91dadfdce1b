import type { Readable } from 'node:stream'

/** A terminal at which a person presses keys. */
export interface Terminal {
  /** The next key: a character, or the whole sequence of a key such as an arrow. Null once the input has ended. */
  key(): Promise<string | null>
  /** Gives the terminal back as it was. */
  close(): void
}

/** The input of a terminal, as the process has it. */
export interface TerminalInput extends Readable {
  setRawMode?(isRaw: boolean): unknown
}

/**
 * Reads the keys of a terminal one by one, without waiting for the end of a line. Until the first one is asked for, the
 * terminal stays as it is, so that a program can be interrupted.
 */
export function openTerminal(input: TerminalInput): Terminal {
  const keys: string[] = []
  let wake = () => {}
  let isOver = false
  const hear = (text: string | Buffer) => {
    // A key that is no character sends a sequence that begins with escape, all at once.
    const told = String(text)
    keys.push(...(told.startsWith('\x1b') ? [told] : told))
    wake()
  }
  const end = () => {
    isOver = true
    wake()
  }
  let isOpen = false
  const open = () => {
    isOpen = true
    input.setRawMode?.(true)
    input.setEncoding('utf8')
    input.on('data', hear)
    input.on('end', end)
  }
  return {
    async key() {
      if (!isOpen) open()
      while (keys.length === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return keys.shift() ?? null
    },
    close() {
      if (!isOpen) return
      input.off('data', hear)
      input.off('end', end)
      input.pause()
      input.setRawMode?.(false)
    },
  }
}
