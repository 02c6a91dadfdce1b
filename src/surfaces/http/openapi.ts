import { z } from 'zod'
import type { DescribedRefusal, Operation } from '../../operations/gate/declaration.ts'
import { rateLimitRefusal } from '../../operations/gate/refusals.ts'
import { sessionCookie } from './browser.ts'

/** The version of the interface this service implements. */
export const interfaceVersion = '2026-08-27'

type Json = Record<string, unknown>

/** A route outside the operations, described by hand beside the code that serves it. */
export interface DescribedRoute {
  method: 'get' | 'post'
  path: string
  operationId: string
  tag: string
  summary: string
  description?: string
  /** Whether it takes the key of an account. */
  access: 'open' | 'keyed'
  parameters?: readonly Json[]
  body?: Json
  answers: Record<string, Json>
}

/** The body of a refusal of such a route. */
export const errorBody = {
  'application/json': {
    schema: {
      type: 'object',
      required: ['error'],
      properties: { error: { type: 'string' }, detail: { type: 'string' } },
    },
  },
}

/**
 * An OpenAPI 3.1 document for a service at `servers`: all operations except the administrative ones
 * (`public`), or only those (`admin`).
 */
export function describe(
  edition: keyof typeof editions,
  operations: readonly Operation[],
  routes: readonly DescribedRoute[],
  servers: readonly string[],
): Json {
  const { title, summary, tags, securitySchemes } = editions[edition]
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    if ((operation.access === 'admin') !== (edition === 'admin')) continue
    const path = paths[operation.http.path] ?? {}
    paths[operation.http.path] = path
    path[operation.http.method.toLowerCase()] = describeOperation(operation, schemas)
  }
  for (const { method, path, tag, access, body, answers, ...told } of routes) {
    paths[path] = {
      [method]: {
        ...told,
        tags: [tag],
        // Routes outside the operations take no cookie.
        security: access === 'keyed' ? withKey : [],
        ...(body === undefined ? {} : { requestBody: body }),
        responses: answers,
      },
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: interfaceVersion,
      summary,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: servers.map((url) => ({ url })),
    tags: tags.map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas, headers: commonHeaders, securitySchemes },
  }
}

const editions = {
  public: {
    title: 'Plumbline',
    summary: 'Tells an AI agent, its people and its tools whether it is still on its errand.',
    tags: [
      ['detector', 'Tells whether a goal still belongs to the errand of the ground.'],
      ['account', 'Keys, tiers and the description of the interface.'],
      ['operating', 'Alerts and digests.'],
      ['team', 'Seats and the fleet.'],
      ['field', 'The shared signal field.'],
      ['process', 'Health and metrics for the operator.'],
    ],
    securitySchemes: {
      key: { type: 'http', scheme: 'bearer', description: 'A key of an account.' },
      keyParameter: {
        type: 'apiKey',
        in: 'query',
        name: 'key',
        description: 'The same key. Prefer the header, because logs contain addresses.',
      },
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: sessionCookie,
        description:
          'The session of a browser, from POST /v1/session; plumbline_session over plain HTTP. Changes also send x-plumbline-csrf.',
      },
    },
  },
  admin: {
    title: 'Plumbline administration',
    summary: 'Accounts, their keys and their tiers, for the operator.',
    tags: [['admin', 'Accounts, keys and tiers.']],
    securitySchemes: {
      admin: { type: 'http', scheme: 'bearer', description: 'The value of PLUMBLINE_ADMIN_TOKEN.' },
    },
  },
} as const

const header = (description: string, schema: Json = { type: 'string' }) => ({ description, schema })

const commonHeaders: Record<string, Json> = {
  deprecation: header('Always `true`.', { type: 'string', const: 'true' }),
  link: header('Relation `deprecation` points to the migration page.'),
  'x-request-id': header('The id of this answer in the server’s log.'),
  'x-ratelimit-limit': header('Calls allowed per day.', { type: 'integer' }),
  'x-ratelimit-remaining': header('Calls left today.', { type: 'integer' }),
  'x-ratelimit-reset': header('Seconds until the count restarts.', { type: 'integer' }),
  'retry-after': header('Seconds to wait.', { type: 'integer' }),
}

const withKey = [{ key: [] }, { keyParameter: [] }]

const securityOf = {
  open: [],
  keyed: [...withKey, { session: [] }],
  admin: [{ admin: [] }],
} as const satisfies Record<Operation['access'], readonly Json[]>

const headersOf = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const onEveryAnswer = ['deprecation', 'link', 'x-request-id']
const onCountedAnswers = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

