import { type Fields, textOf } from '../hosts/fields.ts'

/** Logfire's instrumentation of the OpenAI Agents SDK gives the SDK's own names to most attributes. */
export function isOfLogfire(scope: string): boolean {
  return scope === 'logfire.openai_agents'
}

/** Where records say to which conversation or thread they belong, the surest first. */
const names = [
  'gen_ai.conversation.id',
  'session.id',
  'thread.id',
  'conversation.id',
  ...['langsmith.metadata.', 'traceloop.association.properties.', 'ai.telemetry.metadata.'].flatMap(
    (before) =>
      ['thread_id', 'session_id', 'conversation_id', 'threadId', 'sessionId', 'conversationId'].map(
        (name) => `${before}${name}`,
      ),
  ),
]

/** The conversation that a record belongs to; '' if it does not say. */
export function sessionOf({ scope, attributes }: { scope: string; attributes: Fields }): string {
  const known = isOfLogfire(scope) ? [...names, 'group_id'] : names
  return textOf(...known.map((name) => attributes[name]))
}
