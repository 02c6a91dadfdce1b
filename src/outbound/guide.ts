import { request } from 'undici'
import { parseJson } from '../core/text.ts'
import { readAtMost, tooLong } from './model-answer.ts'

/** An OpenAI-compatible chat endpoint. */
export interface GuideSettings {
  /** The base address, such as `https://host/v1`. */
  url: string
  key: string | null
  model: string
}

/** A chat model that answers a few messages. */
export interface Guide {
  /** Returns the text of the model, or null and the reason if there is none within the time limit. */
  ask(
    messages: readonly { role: string; content: string }[],
    signal: AbortSignal,
  ): Promise<{ text: string } | { failure: string }>
}

const limitMs = 20_000
const maxAnswerBytes = 256 * 1024
const maxTokens = 400

/**
 * Creates a guide at an endpoint. It sends one request without retry: a waiting agent is better served by
 * the rules.
 */
export function createGuide({ url, key, model }: GuideSettings): Guide {
  return {
    async ask(messages, signal) {
      try {
        const { statusCode, body } = await request(`${url}/chat/completions`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          },
          body: JSON.stringify({ model, messages, max_tokens: maxTokens, temperature: 0 }),
          signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs)]),
        })
        const text = await readAtMost(body, maxAnswerBytes)
        if (statusCode !== 200) return { failure: `it answered ${statusCode}` }
        const said = textOf(parseJson(text))
        return said === null ? { failure: 'its answer holds no text' } : { text: said }
      } catch (error) {
        return { failure: reasonOf(error) }
      }
    },
  }
}

function textOf(answer: unknown): string | null {
  const { choices } = (answer ?? {}) as { choices?: { message?: { content?: unknown } }[] }
  const content = Array.isArray(choices) ? choices[0]?.message?.content : undefined
  return typeof content === 'string' && content.trim() !== '' ? content.trim() : null
}

/** Contains no address and no key, because the caller sees it. */
function reasonOf(error: unknown): string {
  const name = error instanceof Error ? error.name : ''
  if (name === 'TimeoutError') return `it did not answer within ${limitMs / 1000} seconds`
  if (name === 'AbortError') return 'the call was given up'
  const isOwn = error instanceof Error && error.message === tooLong
  return isOwn ? error.message : 'it cannot be reached'
}
