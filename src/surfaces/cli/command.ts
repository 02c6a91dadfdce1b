import type { Readable, Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import type { Service } from '../../operations/gate/context.ts'
import { usageFault } from './usage-fault.ts'

/** Where a command writes, and what it cannot do by itself. */
export interface CliWorld {
  out(text: string): void
  err(text: string): void
  /** Whether `err` goes to a person who watches. */
  isTerminal: boolean
  /** Standard input, read where a file is given as `-`. */
  input: Readable
  /** Standard output, for what speaks a protocol on it. */
  output: Writable
  version: string
  /** Milliseconds since 1970. */
  now(): number
  /** A key that no account has. */
  newKey(): string
  /** The names of all settings. */
  settingNames: readonly string[]
  /** The settings of the environment that commands ask for, or every fault in them. */
  settings(): CliSettings | { faults: string[] }
  /** Serves until the process is told to stop. */
  serve(): Promise<void>
  /** Brings the configured database to the current schema and says what it did. */
  migrate(): Promise<string>
  /** The OpenAPI document as text. */
  openapi(): string
  /** Lends what operations stand on, over a database in memory and without limits. */
  offline<T>(work: (service: Service) => Promise<T>): Promise<T>
  /** Lends what operations stand on, over the configured database, while `work` is under way. */
  withService<T>(work: (service: Service) => Promise<T>): Promise<T>
}

/** What commands read of the settings. */
export interface CliSettings {
  databaseUrl: string
  unknownSettings: string[]
  laterSettings: string[]
  /** Where a server with these settings is, without a trailing slash. */
  serverUrl: string
  /** The key to ask it with; null when none is set. */
  key: string | null
}

/** One word of the command line and what it does. */
export interface Command {
  name: string
  summary: string
  usage: string
  details: string | ((world: CliWorld) => string)
  /** Answers the exit code. */
  run(args: string[], world: CliWorld): Promise<number>
}

/** Exit codes: on the errand or done, drifting, something is at fault, bad usage. */
export const exitCodes = { ok: 0, drifting: 1, fault: 1, usage: 2 } as const

/** Takes arguments apart; an unknown option is a usage fault. */
export function parse(args: string[], options: Record<string, { type: 'string' | 'boolean' }>) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw usageFault(error instanceof Error ? error.message : String(error))
  }
}
