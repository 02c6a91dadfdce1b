/**
 * A refusal: an HTTP status, a stable word for programs, and further fields of the body. The field
 * `detail` tells the caller what to send instead.
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

  /** The body of the answer. */
  get body(): Record<string, unknown> {
    return { error: this.word, ...this.fields }
  }
}
