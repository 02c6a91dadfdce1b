/**
 * The UTF-8 bytes of a text, one character each. Answers are written like this: a text that has a
 * character beyond Latin-1 anywhere costs several times as much to build, to measure and to send.
 */
export function bytesOf(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')
}
