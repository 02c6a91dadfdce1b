// The part of `@openai/agents` that the guidance uses, in its shapes: RunConfig.callModelInputFilter
// over ModelInputData, RunResult with finalOutput and rawResponses (@openai/agents-core 0.20.0,
// dist/runner/conversation.d.ts and dist/result.d.ts). The runner calls the filter before each call
// of the model, with the items so far.
import type { Say } from './say.ts'

type Part = { type: 'output_text'; text: string } | { type: 'refusal'; refusal: string }

export type AgentInputItem =
  | { role: 'user'; content: string }
  | { role: 'assistant'; status: 'completed'; content: Part[] }
  | { type: 'function_call'; name: string; arguments: string }

interface ModelInputData {
  input: AgentInputItem[]
  instructions?: string
}

export class Agent {
  readonly name: string
  readonly say: Say

  constructor({ name, model }: { name: string; model: Say }) {
    this.name = name
    this.say = model
  }
}

interface RunConfig {
  callModelInputFilter: (args: {
    modelData: ModelInputData
    agent: Agent
    context: unknown
  }) => ModelInputData | Promise<ModelInputData>
}

interface RunResult {
  finalOutput: string | undefined
  rawResponses: { usage: { totalTokens: number } }[]
}

export class Runner {
  readonly #config: RunConfig

  constructor(config: RunConfig) {
    this.#config = config
  }

  async run(agent: Agent, prompt: string): Promise<RunResult> {
    const input: AgentInputItem[] = [{ role: 'user', content: prompt }]
    const rawResponses: RunResult['rawResponses'] = []
    for (;;) {
      const { instructions } = await this.#config.callModelInputFilter({
        modelData: { input: [...input], instructions: 'Be brief.' },
        agent,
        context: undefined,
      })
      const { text, tokens, isLast } = agent.say(instructions ?? '')
      rawResponses.push({ usage: { totalTokens: tokens } })
      if (isLast) return { finalOutput: text, rawResponses }
      const content: Part[] = [{ type: 'output_text', text }]
      input.push({ role: 'assistant', status: 'completed', content })
      input.push({ type: 'function_call', name: 'look', arguments: '{}' })
    }
  }
}
