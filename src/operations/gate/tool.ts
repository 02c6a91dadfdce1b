import { z } from 'zod'
import { type Tier, tierNamed } from '../../core/accounts/tiers.ts'
import { unknownAddress } from '../../core/address.ts'
import { keylessPrefix } from '../../core/keyless.ts'
import { maxIdLength } from '../../core/runs/drift.ts'
import type { Account } from '../../storage/accounts.ts'
import { admitAccount, admitAddress, type Caller } from './admission.ts'
import type { Keyed, Service } from './context.ts'
import type { AddressLimit, Call, Operation } from './declaration.ts'
import { admitState, keylessEmbeddings } from './keyless.ts'
import { Refusal } from './refusal.ts'

/** Who calls a tool, as the tool endpoint sees it. */
export interface ToolCaller extends Pick<Call, 'address' | 'credential' | 'headers' | 'gone'> {
  /** The session token the connection sent, once its signature was checked; null without one. */
  readonly session: string | null
}

/** What hints a model and its host get about a tool. */
export interface ToolHints {
  /** It changes nothing. */
  readOnlyHint: boolean
  /** It may erase what is there. */
  destructiveHint: boolean
  /** Called twice with the same arguments it does no more than once. */
  idempotentHint: boolean
  /** It reaches out beyond this service. */
  openWorldHint: boolean
}

/** What a tool declares; the work is given separately, so that its input is typed. */
export interface ToolDeclaration<Input, Output, Sent = unknown> {
  /** Stable name. */
  name: string
  title: string
  /** What it does and when to call it, so that a model can act on it. */
  description: string
  hints?: Partial<ToolHints>
  /** Whether a call stores what it is given; without a key that counts towards the day's ceiling. */
  stores?: true
  /** Besides `key` and `session`, which every tool takes. */
  input: z.ZodObject & z.ZodType<Input, Sent>
  output: z.ZodObject & z.ZodType<Output>
}

/** A tool of `/mcp`: plain data and one function, which throws a Refusal for any other answer. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly hints: ToolHints
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  /** Whether it needs a key, and so does not work offline. */
  readonly needsKey: boolean
  answer(service: Service, caller: ToolCaller, sent: unknown): Promise<Record<string, unknown>>
}

/**
 * Whose the state of a call is: an account's; a session's or an address's, where the caller sent no
 * key; or nobody's, where nothing tells the caller from others. For nobody no state is kept.
 */
export type Owner = 'account' | 'caller' | 'nobody'

/** What a tool works with: the service, whose state it is, and the run of the session. */
export interface ToolContext extends Keyed {
  readonly owner: Owner
  readonly caller: ToolCaller
  /** The run that `session` names. */
  readonly runId: string
}

/** What a tool says of state that is not kept. */
export const keptField = z
  .string()
  .optional()
  .describe(
    'Present only if the server keeps no state for this caller: the reason, and how to change that.',
  )

/** That nothing is kept, where the state of a call is nobody’s; spread into the answer of a tool. */
export function keptNote({ owner }: Pick<ToolContext, 'owner'>): { note?: string } {
  return owner === 'nobody' ? { note: nothingKept } : {}
}

const nothingKept =
  'The server keeps nothing of this task, because it cannot tell you from other callers. It judges every call as a first one. To change that, send a key (Authorization: Bearer KEY, or the argument key), send the mcp-session-id that initialize answers, or call through a proxy that names your address in the header this server reads.'

/** Keyless tool calls an address may make a day. */
export const toolLimit: AddressLimit = {
  counter: 'tools',
  setting: 'PLUMBLINE_TOOLS_PER_DAY',
  perDay: ({ toolsPerDay }) => toolsPerDay,
}

const defaultSession = 'default'
const prefix = 'mcp:'
/** State without a key is kept for a day. */
const keylessRetentionDays = 1

const everyTool = {
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
      'The name of the task if you have several: one word of your own. Defaults to `default`.',
    ),
}

