import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { PartialSuccess } from '../../core/telemetry/partial-success.ts'
import { statusOf } from '../../core/telemetry/status.ts'
import { partialSuccessWire, statusWire } from '../../core/telemetry/wire.ts'
import { parseJson } from '../../core/text.ts'
import type { Service } from '../../operations/gate/context.ts'
import { Refusal } from '../../operations/gate/refusal.ts'
import { reportTelemetry } from '../../operations/hosts/report-telemetry.ts'
import type { AddressSettings } from './address.ts'
import { jsonType } from './answer.ts'
import { readBinary } from './body.ts'
import { contentTypeOf, readCall } from './call.ts'
import type { DescribedRoute } from './openapi.ts'

/** The parts of the routes. */
export interface TelemetryRoutesParts {
  service: Service
  addresses: AddressSettings
}

/** The largest body, packed and unpacked. */
const maxBytes = 4 * 1024 * 1024
const wireType = 'application/x-protobuf'
const unpack = promisify(gunzip)

const kinds = ['traces', 'logs', 'metrics'] as const
/** The protocol puts its paths behind an address of the exporter's choice; some add them to the server's own. */
const prefixes = ['/v1', '/v1/otlp/v1'] as const

/** The body of a refusal. */
const errorBody = {
  'application/json': {
    schema: {
      type: 'object',
      required: ['error', 'code', 'message'],
      properties: {
        error: { type: 'string' },
        detail: { type: 'string' },
        code: { type: 'integer', description: 'Of google.rpc.Code.' },
        message: { type: 'string', description: 'Both texts in one, as the protocol has them.' },
      },
    },
  },
  [wireType]: {
    schema: { type: 'string', format: 'binary', description: 'A google.rpc.Status.' },
  },
}

/** The routes as the description shows them. */
export const telemetryRoutesDescribed: readonly DescribedRoute[] = prefixes.flatMap((prefix) =>
  kinds.map((kind) => describedAt(prefix, kind)),
)

function describedAt(prefix: string, kind: (typeof kinds)[number]): DescribedRoute {
  const what = { traces: 'spans', logs: 'log records', metrics: 'metrics' }[kind]
  return {
    method: 'post',
    path: `${prefix}/${kind}`,
    operationId: `telemetry.${kind}${prefix === '/v1' ? '' : '-otlp'}`,
    tag: 'detector',
    summary: `Take ${what} of an OpenTelemetry exporter.`,
    description:
      kind === 'metrics'
        ? 'The server stores nothing of them, so that an exporter of everything does not complain.'
        : 'OTLP over HTTP, as JSON or protocol buffers, also gzipped: the logs of Claude Code, Codex and Gemini CLI, spans of the first and the last of them, and spans by the conventions for generative AI, OpenInference, OpenLLMetry, LangSmith, Logfire and the AI SDK. Attributes `plumbline.goal`, `.ground`, `.plan`, `.progress`, `.distance`, `.user_turn` and `.agent_id` mean what the fields of `POST /v1/drift` mean, and win over what is derived. What is taken is durable before the answer. Log records are judged at once; spans wait 5 seconds for the rest of their trace. A step counts as one write.',
    access: 'keyed',
    body: {
      required: true,
      content: {
        'application/json': { schema: { type: 'object' } },
        [wireType]: { schema: { type: 'string', format: 'binary' } },
      },
    },
    answers: {
      200: {
        description:
          kind === 'metrics'
            ? 'Taken.'
            : `Taken, but for the ${what} that \`partialSuccess\` counts: those that cannot be read, and those in which an attribute of our own has no valid value. If all were taken, the answer is empty. What tells of other things than agents is passed over and not counted.`,
        content: {
          'application/json': { schema: answerSchema(kind) },
          [wireType]: { schema: { type: 'string', format: 'binary' } },
        },
      },
      400: { description: 'The body is no export request.', content: errorBody },
      401: { description: 'The request has no key, or no valid one.', content: errorBody },
      413: {
        description: 'The body is larger than 4 MiB, or has more than 10,000 spans.',
        content: errorBody,
      },
      415: { description: 'The body has another type, or another encoding.', content: errorBody },
      429: {
        description: 'The daily limit is used up, or too many spans wait.',
        content: errorBody,
      },
    },
  }
}

