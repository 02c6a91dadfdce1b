import { fieldsOf, listOf, textOf, timeOf } from '../hosts/fields.ts'
import { readGeminiCli } from '../hosts/gemini-cli.ts'
import type { HostEvent } from '../hosts/host-event.ts'
import { placed } from '../hosts/place.ts'
import type { ReadLine, TranscriptPlace } from './read-line.ts'

/** What the host tells the model before the first prompt. */
const context = /^<session_context>/

/**
 * Reads a chat file of Gemini CLI (0.61). A line may repeat an earlier message with more in it; each part of a message has
 * one id, so that it counts once. The file does not name the folder of the project: all paths are outside it.
 */
export function readGeminiChat({ session: named }: TranscriptPlace): ReadLine {
  let session = named
  return (line): HostEvent[] => {
    const fields = fieldsOf(line)
    if (fields.sessionId !== undefined && fields.type === undefined) {
      session = textOf(fields.sessionId) || session
      return []
    }
    const id = textOf(fields.id)
    const common = { session_id: session, timestamp: fields.timestamp }
    const withId = (events: readonly HostEvent[], own: string) =>
      events.map((event, nth) => ({ ...event, eventId: nth === 0 ? own : `${own}#${nth}` }))
    if (fields.type === 'user') {
      const texts = listOf(fields.content).map((each) => textOf(fieldsOf(each).text))
      const prompt = texts.filter((text) => text !== '').join('\n')
      if (prompt === '' || context.test(prompt)) return []
      return withId(readGeminiCli({ ...common, hook_event_name: 'BeforeAgent', prompt }), id)
    }
    if (fields.type !== 'gemini') return []
    const said = textOf(fields.content)
    const place = {
      host: 'gemini-cli' as const,
      session,
      at: timeOf(fields.timestamp),
      id: `${id}#said`,
      event: fields,
    }
    return [
      ...(said === '' ? [] : placed(place, [{ kind: 'say', text: said }])),
      ...listOf(fields.toolCalls).flatMap((each) => {
        const call = fieldsOf(each)
        const { response } = fieldsOf(fieldsOf(listOf(call.result)[0]).functionResponse)
        const { output, error } = fieldsOf(response)
        const use = {
          ...common,
          timestamp: call.timestamp ?? fields.timestamp,
          tool_name: call.name,
          tool_input: call.args,
          tool_response: {
            llmContent: output ?? error,
            ...(error === undefined ? {} : { error }),
          },
        }
        const own = textOf(call.id)
        return [
          ...withId(readGeminiCli({ ...use, hook_event_name: 'BeforeTool' }), `${own}#before`),
          ...withId(readGeminiCli({ ...use, hook_event_name: 'AfterTool' }), own),
        ]
      }),
    ]
  }
}
