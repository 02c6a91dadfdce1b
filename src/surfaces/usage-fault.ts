const name = 'UsageFault'

/** Something the person at the command line can mend; the message is all they see, with exit code 2. */
export function usageFault(message: string): Error {
  return Object.assign(new Error(message), { name })
}

/** Whether an error is a usage fault, or the system's own word on a file that cannot be opened. */
export function isUsageFault(error: unknown): error is Error {
  return error instanceof Error && (error.name === name || 'syscall' in error)
}
