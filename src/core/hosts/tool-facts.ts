import { actOf, type ToolUse } from './act.ts'
import { amountOf, digestOfValue, fieldsOf, given, listOf, textOf } from './fields.ts'
import type { HostFact, PlanItem } from './host-event.ts'

const mostItems = 50
/** Tools by which an agent looks at its own tools, tasks and goals. */
const housekeeping = /^(?:toolsearch|task(?:list|get)|todoread|gettodos|getgoal|listmcpresources)$/

/** What one use of a tool says beside the act itself: the plan, a delegated task, a goal that the agent states. */
export function factsOfTool(use: ToolUse, answer?: unknown): HostFact[] {
  if (housekeeping.test(bareName(use.tool))) return []
  // A call that failed has planned, stated and delegated nothing.
  if (use.outcome === 'failed') return [actOf(use)]
  const plan = planIn(use, answer)
  if (plan !== null) return [plan]
  if (bareName(use.tool) === 'exitplanmode') return approvedIn(use, answer)
  const intent = intentIn(use)
  if (intent !== null) return [intent]
  const delegated = delegatedIn(use, answer)
  return delegated ?? [actOf(use)]
}

/** The tool's name in lower case, without separators and without the name space that hosts glue before it. */
export function bareName(tool: string): string {
  const name = tool.toLowerCase().replace(/[^a-z\d]/g, '')
  return name.replace(/^(?:collaboration|multiagentv\d)/, '')
}

/** Tools that make or change the list of tasks, as hosts name them. */
function planIn({ tool, input }: ToolUse, answer: unknown): HostFact | null {
  switch (bareName(tool)) {
    case 'taskcreate': {
      const task = fieldsOf(fieldsOf(answer).task)
      const id = textOf(task.id, input.id)
      const text = textOf(input.subject, task.subject, input.description)
      return text === ''
        ? null
        : { kind: 'plan', whole: false, items: [{ ...given('id', id), text, state: 'open' }] }
    }
    case 'taskupdate': {
      const id = textOf(input.taskId, input.id)
      const item: PlanItem = { id, text: textOf(input.subject), state: stateOf(input.status) }
      // A change that tells no state leaves the item as it is.
      const items = input.status === undefined ? [] : [item]
      return id === '' ? null : { kind: 'plan', whole: false, items }
    }
    case 'todowrite':
    case 'writetodos':
    case 'updateplan':
    case 'updatetodolist':
    case 'managetodolist':
    case 'todo':
      return {
        kind: 'plan',
        whole: true,
        items: itemsOf(input.todos ?? input.plan ?? input.todoList ?? input.items),
      }
    default:
      return null
  }
}

/** A plan in Markdown that a person has approved: the host tells the call only then. */
function approvedIn({ input }: ToolUse, answer: unknown): HostFact[] {
  const text = textOf(fieldsOf(answer).plan, input.plan, answer)
  const items = itemsOf([...text.matchAll(listItem)].map(([, item]) => item))
  const person: HostFact = { kind: 'person', how: 'permission' }
  return items.length === 0 ? [person] : [person, { kind: 'plan', whole: true, items }]
}

/** An item of the outermost list of a text in Markdown, without its mark. */
const listItem = /^(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)$/gm

/** The items of a list as hosts write them. */
export function itemsOf(list: unknown): PlanItem[] {
  return listOf(list)
    .flatMap((each): PlanItem[] => {
      const item = fieldsOf(each)
      const text = textOf(
        item.content,
        item.step,
        item.description,
        item.title,
        item.text,
        item.subject,
        each,
      )
      const id = textOf(item.id) || (amountOf(item.id)?.toString() ?? '')
      return text === '' ? [] : [{ ...given('id', id), text, state: stateOf(item.status) }]
    })
    .slice(0, mostItems)
}

/** The state of an item by the host's word for it. */
export function stateOf(status: unknown): PlanItem['state'] {
  const word = typeof status === 'string' ? status.toLowerCase().replace(/[^a-z]/g, '') : ''
  if (/^(?:inprogress|active|now|current|doing)$/.test(word)) return 'now'
  return /^(?:completed?|done|cancell?ed|deleted|skipped|finished)$/.test(word) ? 'done' : 'open'
}

function intentIn({ tool, input }: ToolUse): HostFact | null {
  const name = bareName(tool)
  if (name === 'updatetopic') {
    const parts = [textOf(input.title), textOf(input.strategic_intent, input.summary)]
    return intent(parts.filter(Boolean).join(' – '))
  }
  if (name === 'reportintent') return intent(textOf(input.intent))
  if (name === 'creategoal' || name === 'updategoal') return intent(textOf(input.objective))
  return null
}

function intent(text: string): HostFact | null {
  return text === '' ? null : { kind: 'intent', text }
}

const delegating =
  /^(?:agent|task|spawnagent|followuptask|invokeagent|runsubagent|newtask|subagent|delegatetask|usesubagents?)$/

/** Whether a tool hands a task to another agent. */
export function isDelegating(tool: string): boolean {
  return delegating.test(bareName(tool))
}

function delegatedIn({ tool, input }: ToolUse, answer: unknown): HostFact[] | null {
  if (!isDelegating(tool)) return null
  const task = textOf(input.prompt, input.message, input.task, input.description)
  if (task === '') return null
  const { agentId, agent_id, totalTokens, metadata } = fieldsOf(answer)
  const tokens = amountOf(totalTokens)
  const delegate: HostFact = {
    kind: 'delegate',
    task,
    ...given('label', textOf(input.description, input.task_name, input.name)),
    ...given('agentType', textOf(input.subagent_type, input.agent_type, input.agent_name)),
    ...given('child', textOf(agentId, agent_id, fieldsOf(metadata).sessionId)),
  }
  return tokens === undefined ? [delegate] : [delegate, { kind: 'tokens', count: tokens }]
}

/** What a tool answered, as one text. */
export function outputOf(answer: unknown): string | undefined {
  if (answer === undefined || answer === null) return undefined
  if (typeof answer === 'string') return answer
  const { stdout, stderr, output, llmContent, textResultForLlm, content, error } = fieldsOf(answer)
  const told = [stdout, stderr, output, llmContent, textResultForLlm, error].filter(
    (each) => typeof each === 'string',
  )
  if (told.length > 0) return told.join('\n')
  return typeof content === 'string' ? content : digestOfValue(answer)
}
