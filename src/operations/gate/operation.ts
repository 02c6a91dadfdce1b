import type { z } from 'zod'
import { parseJson } from '../../core/text.ts'
import { admitAccount, admitAddress, admitAdmin } from './admission.ts'
import type { Changed, Keyed, Service } from './context.ts'
import {
  type AddressLimit,
  type Answer,
  type Call,
  type Declaration,
  type KeyedDeclaration,
  maxBodyBytes,
  type Operation,
  type Outside,
  type ReadRequest,
  type Repeats,
  type Visit,
} from './declaration.ts'
import { replayable, settled } from './idempotency.ts'
import { Refusal } from './refusal.ts'
import {
  adminRefusal,
  csrfRefusal,
  keyRefusal,
  paidRefusal,
  rateLimitRefusal,
  replayRefusal,
  scopeRefusal,
} from './refusals.ts'

/** The work of an operation. The gate calls it last. */
type Work<Context, Input, Output> = (
  context: Context,
  input: Input,
) => Promise<Output | Outside<Output>>

/** An operation without a key and without a limit. */
export function open<Input, Output, Sent>(declaration: Declaration<Input, Output, Sent>) {
  return (work: Work<Visit, Input, Output>): Operation<Input, Output, Sent> => ({
    ...declaration,
    access: 'open',
    answer: async (service, call) => {
      const read = await readRequest(declaration, call)
      const context = { ...service, call }
      return settled(await perform(declaration, work, context, service, read), service.store)
    },
  })
}

/** An operation without a key, with a daily limit for each address. */
export function perAddress<Input, Output, Sent>(
  limit: AddressLimit,
  declaration: Declaration<Input, Output, Sent>,
) {
  return (work: Work<Service, Input, Output>): Operation<Input, Output, Sent> => ({
    ...declaration,
    access: 'open',
    refusals: [...(declaration.refusals ?? []), rateLimitRefusal],
    async answer(service, call) {
      await admitAddress(service, call, limit)
      const read = await readRequest(declaration, call)
      return settled(await perform(declaration, work, service, service, read), service.store)
    },
  })
}

/**
 * An operation of an account. The gate checks key, tier and daily quota before it reads the body. The
 * work of a POST with an idempotency key runs once; for 24 hours a repeated request gets the same bytes.
 */
export function keyed<Input, Output, Sent>(
  declaration: KeyedDeclaration<Input, Output, Sent>,
  repeats: Repeats = {},
) {
  const operation = { ...declaration, ...repeats }
  return (work: Work<Keyed, Input, Output>): Operation<Input, Output, Sent> => ({
    ...declaration,
    access: 'keyed',
    refusals: [
      ...(declaration.refusals ?? []),
      keyRefusal,
      scopeRefusal,
      ...(declaration.http.method === 'GET' ? [] : [csrfRefusal]),
      ...(declaration.paid === undefined ? [] : [paidRefusal]),
      ...(declaration.unmetered ? [] : [rateLimitRefusal]),
      ...(declaration.http.method === 'POST' ? [replayRefusal] : []),
    ],
    async answer(service, call) {
      const admitted = await admitAccount(service, call, declaration)
      try {
        const read = await readRequest(declaration, call)
        await declaration.ahead?.({ ...service, ...admitted, gone: call.gone }, read.sent)
        const account = admitted.account.id
        const answer = await replayable(service, call, account, operation, read, (store) => {
          const context = { ...service, ...admitted, gone: call.gone, store }
          return perform(declaration, work, context, service, read)
        })
        const { changed } = answer
        if (changed !== undefined) {
          logChange(service, call, declaration.name, { account, ...changed })
        }
        return answer
      } catch (error) {
        if (error instanceof Refusal && refunded.includes(error.status)) await admitted.refund()
        throw error
      }
    },
  })
}

/**
 * An operation for the operator. Its route exists only if the admin token is set, and the description
 * lists it apart from the public ones. Idempotency keys work as on keyed routes.
 */
export function admin<Input, Output, Sent>(declaration: Declaration<Input, Output, Sent>) {
  return (work: Work<Service, Input, Output>): Operation<Input, Output, Sent> => ({
    ...declaration,
    access: 'admin',
    refusals: [
      ...(declaration.refusals ?? []),
      adminRefusal,
      ...(declaration.http.method === 'POST' ? [replayRefusal] : []),
    ],
    async answer(service, call) {
      admitAdmin(service, call)
      const read = await readRequest(declaration, call)
      const answer = await replayable(service, call, 'admin', declaration, read, (store) =>
        perform(declaration, work, { ...service, store }, service, read),
      )
      if (answer.changed !== undefined) {
        logChange(service, call, declaration.name, answer.changed)
      }
      return answer
    },
  })
}

/** Logs a change. To be called after its commit. */
function logChange(
  service: Service,
  { headers, address }: Call,
  action: string,
  changed: Changed,
): void {
  service.logChange({ action, request_id: headers['x-request-id'], address, ...changed })
}

/** The statuses of refusals that do not count against the daily quota. */
const refunded = [402, 404, 429]

/** Reads a request: the JSON body of a POST or PUT, otherwise the parameters, unless the operation has its own `read`. */
async function readRequest(
  { http, read }: Pick<Operation, 'http' | 'read'>,
  call: Call,
): Promise<ReadRequest> {
  if (read !== undefined) return read(call)
  if (http.method !== 'POST' && http.method !== 'PUT') return { body: '', sent: call.query }
  const body = await call.readBody(maxBodyBytes)
  // An empty body has no fields: a POST whose fields are all optional needs no body.
  return { body, sent: body === '' ? {} : parseJson(body) }
}

async function perform<Context, Input, Output, Sent>(
  declaration: Declaration<Input, Output, Sent>,
  work: Work<Context, Input, Output>,
  context: Context,
  { checkAnswers }: Service,
  { sent }: { sent: unknown },
): Promise<Answer | Outside<Answer>> {
  const input = declaration.input.safeParse(sent)
  if (!input.success) throw new Refusal(400, 'bad_request', { detail: faultOf(input.error) })
  const { changes } = declaration
  const answer = (output: Output): Answer => ({
    status: declaration.status ?? 200,
    body: checkAnswers ? declaration.output.parse(output) : output,
    ...(changes === undefined ? {} : { changed: changes(output, input.data) }),
  })
  const worked = await work(context, input.data)
  if (!isOutside(worked)) return answer(worked)
  return { outside: async (store) => answer(await worked.outside(store)) }
}

/** Whether the work has a part outside of transactions. No answer holds a function, so this is certain. */
function isOutside<Output>(worked: Output | Outside<Output>): worked is Outside<Output> {
  if (typeof worked !== 'object' || worked === null || !('outside' in worked)) return false
  return typeof worked.outside === 'function'
}

function faultOf(error: z.ZodError): string {
  return error.issues
    .map(({ path, message, code }) => {
      if (path.length > 0) return `${path.join('.')}: ${message}`
      return `body: ${code === 'invalid_type' ? 'send a JSON object' : message}`
    })
    .join('; ')
}
