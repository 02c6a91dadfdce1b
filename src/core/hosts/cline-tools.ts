import { parseJson } from '../text.ts'
import { familyOf } from './act.ts'
import { exitCodeOf } from './failures.ts'
import { amountOf, type Fields, fieldsOf, given, listOf, textOf } from './fields.ts'
import type { HostFact, PlanItem } from './host-event.ts'
import { outcomeOf } from './outcome.ts'
import { bareName, factsOfTool, outputOf } from './tool-facts.ts'

const mostCommands = 20
const mostItems = 50
const item = /^[ \t]*[-*] \[([ xX])\] (.+)$/gm

/** What one use of a tool of Cline says; each of several commands is an act of its own. */
export function factsOfClineTool(event: Fields, root: string): HostFact[] {
  const call = fieldsOf(event.tool_result)
  const post = fieldsOf(event.postToolUse)
  const tool = textOf(call.name, post.toolName)
  if (tool === '') return []
  const given = call.input ?? post.parameters
  const ms = amountOf(call.durationMs) ?? amountOf(post.executionTimeMs)
  const answers = answersIn(call, post)
  const name = bareName(tool)
  const { task_progress, ...input } = fieldsOf(given)
  const plan = planIn(task_progress)
  if (name === 'runcommands') return [...commandActs(tool, given, answers, root, ms), ...plan]
  const facts = saidBy(name, input)
  if (facts !== null) return [...facts, ...plan]
  const didFail =
    textOf(call.error) !== '' ||
    post.success === false ||
    answers.some(({ success }) => success === false)
  const output = outputOf(call.output ?? post.result)
  const exit = familyOf(tool) === 'run' ? exitCodeOf(output ?? '') : undefined
  const outcome = outcomeOf({ tool, didFail, exit, output })
  return [
    ...factsOfTool({ tool, input: plainInput(input), root, outcome, exit, output, ms }),
    ...plan,
  ]
}

/** The answers of a tool that does several things at once: their success is told apart, that of the call is not. */
function answersIn(call: Fields, post: Fields): Fields[] {
  return listIn(call.output ?? post.result).map((each) => fieldsOf(each))
}

function commandActs(
  tool: string,
  given: unknown,
  answers: readonly Fields[],
  root: string,
  ms: number | undefined,
): HostFact[] {
  const commands = commandsIn(given)
  return commands.flatMap((command, at) => {
    const { success, result, error } = answers[at] ?? {}
    const output = outputOf(result ?? error)
    const didFail = success === false
    const exit = didFail ? exitCodeOf(textOf(error, result)) : undefined
    const outcome = success === true ? 'ok' : outcomeOf({ tool: 'bash', didFail, exit, output })
    const took = commands.length === 1 ? ms : undefined
    return factsOfTool({ tool, input: { command }, root, outcome, exit, output, ms: took })
  })
}

function commandsIn(given: unknown): string[] {
  const { commands, command, cmd, args } = fieldsOf(given)
  const alone = textOf(cmd) || (command === undefined ? given : { command, args })
  const list = commands === undefined ? listIn(alone) : listIn(commands)
  const each = list.length > 0 ? list : [commands ?? alone]
  return each.map(commandLine).filter(Boolean).slice(0, mostCommands)
}

/** A command is a line for the shell, or a program with its arguments. */
function commandLine(command: unknown): string {
  const { command: program, args } = fieldsOf(command)
  const words = listOf(args).filter((each) => typeof each === 'string')
  return textOf(command) || [textOf(program), ...words].join(' ').trim()
}

/** The arguments under the names that other hosts give them. */
function plainInput({ old_text, new_text, queries, requests, files, ...input }: Fields): Fields {
  const paths = [...listIn(files), ...listIn(input.paths), ...listIn(input.file_paths)]
  const searched = listIn(queries).map((query) => textOf(query))
  return {
    ...input,
    ...given('old_string', old_text ?? undefined),
    ...given('new_string', new_text ?? undefined),
    ...given('query', searched.filter(Boolean).join(' ') || textOf(queries)),
    ...given('url', textOf(input.url, fieldsOf(listIn(requests)[0]).url)),
    ...(paths.length === 0 ? given('path', textOf(input.path, files)) : {}),
    ...(paths.length === 0 ? {} : { paths: paths.map((each) => fieldsOf(each).path ?? each) }),
  }
}

/** What the tools say that the agent speaks with; null for any other. */
function saidBy(name: string, { result, response, summary }: Fields): HostFact[] | null {
  switch (name) {
    case 'askfollowupquestion':
    case 'askquestion':
      return [{ kind: 'person', how: 'answer' }]
    case 'attemptcompletion':
    case 'planmoderespond':
    case 'submitandexit': {
      const text = textOf(result, response, summary)
      return text === '' ? [] : [{ kind: 'say', text }]
    }
    default:
      return null
  }
}

/** The extension's list of tasks goes with the arguments of any tool. */
function planIn(progress: unknown): HostFact[] {
  if (typeof progress !== 'string') return []
  const items = [...progress.slice(0, 20_000).matchAll(item)].flatMap(
    ([, mark, said]): PlanItem[] => {
      const text = textOf(said)
      return text === '' ? [] : [{ text, state: mark === ' ' ? 'open' : 'done' }]
    },
  )
  return items.length === 0 ? [] : [{ kind: 'plan', whole: true, items: items.slice(0, mostItems) }]
}

/** A list, also if it arrives as JSON in a text. */
function listIn(value: unknown): readonly unknown[] {
  return typeof value === 'string' ? listOf(parseJson(value)) : listOf(value)
}
