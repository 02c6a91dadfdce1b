/** What is said of an answer with more bytes than are read. */
export const tooLong = 'its answer is too long'

/** The text of a model endpoint's answer; rejects with `tooLong` when it has more than `bytes`. */
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
