// The part of `@mastra/core/processors` that the guidance uses, in its shapes: Processor with
// processInputStep and processOutputStep (@mastra/core 1.71.0, dist/processors/index.d.ts).
import type { Say } from './say.ts'

interface SystemMessage {
  role: 'system'
  content: string
}

interface Message {
  id: string
}

interface StepArgs {
  messages: Message[]
  systemMessages: SystemMessage[]
}

type Awaitable<Value> = Value | Promise<Value>

export interface Processor {
  readonly id: string
  processInputStep?(args: StepArgs): Awaitable<{ systemMessages?: SystemMessage[] } | undefined>
  processOutputStep?(
    args: StepArgs & { text?: string; usage: { totalTokens: number | undefined } },
  ): Awaitable<Message[]>
}

/** Calls the model between the processor's two hooks until it has nothing more to say. */
export async function converse(processor: Processor, say: Say): Promise<void> {
  for (let isOver = false; !isOver; ) {
    const args: StepArgs = {
      messages: [],
      systemMessages: [{ role: 'system', content: 'Be brief.' }],
    }
    const { systemMessages = [] } = (await processor.processInputStep?.(args)) ?? {}
    const { text, tokens, isLast } = say(systemMessages.map(({ content }) => content).join('\n'))
    isOver = isLast
    await processor.processOutputStep?.({ ...args, text, usage: { totalTokens: tokens } })
  }
}
