import { request } from 'undici'
import { similarityOf, unitVector, unrelatedErrands } from '../core/runs/similarity.ts'
import { parseJson } from '../core/text.ts'
import { readAtMost, tooLong } from './model-answer.ts'

/** An OpenAI-compatible embeddings endpoint. */
export interface EmbeddingsSettings {
  /** The base address, such as `https://host/v1`. */
  url: string
  key: string | null
  model: string
}

/** Two texts to compare. */
export interface TextPair {
  ground: string
  goal: string
}

/** Compares texts by cached embeddings. It never throws, and no caller waits longer than its `waitMs`. */
export interface Embeddings {
  /** The similarity of two texts, or undefined if it is not cached yet. */
  similarity(ground: string, goal: string): number | undefined
  /**
   * Requests the missing embeddings of these texts. Resolves when all have arrived or failed, at the
   * latest after `waitMs`; later answers are cached for the next time.
   */
  learn(pairs: readonly TextPair[], waitMs: number): Promise<void>
  /** Aborts the requests in flight. */
  close(): void
}

/** The dependencies of the client. */
export interface EmbeddingsWorld {
  /** Milliseconds since 1970. */
  now(): number
  /** Called with the reason of a failed request, which contains no address, key or text. */
  failed(reason: string): void
}

const limitMs = 2_000
const maxBatch = 32
const maxUnderWay = 4
const maxWaiting = 512
const maxKnown = 4_000
/** Numbers in all cached vectors, four bytes each. */
const maxKnownNumbers = 8_000_000
const maxNumbers = 8_192
const maxAnswerBytes = 8 * 1024 * 1024
/** After this many failures in a row, requests pause for a while. */
const failuresToPause = 3
const pauseMs = 30_000

/** Creates embeddings from an endpoint, with a cache for the latest texts. */
export function createEmbeddings(
  { url, key, model }: EmbeddingsSettings,
  { now, failed }: EmbeddingsWorld,
): Embeddings {
  const known = new Map<string, Float32Array>()
  const waiting = new Set<string>()
  const underWay = new Set<string>()
  const closing = new AbortController()
  let requests = 0
  let failures = 0
  let pausedUntil = Number.NEGATIVE_INFINITY
  let batchEnded = Promise.withResolvers<void>()

  function lookUp(text: string): Float32Array | undefined {
    const vector = known.get(text)
    if (vector === undefined) return undefined
    // The map is in the order of use, so the first entry is the least recently used.
    known.delete(text)
    known.set(text, vector)
    return vector
  }

  function remember(text: string, vector: Float32Array): void {
    known.set(text, vector)
    for (const oldest of known.keys()) {
      if (known.size <= maxKnown && known.size * vector.length <= maxKnownNumbers) break
      known.delete(oldest)
    }
  }

  function isPaused(): boolean {
    return failures >= failuresToPause && now() < pausedUntil
  }

  function ask(text: string): void {
    if (known.has(text) || underWay.has(text) || waiting.size >= maxWaiting) return
    waiting.add(text)
  }

  function begin(): void {
    while (waiting.size > 0 && requests < maxUnderWay && !closing.signal.aborted && !isPaused()) {
      const texts = [...waiting].slice(0, maxBatch)
      for (const text of texts) {
        waiting.delete(text)
        underWay.add(text)
      }
      void embedAll(texts)
    }
    // Texts that cannot be requested now are requested with the next step that needs them.
    if (isPaused() || closing.signal.aborted) waiting.clear()
  }

  async function embedAll(texts: readonly string[]): Promise<void> {
    requests += 1
    const vectors = await fetchVectors(texts)
    requests -= 1
    if (typeof vectors === 'string') {
      failures += 1
      pausedUntil = now() + pauseMs
      if (!closing.signal.aborted) failed(vectors)
    } else {
      failures = 0
      // Vectors of another length come from another model and cannot be compared with the cached ones.
      const [newest] = vectors
      const [oldest] = known.values()
      if (oldest !== undefined && oldest.length !== newest?.length) known.clear()
      for (const [place, vector] of vectors.entries()) remember(texts[place] ?? '', vector)
    }
    for (const text of texts) underWay.delete(text)
    const ended = batchEnded
    batchEnded = Promise.withResolvers<void>()
    ended.resolve()
    begin()
  }

  /** Requests the vectors of the texts, in order, or returns the error. */
  async function fetchVectors(texts: readonly string[]): Promise<Float32Array[] | string> {
    try {
      const { statusCode, body } = await request(`${url}/embeddings`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(limitMs)]),
      })
      const text = await readAtMost(body, maxAnswerBytes)
      if (statusCode !== 200) return `it answered ${statusCode}`
      return readVectors(parseJson(text), texts.length) ?? 'its answer holds no usable vectors'
    } catch (error) {
      return reasonOf(error)
    }
  }

  return {
    similarity(ground, goal) {
      const a = lookUp(ground)
      const b = lookUp(goal)
      const unrelated = unrelatedErrands.flatMap((text) => lookUp(text) ?? [])
      if (a === undefined || b === undefined) return undefined
      return unrelated.length < unrelatedErrands.length ? undefined : similarityOf(a, b, unrelated)
    },
    async learn(pairs, waitMs) {
      const texts = [...unrelatedErrands, ...pairs.flatMap(({ ground, goal }) => [ground, goal])]
      for (const text of texts) ask(text)
      begin()
      const isUnderWay = () => texts.some((text) => underWay.has(text) || waiting.has(text))
      if (!isUnderWay()) return
      let timer: NodeJS.Timeout | undefined
      const waited = new Promise<'waited'>((resolve) => {
        timer = setTimeout(resolve, waitMs, 'waited')
      })
      while (isUnderWay() && (await Promise.race([waited, batchEnded.promise])) !== 'waited') {}
      clearTimeout(timer)
    },
    close() {
      closing.abort()
      waiting.clear()
    },
  }
}

/** Parses one vector for each text, all of one length, and normalises them; null for anything else. */
function readVectors(answer: unknown, count: number): Float32Array[] | null {
  const { data } = (answer ?? {}) as { data?: { index?: unknown; embedding?: unknown }[] }
  if (!Array.isArray(data) || data.length !== count) return null
  const vectors: Float32Array[] = []
  for (const [place, item] of data.entries()) {
    const { index = place, embedding } = item ?? {}
    if (!Array.isArray(embedding) || embedding.length > maxNumbers) return null
    const vector = unitVector(embedding)
    const isPlace = typeof index === 'number' && Number.isInteger(index) && index < count
    if (vector === null || !isPlace || index < 0 || vectors[index] !== undefined) return null
    vectors[index] = vector
  }
  const [first] = vectors
  return vectors.every(({ length }) => length === first?.length) ? vectors : null
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it cannot be reached'
  if (error.name === 'TimeoutError') return `it did not answer within ${limitMs / 1000} seconds`
  return error.message === tooLong ? error.message : 'it cannot be reached'
}
