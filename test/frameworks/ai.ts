// The part of the package `ai` that the guidance uses, in its shapes: ToolLoopAgentSettings with
// prepareStep and onStepEnd, StepResult with text and usage (ai 7.0.173, dist/index.d.ts). The agent
// calls its model as often as it has something to say, as the loop of the package does.
import type { Say } from './say.ts'

export type LanguageModel = Say

export type ToolSet = Record<string, { description?: string }>

interface StepResult {
  readonly text: string
  readonly usage: { totalTokens: number | undefined }
}

interface ToolLoopAgentSettings {
  model: LanguageModel
  tools?: ToolSet
  instructions?: string
  prepareStep?: (options: {
    stepNumber: number
    instructions: string | undefined
  }) => { instructions?: string } | undefined
  onStepEnd?: (event: StepResult) => PromiseLike<void> | void
}

export class ToolLoopAgent {
  readonly #settings: ToolLoopAgentSettings

  constructor(settings: ToolLoopAgentSettings) {
    this.#settings = settings
  }

  async generate(_: { prompt: string }): Promise<{ text: string }> {
    const { model, instructions, prepareStep, onStepEnd } = this.#settings
    for (let stepNumber = 0; ; stepNumber++) {
      const prepared = prepareStep?.({ stepNumber, instructions })
      const { text, tokens, isLast } = model(prepared?.instructions ?? instructions ?? '')
      await onStepEnd?.({ text, usage: { totalTokens: tokens } })
      if (isLast) return { text }
    }
  }
}