const noHints: ToolHints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
}

/**
 * A tool with a gate of its own: with a key it is the account's and counts in its quota, without one
 * it counts in the daily bucket of the caller's address; then the input, then the work.
 */
export function tool<Input, Output, Sent>(declaration: ToolDeclaration<Input, Output, Sent>) {
  const { hints, input, output, stores, ...about } = declaration
  const whole = input.extend(everyTool)
  const told = { ...noHints, ...hints }
  return (work: (context: ToolContext, input: Input) => Promise<Output> | Output): Tool => ({
    ...about,
    hints: told,
    input: whole,
    output,
    needsKey: false,
    async answer(service, caller, sent) {
      const credential = credentialOf(caller, keyOf(sent).key)
      const admitted = await admit(service, { ...caller, credential }, told.readOnlyHint)
      const { rest } = keyOf(parsed(whole, sent))
      const { session = defaultSession, ...given } = rest as { session?: string }
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

/** A tool that asks an operation, through that operation's own gate. */
export function operationTool<Input, Sent>(
  declaration: Omit<ToolDeclaration<Input, unknown, Sent>, 'output' | 'stores'>,
  operation: Pick<Operation, 'http' | 'access' | 'answer' | 'output'>,
): Tool {
  const { hints, input, ...about } = declaration
  return {
    ...about,
    hints: { ...noHints, ...hints },
    input: input.extend({ key: everyTool.key }),
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

/** Tells whose state a call is about, and counts it. */
async function admit(
  service: Service,
  caller: ToolCaller,
  reads: boolean,
): Promise<{ account: Account; tier: Tier; owner: Owner }> {
  const call: Caller = { ...caller, method: reads ? 'GET' : 'POST' }
  if (caller.credential !== undefined) {
    const { account, tier } = await admitAccount(service, call, {})
    return { account, tier, owner: 'account' }
  }
  await admitAddress(service, call, toolLimit)
  const { address, session } = caller
  // A session token is random and an address cannot be chosen, so neither can be guessed by a name.
  const whose = session === null ? `address ${address}` : `session ${session}`
  const owner = session === null && address === unknownAddress ? 'nobody' : 'caller'
  const id = `${keylessPrefix}${service.hash(whose)}`
  const account: Account = { id, tier: 'ground', email: null }
  const tier = tierNamed(service.settings.tiers, 'ground')
  return { account, tier: { ...tier, retention_days: keylessRetentionDays }, owner }
}

function parsed(schema: z.ZodObject, sent: unknown): unknown {
  const read = schema.safeParse(sent ?? {})
  if (read.success) return read.data
  const detail = read.error.issues
    .map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`)
    .join('; ')
  throw new Refusal(400, 'bad_request', { detail })
}

/** The argument `key` apart from the others, so that it is neither stored nor echoed. */
function keyOf(sent: unknown): { key: string | undefined; rest: Record<string, unknown> } {
  const { key, ...rest } = (typeof sent === 'object' && sent !== null ? sent : {}) as Record<
    string,
    unknown
  >
  return { key: typeof key === 'string' && key !== '' ? key : undefined, rest }
}

/** The connection's key goes first; one that is none leaves room for the argument. */
function credentialOf(
  { credential }: Pick<ToolCaller, 'credential'>,
  key: string | undefined,
): string | undefined {
  return credential ? credential : (key ?? credential)
}

/** Arguments as the body of a request. */
function bodyOf(given: Record<string, unknown>): string {
  try {
    return JSON.stringify(given)
  } catch {
    // They were JSON once, so they can only be too deep.
    throw new Refusal(400, 'bad_request', {
      detail: 'The arguments are nested too deep; send them as the input schema says.',
    })
  }
}

/** Arguments as parameters of an address; what is no text is left to the operation to refuse. */
function parametersOf(given: Record<string, unknown>): Record<string, string> {
  const named = Object.entries(given).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(named) as Record<string, string>
}
