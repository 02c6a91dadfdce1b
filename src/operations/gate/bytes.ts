/**
 * The UTF-8 bytes of a text, one character for each byte. Answers have this form, because a string with
 * a single character beyond Latin-1 costs several times as much to build, to measure and to send.
 */
export function bytesOf(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')
}
