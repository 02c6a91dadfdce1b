import { maxTextLength } from '../text.ts'
import { readClaudeFamily } from './claude-code.ts'
import { type Fields, fieldsOf, textOf, timeOf } from './fields.ts'
import { promptWords, shellAnswer, shellTool, toldBy } from './gemini-family.ts'
import type { HostEvent, HostFact } from './host-event.ts'
import { factsByOutput } from './named-failures.ts'
import { idOf, placed } from './place.ts'
import { spokenBy } from './speaker.ts'
import { bareName, factsOfTool } from './tool-facts.ts'

/** What the host puts around words that a person typed while the agent worked. */
const steering = /^User steering update:\s*<user_input>([\s\S]*?)<\/user_input>/gm
const background = /^Background execution update:/
const backgroundOutput = /<background_output>[\s\S]*?(?:<\/background_output>|$)/g

/**
 * Reads the hooks of Gemini CLI (0.61). They name no sub-agent and no call of a tool: everything belongs to the main
 * agent, and what a sub-agent does stands between the delegation and its end.
 */
export function readGeminiCli(event: unknown, name?: string): HostEvent[] {
  const fields = fieldsOf(event)
  const place = {
    host: 'gemini-cli' as const,
    session: idOf(fields.session_id),
    at: timeOf(fields.timestamp),
    event: fields,
  }
  switch (textOf(fields.hook_event_name, name)) {
    case 'SessionStart':
    case 'SessionEnd':
      return readClaudeFamily('gemini-cli', event, name)
    case 'BeforeAgent':
      return placed(place, promptIn(fields.prompt))
    case 'BeforeTool':
      return placed(place, factsBefore(fields))
    case 'AfterTool':
      return placed(place, factsAfter(fields))
    case 'AfterAgent':
      return placed(place, [
        { kind: 'turnEnd', said: lastWords(fields.prompt_response), expects: [] },
      ])
    case 'Notification':
      return fields.notification_type === 'ToolPermission'
        ? placed(place, [{ kind: 'wait', for: 'permission' }])
        : []
    case 'PreCompress':
      // An automatic one comes before each call of the model, whether it compresses or not.
      return fields.trigger === 'manual' ? placed(place, [{ kind: 'compact' }]) : []
    default:
      return []
  }
}

/** The host asks its hooks once for each prompt, never for what follows a tool. */
function promptIn(prompt: unknown): HostFact[] {
  const words = promptWords(prompt)
  const typed = [...words.matchAll(steering)].map(([, text = '']) => text.trim()).join('\n')
  if (typed === '' && background.test(words)) {
    return [{ kind: 'prompt', text: words.replace(backgroundOutput, '').trim(), by: 'machine' }]
  }
  const spoken = spokenBy(typed || words)
  return spoken === null ? [] : [{ kind: 'prompt', ...spoken }]
}

/** A delegation counts when it begins, before what its agent does. */
function factsBefore(event: Fields): HostFact[] {
  const use = {
    tool: textOf(event.tool_name),
    input: fieldsOf(event.tool_input),
    root: textOf(event.cwd),
    outcome: 'unknown' as const,
  }
  const name = bareName(use.tool)
  if (name === 'askuser') return [{ kind: 'wait', for: 'answer' }]
  return name === 'invokeagent' ? factsOfTool(use).filter((fact) => fact.kind === 'delegate') : []
}

function factsAfter(event: Fields): HostFact[] {
  const tool = textOf(event.tool_name)
  const name = bareName(tool)
  // The end of a delegation, and the report that its agent hands back.
  if (name === '' || name === 'invokeagent' || name === 'completetask') return []
  if (name === 'askuser') return [{ kind: 'person', how: 'answer' }]
  const told = toldBy(event.tool_response)
  const shell = tool === shellTool && told !== undefined ? shellAnswer(told) : undefined
  const { error } = fieldsOf(event.tool_response)
  const didFail = error !== undefined && error !== null
  return factsByOutput({
    tool,
    input: fieldsOf(event.tool_input),
    root: textOf(event.cwd),
    outcome: didFail ? 'failed' : (shell?.outcome ?? (told === undefined ? 'unknown' : 'ok')),
    exit: shell?.exit,
    output: shell?.output ?? told,
  })
}

/** The answer holds all that the agent said in the turn: the last of it counts. */
function lastWords(said: unknown): string {
  return typeof said === 'string' ? textOf(said.slice(-maxTextLength)) : ''
}
