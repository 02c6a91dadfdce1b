import type { Tool } from '../gate/tool.ts'
import { driftGrammar } from '../grammar.ts'
import { fieldTools } from './field.ts'
import { askAlice } from './guide.ts'
import { languageTools } from './language.ts'
import { selfTools } from './self.ts'
import { taskTools } from './task.ts'
import { teamTools } from './team.ts'

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
