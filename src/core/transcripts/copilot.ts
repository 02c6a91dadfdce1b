import { readCopilot } from '../hosts/copilot.ts'
import { amountOf, fieldsOf, textOf, timeOf } from '../hosts/fields.ts'
import type { HostEvent } from '../hosts/host-event.ts'
import { placed } from '../hosts/place.ts'
import { createCalls } from './calls.ts'
import type { ReadLine, TranscriptPlace } from './read-line.ts'

/** Reads the events of a session of Copilot CLI (1.0). What it does not tell of sub-agents belongs to the main agent. */
export function readCopilotEvents({ session: named }: TranscriptPlace): ReadLine {
  const calls = createCalls()
  let session = named
  let cwd = ''
  return (line): HostEvent[] => {
    const { type, data, timestamp, id } = fieldsOf(line)
    const fields = fieldsOf(data)
    const common = () => ({ sessionId: session, cwd, timestamp })
    const withId = (events: readonly HostEvent[], own: string) =>
      events.map((event, nth) => ({ ...event, eventId: nth === 0 ? own : `${own}#${nth}` }))
    switch (type) {
      case 'session.start':
      case 'session.resume':
        session = textOf(fields.sessionId) || session
        cwd = textOf(fieldsOf(fields.context).cwd) || cwd
        return []
      case 'user.message':
        return withId(
          readCopilot({ ...common(), prompt: fields.content }, 'userPromptSubmitted'),
          textOf(fields.messageId, id),
        )
      case 'assistant.message': {
        const text = textOf(fields.content)
        const place = {
          host: 'copilot' as const,
          session,
          at: timeOf(timestamp),
          id: textOf(fields.messageId, id),
          event: fields,
        }
        return text === '' ? [] : placed(place, [{ kind: 'say', text }])
      }
      case 'tool.execution_start':
        calls.begin(textOf(fields.toolCallId), {
          tool: textOf(fields.toolName),
          input: fields.arguments,
        })
        return []
      case 'tool.execution_complete': {
        const own = textOf(fields.toolCallId)
        const call = calls.end(own)
        if (call === undefined) return []
        const result = fieldsOf(fields.result)
        const didFail = fields.success === false
        const exit = amountOf(fieldsOf(fields.shellExecution).exitCode)
        return withId(
          readCopilot(
            {
              ...common(),
              toolName: call.tool,
              toolArgs: call.input,
              toolResult: {
                resultType: didFail ? 'failure' : 'success',
                textResultForLlm: withExit(
                  textOf(result.content, fieldsOf(fields.error).message),
                  exit,
                ),
              },
            },
            didFail ? 'postToolUseFailure' : 'postToolUse',
          ),
          own,
        )
      }
      case 'session.shutdown':
        return readCopilot({ ...common(), reason: 'shutdown' }, 'sessionEnd')
      default:
        return []
    }
  }
}

/** The hooks tell the exit code of a command in the last line of its answer. */
function withExit(answer: string, exit: number | undefined): string {
  return exit === undefined ? answer : `${answer}\n<command exited with exit code ${exit}>`
}
