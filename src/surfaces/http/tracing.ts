import {
  context,
  ProxyTracerProvider,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Works the request of an operation within a server span that continues the caller's trace. Without
 * an OpenTelemetry SDK in the process it does nothing but the work. The span holds no goal, key or
 * account; `route` is the path of the operation, because the address that was asked for may hold a key.
 */
export function inSpan<T>(
  { method, headers, id }: FastifyRequest,
  { raw }: FastifyReply,
  route: string,
  operation: string,
  work: () => Promise<T>,
): Promise<T> {
  if (!isTracing()) return work()
  const attributes = {
    'http.request.method': method,
    'http.route': route,
    'plumbline.operation': operation,
    'plumbline.request_id': id,
  }
  const parent = propagation.extract(context.active(), headers)
  return trace
    .getTracer('plumbline')
    .startActiveSpan(
      `${method} ${route}`,
      { kind: SpanKind.SERVER, attributes },
      parent,
      (span) => {
        raw.once('close', () => endSpan(span, raw.statusCode))
        return work()
      },
    )
}

function endSpan(span: Span, status: number): void {
  span.setAttribute('http.response.status_code', status)
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

/** Whether an SDK is registered. Even without one, creating a span costs more than judging a step. */
function isTracing(): boolean {
  const provider = trace.getTracerProvider()
  return (
    !(provider instanceof ProxyTracerProvider) ||
    provider.getDelegateTracer('plumbline') !== undefined
  )
}
