import { z } from 'zod'
import {
  type Modulation,
  modulate,
  presets,
  type Role,
  readStyle,
} from '../../core/runs/modulation.ts'
import { readDrift } from '../../core/runs/step-request.ts'
import type { Store } from '../../storage/store.ts'
import type { Keyed } from '../gate/context.ts'
import { badRequest } from '../gate/declaration.ts'
import { idField } from '../gate/fields.ts'
import { lenient } from '../gate/lenient.ts'
import { keyed } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'
import { driftAnswer, driftBody, type judgeFirst, logRequest, readableSteps } from './drift.ts'
import { learnAhead } from './learn-ahead.ts'
import { findTemplate } from './templates.ts'

/** The run of a step without a `run_id`. */
const defaultRunId = 'modulate'

/** The policy of a role applied to a verdict. */
export const modulationSchema = z
  .strictObject({
    return: z.boolean().describe('Whether the agent should return to the ground now.'),
    advice: z.string(),
    basis: z
      .enum(['deep', 'balanced', 'tight', 'modes', 'unstyled'])
      .describe(
        'The basis of the decision: the depth of the role, its own modes, or no team at all.',
      ),
    team: z.string().nullable(),
    role: z.string().nullable(),
  })
  .meta({ id: 'Modulation' })

/** The fields that name a role of a team. */
export const styleFields = {
  team: z.string().optional().describe('The name of a recursion-team template.'),
  role: z.string().optional().describe('A role of that team.'),
}

/** A verdict with the policy of a role applied to it. */
export const modulateAnswer = driftAnswer
  .extend({ modulation: modulationSchema })
  .meta({ id: 'ModulateAnswer' })

/** Logs a step and applies the policy of a role to its verdict. */
export const modulateStep = keyed(
  {
    name: 'modulate.log',
    group: 'detector',
    summary: 'Log one step of a run and get its verdict with the return policy of a role.',
    description:
      'The server logs the step as POST /v1/drift does, and reads the other fields of that route too. A role acts on the first sign of one of its modes. Without a team every drift returns.',
    http: { method: 'POST', path: '/v1/modulate' },
    input: lenient(
      driftBody
        .extend({ run_id: idField().default(defaultRunId).optional(), ...styleFields })
        .meta({ id: 'ModulateStep' }),
    ),
    output: modulateAnswer,
    refusals: [badRequest],
    ahead: learnModulated,
  },
  { stepsOf: { field: 'run_id', unnamed: defaultRunId } },
)((context, body) => logModulated(context, body))

/** Fetches the embeddings that `logModulated` will look up; see `learnAhead`. */
export async function learnModulated(context: Keyed, body: unknown): Promise<void> {
  await learnAhead(context, () => readableSteps([withRunId(body)]))
}

/**
 * Reads a step from a body, logs it for the account of the context and applies the policy of the role; see
 * POST /v1/modulate. With `judgeFirst` as `log`, the step is judged and not stored.
 */
export async function logModulated(
  context: Keyed,
  body: unknown,
  log: typeof logRequest | typeof judgeFirst = logRequest,
): Promise<z.infer<typeof modulateAnswer>> {
  const fields = fieldsOf(body)
  const request = readDrift(withRunId(body))
  const style = await findStyle(context.store, context.account.id, fields ?? {})
  const faults = [request, style].flatMap((read) =>
    read !== null && 'fault' in read ? [read.fault] : [],
  )
  if ('fault' in request || (style !== null && 'fault' in style)) {
    throw new Refusal(400, 'bad_request', { detail: faults.join('; ') })
  }
  const result = await log(context, request)
  return { ...result, modulation: modulate(result, style) }
}

/**
 * Returns the function that applies the policy of a body's `team` and `role` to a verdict. Returns undefined
 * if the body names neither. The function returns null if the team or role is unknown.
 */
export async function modulationOf(
  store: Store,
  account: string,
  body: unknown,
): Promise<((verdict: { reason: string; drifting: boolean }) => Modulation | null) | undefined> {
  const fields = fieldsOf(body) ?? {}
  const { team, role } = readStyle(fields)
  if (team === null && role === null) return undefined
  const style = await findStyle(store, account, fields)
  return (verdict) => (style !== null && 'fault' in style ? null : modulate(verdict, style))
}

/** Finds the role that the fields name. Returns null without a team, and a fault if team or role is unknown. */
async function findStyle(
  store: Store,
  account: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<{ team: string; role: Role } | null | { fault: string }> {
  const { team, role } = readStyle(fields)
  if (team === null) return null
  const template = await findTemplate(store, account, team)
  if (template === null) {
    const names = [...presets, ...(await store.templates.list(account))].map(({ name }) => name)
    return { fault: `team: send ${names.join(', ')}` }
  }
  const found = template.roles.find((each) => each.role === role)
  if (found !== undefined) return { team, role: found }
  return { fault: `role: send ${template.roles.map((each) => each.role).join(', ')}` }
}

function withRunId(body: unknown): unknown {
  const fields = fieldsOf(body)
  return fields === null ? body : { ...fields, run_id: fields.run_id ?? defaultRunId }
}

function fieldsOf(body: unknown): Record<string, unknown> | null {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
    ? (body as Record<string, unknown>)
    : null
}