function answerSchema(kind: (typeof kinds)[number]): object {
  if (kind === 'metrics') return { type: 'object' }
  const rejected = kind === 'traces' ? 'rejectedSpans' : 'rejectedLogRecords'
  return {
    type: 'object',
    properties: {
      partialSuccess: {
        type: 'object',
        required: [rejected, 'errorMessage'],
        properties: {
          [rejected]: {
            type: 'string',
            description: 'A whole number, as JSON of the protocol has it.',
          },
          errorMessage: { type: 'string', description: 'What is wrong with which records.' },
        },
      },
    },
  }
}

/**
 * Serves the routes of the OpenTelemetry protocol. A fault is answered as on any other route, and as the protocol has it: with
 * code and message, in the encoding of the request.
 */
export async function telemetryRoutes(
  app: FastifyInstance,
  parts: TelemetryRoutesParts,
): Promise<void> {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode < 400 || typeof payload !== 'string') return done()
    const body = (parseJson(payload) ?? {}) as Record<string, unknown>
    const status = statusOf(reply.statusCode, body)
    if (contentTypeOf(request.headers) !== wireType)
      return done(null, JSON.stringify({ ...body, ...status }))
    reply.type(wireType).removeHeader('content-length')
    done(null, Buffer.from(statusWire(status)))
  })
  for (const prefix of prefixes) {
    for (const kind of kinds) {
      app.post(`${prefix}/${kind}`, (request, reply) => take(parts, kind, request, reply))
    }
  }
}

async function take(
  { service, addresses }: TelemetryRoutesParts,
  kind: (typeof kinds)[number],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const call = readCall(request, reply, addresses, 'keyed')
  const type = call.contentType
  const isWire = type === wireType
  let partialSuccess: PartialSuccess | null = null
  try {
    if (!isWire && type !== 'application/json') {
      throw new Refusal(415, 'unsupported_media_type', {
        detail: `Send application/json or ${wireType}.`,
      })
    }
    const readBody = () => bodyOf(request, reply)
    if (kind === 'metrics') await readBody()
    else {
      partialSuccess = await reportTelemetry(service, call, { kind, isJson: !isWire, readBody })
    }
  } finally {
    reply.headers(call.headers)
  }
  return isWire
    ? reply.type(wireType).send(wireOf(partialSuccess))
    : reply.type(jsonType).send(partialSuccess === null ? {} : { partialSuccess })
}

/** An empty message is no bytes. */
function wireOf(partialSuccess: PartialSuccess | null): Buffer {
  if (partialSuccess === null) return Buffer.alloc(0)
  const { rejectedSpans, rejectedLogRecords, errorMessage } = partialSuccess
  return Buffer.from(
    partialSuccessWire(Number(rejectedSpans ?? rejectedLogRecords ?? 0), errorMessage),
  )
}

async function bodyOf(request: FastifyRequest, reply: FastifyReply): Promise<Uint8Array> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() || 'identity'
  if (encoding !== 'gzip' && encoding !== 'identity') {
    throw new Refusal(
      415,
      'unsupported_media_type',
      { detail: 'content-encoding: send gzip, or leave the header out.' },
      { 'accept-encoding': 'gzip' },
    )
  }
  const bytes = await readBinary(request.raw, reply.raw, maxBytes)
  if (encoding === 'identity') return bytes
  try {
    return await unpack(bytes, { maxOutputLength: maxBytes })
  } catch {
    throw new Refusal(400, 'bad_request', {
      detail: 'body: it cannot be unpacked, or is larger than 4 MiB then; send smaller exports',
    })
  }
}
