import { z } from 'zod'
import { tierNamed } from '../../core/accounts/tiers.ts'
import { unknownAddress } from '../../core/address.ts'
import { keylessPrefix } from '../../core/keyless.ts'
import { maxIdLength } from '../../core/runs/field-reader.ts'
import type { Account } from '../../storage/accounts.ts'
import { admitAccount, admitAddress, type Caller } from './admission.ts'
import type { Keyed, Service } from './context.ts'
import type { AddressLimit, Call, Operation } from './declaration.ts'
import { admitState, keylessEmbeddings } from './keyless-limits.ts'
import { Refusal } from './refusal.ts'

/** The caller of a tool. */
export interface ToolCaller extends Pick<Call, 'address' | 'credential' | 'headers' | 'gone'> {
  /** The session token of the connection, with a verified signature; null without one. */
  readonly session: string | null
}

/** The hints about a tool for a model and its host. */
export interface ToolHints {
  /** The tool changes nothing. */
  readOnlyHint: boolean
  /** The tool may delete stored state. */
  destructiveHint: boolean
  /** A repeated call with the same arguments changes nothing more. */
  idempotentHint: boolean
  /** The tool sends requests to other servers. */
  openWorldHint: boolean
}

/** The declaration of a tool, without its work. TypeScript infers the types of the work from it. */
export interface ToolDeclaration<Input, Output, Sent = unknown> {
  /** The stable name. */
  name: string
  title: string
  /** The purpose of the tool and the moment to call it, written for a model. */
  description: string
  hints?: Partial<ToolHints>
  /** Whether a call stores its arguments. Without a key they count against a daily limit. */
  stores?: true
  /** The arguments besides `key` and `session`, which every tool has. */
  input: z.ZodObject & z.ZodType<Input, Sent>
  output: z.ZodObject & z.ZodType<Output>
}

/** A tool of `/mcp`: plain data and one function. The function throws a `Refusal` to refuse a call. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly hints: ToolHints
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  /** Whether the tool needs a key. Such a tool does not work offline. */
  readonly needsKey: boolean
  answer(service: Service, caller: ToolCaller, sent: unknown): Promise<Record<string, unknown>>
}

/**
 * The owner of a call's state. With a key it is the account. Without one it is the caller, known by its
 * session or its address. If the server knows neither, it is nobody, and the server keeps no state.
 */
export type Owner = 'account' | 'caller' | 'nobody'

/** The context of a tool: the service, the owner of the state, and the run of the session. */
export interface ToolContext extends Keyed {
  readonly owner: Owner
  readonly caller: ToolCaller
  /** The id of the run that `session` names. */
  readonly runId: string
}

/** The field `note` of an answer whose caller has no stored state. */
export const noStateField = z
  .string()
  .optional()
  .describe(
    'Present only if the server keeps no state for this caller: the reason, and how to change that.',
  )

/** The note that the server keeps no state for this caller, to spread into an answer; {} if it does. */
export function noStateNote({ owner }: Pick<ToolContext, 'owner'>): { note?: string } {
  return owner === 'nobody' ? { note: noState } : {}
}

const noState =
  'The server keeps nothing of this task, because it cannot tell you from other callers. It judges every call as a first one. To change that, send a key (Authorization: Bearer KEY, or the argument key), send the mcp-session-id that initialize answers, or call through a proxy that names your address in the header this server reads.'

/** The daily limit of tool calls without a key for each address. */
export const toolLimit: AddressLimit = {
  counter: 'tools',
  setting: 'PLUMBLINE_TOOLS_PER_DAY',
  perDay: ({ toolsPerDay }) => toolsPerDay,
}

const defaultSession = 'default'
const ownSessionLength = 22
const prefix = 'mcp:'
/** The retention of state without a key. */
const keylessRetentionDays = 1

const commonArguments = {
  key: z
    .string()
    .optional()
    .describe('A key of the account. Leave it out if the connection sends one.'),
  session: z
    .string()
    .min(1)
    .max(maxIdLength - prefix.length)
    .optional()
    .describe(
      'The name of the task: one word of your own. Name it if you have several tasks, or to continue one over a new connection. Without it the task is that of this connection, or `default` if the connection has no session id.',
    ),
}

const noHints: ToolHints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
}

/**
 * A tool with its own gate. A call with a key counts against the quota of the account, a call without one
 * against the daily limit of the address. The gate then checks the arguments and calls the work.
 */
