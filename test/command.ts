import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { runCommand } from '../src/surfaces/cli/cli.ts'
import type { CliWorld } from '../src/surfaces/cli/command.ts'

/** What a command has said, and its exit code. */
export interface Ran {
  code: number
  out: string
  err: string
}

/**
 * Runs a command line inside this process, which is far cheaper than a process of its own. Its world
 * has no service unless `world` lends one.
 */
export async function runHere(
  argv: readonly string[],
  { input = '', ...world }: Omit<Partial<CliWorld>, 'input'> & { input?: string } = {},
): Promise<Ran> {
  const ran = { code: -1, out: '', err: '' }
  ran.code = await runCommand(argv, {
    out: (text: string) => {
      ran.out += text
    },
    err: (text: string) => {
      ran.err += text
    },
    isTerminal: false,
    input: Readable.from([input]),
    output: new PassThrough(),
    offline: () => assert.fail('it needs no service'),
    version: '1.2.3',
    serve: async () => {
      ran.out += 'served'
    },
    migrate: async () => 'migrated',
    openapi: () => '{}\n',
    newKey: () => '',
    now: () => 0,
    cores: 2,
    program: ['/bin/false'],
    stopped: () => new Promise(() => {}),
    folder: '/nowhere',
    policyFolder: '/nowhere',
    environment: {},
    settingNames: ['PORT', 'DATABASE_URL', 'PLUMBLINE_ONE'],
    settings: () => ({
      databaseUrl: 'sqlite::memory:',
      unknownSettings: [],
      laterSettings: [],
      limit: null,
      otlp: null,
      serverUrl: 'http://127.0.0.1:8787',
      localUrl: 'http://127.0.0.1:8787',
      key: null,
      hooksFolder: null,
    }),
    reads: () => null,
    withService: () => Promise.reject(new Error('this command has no service')),
    readStore: () => Promise.reject(new Error('this command has no store')),
    terminal: () => null,
    ...world,
  })
  return ran
}
