import {
  context,
  INVALID_SPAN_CONTEXT,
  ProxyTracerProvider,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'

/** One request, as a span tells of it. */
export interface Traced {
  method: string
  /** The path of the operation, not the address that was asked for: that may hold a key. */
  route: string
  /** The operation, `noun.verb`. */
  operation: string
  requestId: string
  headers: Readonly<Record<string, string | string[] | undefined>>
}

/**
 * Works a request within a server span that continues the caller's trace. Without an OpenTelemetry
 * SDK in the process it does nothing but the work. The span holds no goal, key or account.
 */
export function inSpan<T>(traced: Traced, work: (span: Span) => Promise<T>): Promise<T> {
  if (!isTracing()) return work(noSpan)
  const { method, route, operation, requestId, headers } = traced
  const attributes = {
    'http.request.method': method,
    'http.route': route,
    'plumbline.operation': operation,
    'plumbline.request_id': requestId,
  }
  const parent = propagation.extract(context.active(), headers)
  return trace
    .getTracer('plumbline')
    .startActiveSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent, work)
}

/** Ends the span of a request that was answered with this status. */
export function endSpan(span: Span, status: number): void {
  span.setAttribute('http.response.status_code', status)
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

const noSpan = trace.wrapSpanContext(INVALID_SPAN_CONTEXT)

/** Whether an SDK is there; without one even making a span costs more than judging a step. */
function isTracing(): boolean {
  const provider = trace.getTracerProvider()
  return (
    !(provider instanceof ProxyTracerProvider) ||
    provider.getDelegateTracer('plumbline') !== undefined
  )
}
