import type { Tool } from '../gate/tool.ts'
import { driftGrammar } from '../grammar.ts'
import { fieldTools } from './field.ts'
import { askAlice } from './guide.ts'
import { languageTools } from './language.ts'
import { selfTools } from './self.ts'
import { taskTools } from './task.ts'
import { teamTools } from './team.ts'

/** All tools of `/mcp`, in the order of the list that a client gets. */
export const tools: readonly Tool[] = [
  ...taskTools,
  ...teamTools,
  ...selfTools,
  askAlice,
  driftGrammar,
  ...languageTools,
  ...fieldTools,
]
