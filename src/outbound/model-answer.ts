/** The error for an answer that exceeds the limit. */
export const tooLong = 'its answer is too long'

/** Reads the text of a model endpoint's answer; rejects with `tooLong` if it exceeds `bytes`. */
export async function readAtMost(body: AsyncIterable<Buffer>, bytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > bytes) throw new Error(tooLong)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
