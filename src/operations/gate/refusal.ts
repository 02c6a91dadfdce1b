/**
 * An answer that is not the one hoped for: an HTTP status, a stable word a program can act on, and
 * further fields of the body, of which `detail` says what to send instead.
 */
export class Refusal extends Error {
  readonly status: number
  readonly word: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    word: string,
    fields: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    super(word)
    this.status = status
    this.word = word
    this.fields = fields
    this.headers = headers
  }

  /** The body as it goes over the wire. */
  get body(): Record<string, unknown> {
    return { error: this.word, ...this.fields }
  }
}
