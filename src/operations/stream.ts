import { z } from 'zod'
import { maxListeners } from '../jobs/channels.ts'
import { badRequest } from './gate/declaration.ts'
import { idField } from './gate/fields.ts'
import { keyed } from './gate/operation.ts'
import { Refusal } from './gate/refusal.ts'
import { streamEventSchemas } from './stream-events.ts'

const retryS = 10

/** Tells a listener what changes in the account, as it happens. */
export const listen = keyed({
  name: 'stream.listen',
  group: 'operating',
  summary: 'What changes in the account, as server-sent events.',
  description: `An endless answer with the events \`step\`, \`run\`, \`incident\`, \`escalation\`, \`delivery\` and \`gap\`, each with one line of JSON as its data, in the order in which they became durable, on whichever node. A step holds its run_id and is otherwise as GET /v1/drift/run shows it, a run as GET /v1/drift/runs does, the others as their own routes do; what was deleted has its id and \`deleted\`. Events other than a step show the state of now, so that several changes can come as one. Read what you show first when the stream is open: nothing that changes after that is missing. The header \`last-event-id\` (or \`last_event_id\`) goes on behind an event of the last hour, on any node, without loss or repetition; behind an older one the stream begins with a \`gap\` (\`expired\`), and you read again. Every 15 seconds without an event there is a comment. A listener that falls 2,000 events or 4,000,000 characters behind gets a \`gap\` (\`slow\`) and is cut off. If the server cannot read what changed, a \`gap\` (\`unreadable\`) stands in its place and the stream goes on. The stream ends within 15 seconds when its key is revoked. The call counts as one read, and an account has at most ${maxListeners} listeners on a node.`,
  http: { method: 'GET', path: '/v1/stream' },
  async read({ query, lastEventId }) {
    return { body: '', sent: { ...query, last_event_id: lastEventId ?? query.last_event_id } }
  },
  input: z.object({
    run_id: idField().optional().describe('Only the events of this run.'),
    last_event_id: z
      .string()
      .max(100, 'send the id of an event')
      .optional()
      .describe('The id of the last event that you have had. The header comes before it.'),
  }),
  output: z
    .unknown()
    .describe(`Server-sent events. ${Object.keys(streamEventSchemas).join(', ')}.`),
  streams: 'text/event-stream',
  refusals: [badRequest],
})(async ({ channels, account, gone, stands }, { run_id, last_event_id }) => {
  const stream = await channels.open({
    account: account.id,
    after: last_event_id ?? null,
    runId: run_id ?? null,
    gone: gone(),
    stands,
  })
  if (stream !== null) return stream
  throw new Refusal(
    429,
    'rate_limit',
    {
      detail: `This account has ${maxListeners} listeners on this node. Close some, or try again in ${retryS} seconds.`,
      retry_after_s: retryS,
    },
    { 'retry-after': String(retryS) },
  )
})