export function tool<Input, Output, Sent>(declaration: ToolDeclaration<Input, Output, Sent>) {
  const { hints, input, output, stores, ...about } = declaration
  const allArguments = input.extend(commonArguments)
  const allHints = { ...noHints, ...hints }
  return (work: (context: ToolContext, input: Input) => Promise<Output> | Output): Tool => ({
    ...about,
    hints: allHints,
    input: allArguments,
    output,
    needsKey: false,
    async answer(service, caller, sent) {
      const credential = credentialOf(caller, keyOf(sent).key)
      const admitted = await admit(service, { ...caller, credential }, allHints.readOnlyHint)
      const { rest } = keyOf(parseArguments(allArguments, sent))
      const { session = ownSession(service, admitted.owner, caller), ...given } = rest as {
        session?: string
      }
      if (stores && admitted.owner === 'caller') await admitState(service, given)
      const context: ToolContext = {
        ...service,
        ...admitted,
        embeddings: admitted.owner === 'account' ? service.embeddings : keylessEmbeddings(service),
        gone: caller.gone,
        caller,
        runId: `${prefix}${session}`,
      }
      const answer = await work(context, given as Input)
      return (service.checkAnswers ? output.parse(answer) : answer) as Record<string, unknown>
    },
  })
}

/**
 * The task of a call that names none. With a key it is the connection's own, so that two connections of an
 * account share no ground; without one the owner is already the connection. A client of the revision that
 * has no session tokens cannot be told from another with the same key, and shares one task.
 */
function ownSession(service: Service, owner: Owner, { session }: ToolCaller): string {
  if (owner !== 'account' || session === null) return defaultSession
  return service.hash(`session ${session}`).slice(0, ownSessionLength)
}

/** A tool that calls an operation through the operation's own gate. */
export function operationTool<Input, Sent>(
  declaration: Omit<ToolDeclaration<Input, unknown, Sent>, 'output' | 'stores'>,
  operation: Pick<Operation, 'http' | 'access' | 'answer' | 'output'>,
): Tool {
  const { hints, input, ...about } = declaration
  return {
    ...about,
    hints: { ...noHints, ...hints },
    input: input.extend({ key: commonArguments.key }),
    output: operation.output as z.ZodObject,
    needsKey: operation.access === 'keyed',
    async answer(service, caller, sent) {
      const { key, rest } = keyOf(sent)
      const { method } = operation.http
      const { body } = await operation.answer(service, {
        ...caller,
        method,
        credential: credentialOf(caller, key),
        idempotencyKey: undefined,
        query: method === 'POST' ? {} : parametersOf(rest),
        contentType: 'application/json',
        readBody: async () => bodyOf(rest),
      })
      return body as Record<string, unknown>
    },
  }
}

/** Finds the owner of the call's state and counts the call. */
async function admit(
  service: Service,
  caller: ToolCaller,
  reads: boolean,
): Promise<Pick<Keyed, 'account' | 'tier' | 'session' | 'stands'> & { owner: Owner }> {
  const call: Caller = { ...caller, method: reads ? 'GET' : 'POST' }
  if (caller.credential !== undefined) {
    const { account, tier, session, stands } = await admitAccount(service, call, {})
    return { account, tier, session, stands, owner: 'account' }
  }
  await admitAddress(service, call, toolLimit)
  const { address, session } = caller
  // No caller can claim the state of another: session tokens are random, and no caller chooses its address.
  const identity = session === null ? `address ${address}` : `session ${session}`
  const owner = session === null && address === unknownAddress ? 'nobody' : 'caller'
  const id = `${keylessPrefix}${service.hash(identity)}`
  const account: Account = { id, tier: 'ground', email: null }
  const tier = tierNamed(service.settings.tiers, 'ground')
  const kept = { ...tier, retention_days: keylessRetentionDays }
  return { account, tier: kept, session: null, stands: async () => true, owner }
}

function parseArguments(schema: z.ZodObject, sent: unknown): unknown {
  const read = schema.safeParse(sent ?? {})
  if (read.success) return read.data
  const detail = read.error.issues
    .map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`)
    .join('; ')
  throw new Refusal(400, 'bad_request', { detail })
}

/** Separates the argument `key` from the others, so that no tool stores or echoes it. */
function keyOf(sent: unknown): { key: string | undefined; rest: Record<string, unknown> } {
  const { key, ...rest } = (typeof sent === 'object' && sent !== null ? sent : {}) as Record<
    string,
    unknown
  >
  return { key: typeof key === 'string' && key !== '' ? key : undefined, rest }
}

/** Prefers the key of the connection to the argument, unless the connection's is empty. */
function credentialOf(
  { credential }: Pick<ToolCaller, 'credential'>,
  key: string | undefined,
): string | undefined {
  return credential ? credential : (key ?? credential)
}

/** Writes arguments as the body of a request. */
function bodyOf(given: Record<string, unknown>): string {
  try {
    return JSON.stringify(given)
  } catch {
    // The arguments were parsed from JSON, so only their depth can make this fail.
    throw new Refusal(400, 'bad_request', {
      detail: 'The arguments are nested too deep; send them as the input schema says.',
    })
  }
}

/** Passes arguments as URL parameters. The operation refuses those that are not texts. */
function parametersOf(given: Record<string, unknown>): Record<string, string> {
  const named = Object.entries(given).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(named) as Record<string, string>
}
