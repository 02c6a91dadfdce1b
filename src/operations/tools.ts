import { driftGrammar } from './grammar.ts'
import type { Tool } from './tool.ts'
import { fieldTools } from './tools-field.ts'
import { askAlice } from './tools-guide.ts'
import { languageTools } from './tools-language.ts'
import { selfTools } from './tools-self.ts'
import { taskTools } from './tools-task.ts'
import { teamTools } from './tools-team.ts'

/** Every tool of `/mcp`, in the order they are listed. */
export const tools: readonly Tool[] = [
  ...taskTools,
  ...teamTools,
  ...selfTools,
  askAlice,
  driftGrammar,
  ...languageTools,
  ...fieldTools,
]
