/** A refusal as the protocol has it (`google.rpc.Status`). */
export interface Status {
  code: number
  message: string
}

/** The codes of `google.rpc.Code` for the statuses of HTTP; others are UNKNOWN. */
const codes: Readonly<Record<number, number>> = {
  400: 3, // INVALID_ARGUMENT
  401: 16, // UNAUTHENTICATED
  402: 7, // PERMISSION_DENIED
  403: 7,
  404: 5, // NOT_FOUND
  413: 3,
  415: 3,
  429: 8, // RESOURCE_EXHAUSTED
  500: 13, // INTERNAL
  503: 14, // UNAVAILABLE
}
const unknown = 2

/** The status of a refusal, by its status of HTTP and its body as other routes send it. */
export function statusOf(httpStatus: number, body: Readonly<Record<string, unknown>>): Status {
  const { error, detail } = body
  const message = typeof detail === 'string' ? `${error}: ${detail}` : String(error)
  return { code: codes[httpStatus] ?? unknown, message: message.toWellFormed() }
}