function describeOperation(operation: Operation, schemas: Json): Json {
  const counted = operation.refusals?.includes(rateLimitRefusal) ?? false
  const headers = headersOf(...onEveryAnswer, ...(counted ? onCountedAnswers : []))
  const good = {
    description: 'The answer.',
    headers,
    content: {
      [operation.streams ?? 'application/json']: {
        schema: schemaOf(operation.output, 'output', schemas),
      },
    },
  }
  const own = operation.refusals ?? []
  const refusals = [
    ...own,
    ...everywhere.filter(({ status }) => own.every((refusal) => refusal.status !== status)),
  ]
  // An operation that only refuses has no good answer.
  const responses: Record<string, Json> =
    operation.output instanceof z.ZodNever ? {} : { [operation.status ?? 200]: good }
  for (const status of new Set(refusals.map((refusal) => refusal.status))) {
    const alike = refusals.filter((refusal) => refusal.status === status)
    responses[status] = describeRefusals(status, alike, headers)
  }
  return {
    operationId: operation.name,
    tags: [operation.group],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    security: securityOf[operation.access],
    ...describeInput(operation, schemas),
    responses,
  }
}

/** A POST or PUT takes a body when it reads anything, everything else parameters of the address. */
function describeInput({ http, input, access }: Operation, schemas: Json): Json {
  const schema = schemaOf(input, 'input', schemas)
  const idempotency =
    http.method === 'POST' && access !== 'open' ? { parameters: [idempotencyParameter] } : {}
  if (http.method === 'POST' || http.method === 'PUT') {
    if (readsNothing(schema)) return idempotency
    return {
      ...idempotency,
      requestBody: { required: true, content: { 'application/json': { schema } } },
    }
  }
  const { properties = {}, required = [] } = schema as { properties?: Json; required?: string[] }
  const parameters = Object.entries(properties).map(([name, each]) => {
    const { description, ...rest } = each as Json
    return { name, in: 'query', required: required.includes(name), description, schema: rest }
  })
  return parameters.length === 0 ? {} : { parameters }
}

function readsNothing({ type: _, properties = {}, ...rest }: Json): boolean {
  return Object.keys({ ...rest, ...(properties as Json) }).length === 0
}

const idempotencyParameter = {
  name: 'idempotency-key',
  in: 'header',
  required: false,
  description:
    'Within 24 hours the same key and body get the same bytes, and the server does nothing twice.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

/** Refusals that any operation can answer. */
const everywhere: readonly DescribedRefusal[] = [
  {
    status: 413,
    words: ['payload_too_large'],
    when: 'The body is larger than 256 KiB.',
    fields: { detail: z.string() },
  },
  {
    status: 500,
    words: ['internal'],
    when: 'A fault of the server; its log names the request id.',
    fields: { detail: z.string(), request_id: z.string() },
  },
  {
    status: 503,
    words: ['unavailable'],
    when: 'The database cannot be reached or written.',
    fields: { detail: z.string(), retry_after_s: z.int() },
  },
]

function describeRefusals(
  status: number,
  refusals: readonly DescribedRefusal[],
  headers: Json,
): Json {
  const bodies = refusals.map(({ words, fields }) =>
    z.object({ error: z.enum(words as [string, ...string[]]), ...fields }),
  )
  const [first, ...more] = bodies
  const body = first === undefined || more.length > 0 ? z.union(bodies) : first
  const retry = status === 429 || status === 503 ? headersOf('retry-after') : {}
  return {
    description: refusals.map(({ when }) => when).join(' Or: '),
    headers: { ...headers, ...retry },
    content: { 'application/json': { schema: schemaOf(body, 'output', {}) } },
  }
}

/** The JSON Schema of a zod schema; named parts go to the document's components. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const { $defs, $schema, ...rest } = z.toJSONSchema(schema, {
    io,
    // Answers may gain fields, so a client must not refuse one it does not know.
    override: ({ jsonSchema }) => {
      delete jsonSchema.additionalProperties
    },
  }) as Json & { $defs?: Json }
  const named = typeof rest.id === 'string' ? { [rest.id]: rest } : {}
  for (const [name, part] of Object.entries({ ...$defs, ...named })) {
    const { id, $schema: _, ...plain } = part as Json
    components[name] = withComponentRefs(plain)
  }
  return typeof rest.id === 'string'
    ? { $ref: `#/components/schemas/${rest.id}` }
    : (withComponentRefs(rest) as Json)
}

function withComponentRefs(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'))
}
