import { isUnavailable, isUnusable } from '../../storage/database/database.ts'

const name = 'UsageFault'

/**
 * Builds an error that the person at the command line can mend. They see only its message, and the exit
 * code is 2.
 */
export function usageFault(message: string): Error {
  return Object.assign(new Error(message), { name })
}

/** Builds the usage fault of settings; each of their faults is one sentence. */
export function settingsFault(faults: readonly string[]): Error {
  return usageFault(`the settings are at fault:\n  ${faults.join('\n  ')}`)
}

/** Returns the sentence that a person reads of an error that `isUsageFault` knows. */
export function sentenceOf(
  error: Error & {
    code?: unknown
    port?: unknown
    address?: unknown
    hostname?: unknown
    syscall?: unknown
  },
): string {
  const { code, syscall, port, address = error.hostname } = error
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return error.message
  if (code === 'EADDRINUSE') {
    return `port ${port} of ${address} is in use by another program or server; set PORT to another one.`
  }
  if (code === 'EACCES') {
    return `this user may not listen on port ${port}; set PORT to a port above 1023.`
  }
  return `${address} is not an address of this machine (${code}); set HOST to the address to listen on.`
}

/**
 * Whether an error is a usage fault, or a file, port or database that is not available. Its message says
 * enough.
 */
export function isUsageFault(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  return error.name === name || 'syscall' in error || isUnavailable(error) || isUnusable(error)
}
