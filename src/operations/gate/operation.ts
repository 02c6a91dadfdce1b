import type { z } from 'zod'
import { parseJson } from '../../core/text.ts'
import { admitAccount, admitAddress, admitAdmin } from './admission.ts'
import type { Changed, Keyed, Service } from './context.ts'
import type {
  AddressLimit,
  Answer,
  Call,
  Declaration,
  KeyedDeclaration,
  Operation,
  Outside,
  Received,
} from './declaration.ts'
import { replayable, settled } from './idempotency.ts'
import { Refusal } from './refusal.ts'
import {
  adminRefusal,
  keyRefusal,
  paidRefusal,
  rateLimitRefusal,
  replayRefusal,
} from './refusals.ts'

/** The work of an operation, once everything else has been seen to. */
type Work<Context, Input, Output> = (
  context: Context,
  input: Input,
) => Promise<Output | Outside<Output>>

/** An operation that anyone may ask, uncounted. */
export function open<Input, Output, Sent>(declaration: Declaration<Input, Output, Sent>) {
  return (work: Work<Service, Input, Output>): Operation<Input, Output, Sent> => ({
    ...declaration,
    access: 'open',
    answer: async (service, call) => {
      const read = await readSent(declaration, call)
      return settled(await perform(declaration, work, service, service, read), service.store)
    },
  })
}

/** An operation that needs no key and counts each caller's address against a daily limit. */
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
      const read = await readSent(declaration, call)
      return settled(await perform(declaration, work, service, service, read), service.store)
    },
  })
}

/**
 * An operation of an account: key, tier, daily quota, then the body, the input and the work. A POST
 * with an idempotency key is worked once and answered with the same bytes for 24 hours.
 */
export function keyed<Input, Output, Sent>(declaration: KeyedDeclaration<Input, Output, Sent>) {
  return (work: Work<Keyed, Input, Output>): Operation<Input, Output, Sent> => ({
    ...declaration,
    access: 'keyed',
    refusals: [
      ...(declaration.refusals ?? []),
      keyRefusal,
      ...(declaration.paid === undefined ? [] : [paidRefusal]),
      ...(declaration.unmetered ? [] : [rateLimitRefusal]),
      ...(declaration.http.method === 'POST' ? [replayRefusal] : []),
    ],
    async answer(service, call) {
      const admitted = await admitAccount(service, call, declaration)
      try {
        const read = await readSent(declaration, call)
        await declaration.ahead?.({ ...service, ...admitted, gone: call.gone }, read.sent)
        const account = admitted.account.id
        const answer = await replayable(service, call, account, declaration, read, (store) => {
          const context = { ...service, ...admitted, gone: call.gone, store }
          return perform(declaration, work, context, service, read)
        })
        const { changed } = answer
        if (changed !== undefined) {
          noteChange(service, call, declaration.name, { account, ...changed })
        }
        return answer
      } catch (error) {
        if (error instanceof Refusal && uncounted.includes(error.status)) await admitted.uncount()
        throw error
      }
    },
  })
}

/**
 * An operation of the operator. Its routes exist only while a credential is set, and are
 * described apart from the public ones. A POST is replayed as on keyed routes.
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
      const read = await readSent(declaration, call)
      const answer = await replayable(service, call, 'admin', declaration, read, (store) =>
        perform(declaration, work, { ...service, store }, service, read),
      )
      if (answer.changed !== undefined) {
        noteChange(service, call, declaration.name, answer.changed)
      }
      return answer
    },
  })
}

/** Tells the log of a change, once it is committed. */
function noteChange(
  service: Service,
  { headers, address }: Call,
  action: string,
  changed: Changed,
): void {
  service.noteChange({ action, request_id: headers['x-request-id'], address, ...changed })
}

/** Refusals of the work that leave the daily quota alone. */
const uncounted = [402, 404, 429]

const defaultMaxBodyBytes = 256 * 1024

/** Reads the body and the parameters of a call. */
async function readSent(
  {
    http,
    maxBodyBytes = defaultMaxBodyBytes,
    read,
  }: Pick<Operation, 'http' | 'maxBodyBytes' | 'read'>,
  call: Call,
): Promise<Received> {
  const body = http.method === 'POST' ? await call.readBody(maxBodyBytes) : ''
  // Nothing sent is no field sent: where all of them are optional, a POST needs no body.
  const json = () => (body === '' ? {} : parseJson(body))
  const special = read === undefined ? undefined : await read(body, call)
  return { body, sent: special ?? (http.method === 'POST' ? json() : call.query) }
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

/** Whether something is left to do outside; no answer holds a function. */
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
