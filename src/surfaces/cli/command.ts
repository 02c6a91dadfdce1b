import type { Readable, Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import type { Reads } from '../../core/detector/contract/reads.ts'
import type { Service } from '../../operations/gate/context.ts'
import type { Store } from '../../storage/store.ts'
import type { Terminal } from './terminal.ts'
import { usageFault } from './usage-fault.ts'

/** The output of a command, and the work that the process does for it. */
export interface CliWorld {
  out(text: string): void
  err(text: string): void
  /** Whether a person watches `err`. */
  isTerminal: boolean
  /** Standard input. A command reads it if the file is `-`. */
  input: Readable
  /** Standard output, for a command that speaks a protocol on it. */
  output: Writable
  /** The keys that a person presses; null if nobody can. The caller closes it. */
  terminal(): Terminal | null
  version: string
  /** Milliseconds since 1970. */
  now(): number
  /** The cores that this process may use. */
  cores: number
  /** A key that no account has. */
  newKey(): string
  /** The command that runs this program, as its words. */
  program: readonly string[]
  /** Resolves when the process is told to stop. */
  stopped(): Promise<unknown>
  /** The folder that the command is run in. */
  folder: string
  /** The folder in which an administrator of the machine sets a policy for Claude Code. */
  policyFolder: string
  /** The environment of the process, without the `.env` file. */
  environment: Readonly<Record<string, string | undefined>>
  /** The names of the settings that the help lists. */
  settingNames: readonly string[]
  /** The settings that commands need from the environment, or every fault in them. */
  settings(): CliSettings | { faults: string[] }
  /** What the encoder reads, in this thread; null if it is off or has no weights. */
  reads(): Reads | null
  /** Serves until the process is told to stop. */
  serve(): Promise<void>
  /** Brings the configured database to the current schema and returns a report. */
  migrate(): Promise<string>
  /** The OpenAPI document as text. */
  openapi(): string
  /** Runs `work` with a service on a database in memory, without limits. */
  offline<T>(work: (service: Service) => Promise<T>): Promise<T>
  /** Runs `work` with a service on the configured database. */
  withService<T>(work: (service: Service) => Promise<T>): Promise<T>
  /** Runs `work` with the store of the configured database, in which it can change nothing. */
  readStore<T>(work: (store: Store) => Promise<T>): Promise<T>
}

/** The settings that commands read. */
export interface CliSettings {
  databaseUrl: string
  unknownSettings: string[]
  laterSettings: string[]
  /** The score above which a step is drift for the default detector; null for the built-in one. */
  limit: number | null
  /** The collector of evaluation results; null without one. */
  otlp: { url: string } | null
  /** The address of a server with these settings, without a trailing slash. */
  serverUrl: string
  /** The address of that server on its own machine; null if it has none that is known. */
  localUrl: string | null
  /** The key for requests to that server; null if none is set. */
  key: string | null
  /** The folder of what the hooks of hosts need; null for `.plumbline` in the home of the user. */
  hooksFolder: string | null
}

/** One command of the command line. */
export interface Command {
  name: string
  summary: string
  usage: string
  details: string | ((world: CliWorld) => string)
  /** Returns the exit code. */
  run(args: string[], world: CliWorld): Promise<number>
}

/** Exit codes: on the errand or done, drifting, a fault, bad usage. */
export const exitCodes = { ok: 0, drifting: 1, fault: 1, usage: 2, uncertain: 3 } as const

/** Parses arguments; an unknown option is a usage fault. */
export function parse(args: string[], options: Record<string, { type: 'string' | 'boolean' }>) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw usageFault(error instanceof Error ? error.message : String(error))
  }
}
