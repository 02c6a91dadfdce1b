// The part of `langchain` that the guidance uses, in its shapes: createMiddleware with wrapModelCall
// over ModelRequest, whose systemMessage has concat (langchain 1.5.14, dist/agents/nodes/types.d.ts and
// dist/agents/middleware/types.d.ts); the answer is an AIMessage or a Command.
import type { Say } from './say.ts'

export class SystemMessage {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  concat(text: string): SystemMessage {
    return new SystemMessage(this.text + text)
  }
}

interface AIMessage {
  text: string
  usage_metadata?: { total_tokens: number }
}

interface Command {
  goto: string
}

interface ModelRequest {
  systemPrompt: string
  systemMessage: SystemMessage
}

type Handler = (
  request: Omit<ModelRequest, 'systemPrompt'> & { systemPrompt?: string },
) => Promise<AIMessage | Command>

interface Middleware {
  name: string
  wrapModelCall: (
    request: ModelRequest,
    handler: Handler,
  ) => Promise<AIMessage | Command> | AIMessage | Command
}

export function createMiddleware(middleware: Middleware): Middleware {
  return middleware
}

/** Calls the model through the middleware until it has nothing more to say, as createAgent does. */
export async function converse({ wrapModelCall }: Middleware, say: Say): Promise<void> {
  for (let isOver = false; !isOver; ) {
    const request = { systemPrompt: 'Be brief.', systemMessage: new SystemMessage('Be brief.') }
    await wrapModelCall(request, async ({ systemMessage }) => {
      const { text, tokens, isLast } = say(systemMessage.text)
      isOver = isLast
      return { text, usage_metadata: { total_tokens: tokens } }
    })
  }
}
