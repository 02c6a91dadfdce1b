import { irreversibleIn } from '../acts/irreversible.ts'
import { cutTo } from '../text.ts'
import { isoTime } from '../time.ts'
import { coverageOf } from './coverage.ts'
import { fieldsOf, parsedFields, textOf } from './fields.ts'
import type { HostEvent, HostName } from './host-event.ts'
import type { Observed, ObservedAgent } from './observed.ts'

/** What stands behind the address if a person, and not the agent, reads what is told. */
export const toldToPerson = { name: 'tells', value: 'person' } as const

const longestFact = 1000
/** The hosts that take a context at the beginning of a session, all in one form. */
const takesContext: ReadonlySet<HostName> = new Set([
  'claude-code',
  'codex',
  'gemini-cli',
  'qwen-code',
])

/** The answer by which a host goes on as if nobody had been asked. */
export function emptyAnswer(host: HostName, event: string): Record<string, unknown> {
  return host === 'cursor' && event === 'beforeSubmitPrompt' ? { continue: true } : {}
}

/** The answer that tells the agent a fact at the beginning of a session. */
function answerWith(host: HostName, event: string, fact: string): Record<string, unknown> {
  if (fact === '' || !takesContext.has(host)) return emptyAnswer(host, event)
  return { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: fact } }
}

/** The events at which a host hands a fact to the agent. */
const takesFact: Partial<Record<HostName, readonly string[]>> = {
  'claude-code': ['UserPromptSubmit', 'PostToolBatch', 'PostToolUseFailure', 'SubagentStart'],
  'qwen-code': ['UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure', 'SubagentStart'],
  codex: ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'SubagentStart'],
  'gemini-cli': ['SessionStart', 'BeforeAgent', 'AfterTool'],
  copilot: ['postToolUse'],
  cursor: ['postToolUse'],
  vscode: ['PostToolUse', 'SubagentStart'],
  opencode: ['tool.execute.after'],
  cline: ['PostToolUse', 'postToolUse'],
}

/** Whether the agent can be told a fact in the answer to this event. */
export function canTell(host: HostName, event: string): boolean {
  return takesFact[host]?.includes(event) === true
}

/** The answer that tells the agent a fact after this event, for an event that takes one. */
function answerWithFact(host: HostName, event: string, fact: string): Record<string, unknown> {
  switch (host) {
    case 'copilot':
      return { additionalContext: fact }
    case 'cursor':
      return { additional_context: fact }
    case 'opencode':
      return { fact }
    case 'cline':
      return { contextModification: fact }
    default:
      return { hookSpecificOutput: { hookEventName: event, additionalContext: fact } }
  }
}

/** The event before a tool, of the hosts that can hold a command back. */
const beforeTool: Partial<Record<HostName, string>> = {
  'claude-code': 'PreToolUse',
  'qwen-code': 'PreToolUse',
  codex: 'PreToolUse',
  'gemini-cli': 'BeforeTool',
  copilot: 'preToolUse',
  vscode: 'PreToolUse',
}

/** The command that an agent is about to run; null if the event is of another kind. */
function commandBefore(host: HostName, event: string, body: unknown): string | null {
  if (beforeTool[host] !== event) return null
  const { tool_input, toolArgs } = fieldsOf(body)
  const { command } = parsedFields(tool_input ?? toolArgs)
  const words = Array.isArray(command)
    ? command.filter((each) => typeof each === 'string')
    : command
  return Array.isArray(words) ? words.join(' ') : typeof words === 'string' ? words : null
}

/** A command that is about to be run and cannot be undone, and the run of which it is. */
export interface IrreversibleCommand {
  kind: string
  runId: string
}

/** The command of an event before a tool, if it cannot be undone; null for any other event. */
export function irreversibleBefore(
  host: HostName,
  event: string,
  body: unknown,
): IrreversibleCommand | null {
  const command = commandBefore(host, event, body)
  const kind = command === null ? null : irreversibleIn(command)
  const { session_id, sessionId } = fieldsOf(body)
  return kind === null ? null : { kind, runId: `${host}:${textOf(session_id, sessionId)}` }
}

/** The answer by which a command is held back: it cannot be undone, and its run has left the errand. */
export function heldAnswer(
  host: HostName,
  event: string,
  errand: string,
  { kind }: IrreversibleCommand,
): Record<string, unknown> {
  return holdAnswer(host, event, heldReason(errand, kind))
}

/** What is known of a session when its host waits for an answer. */
export interface Answering {
  observed: Observed
  /** The errand that is told again after a compaction; null if there is none, or if it is not to be told. */
  errand: string | null
  /** Takes what the agent is to be told; null if nothing. */
  takeFact(): string | null
}

/** Whether events say that the context of an agent was compacted. */
export function isCompacted(events: readonly HostEvent[]): boolean {
  return events.some((each) => each.kind === 'session' && each.source === 'compact')
}

/**
 * The answer to events of one session: the errand after a compaction, else what the agent is to be told, if the host takes
 * it at this event. `named` is the event's name, `event` the part of it that stands in the address.
 */
export function answerTo(
  host: HostName,
  { event, named }: { event: string; named: string },
  events: readonly HostEvent[],
  { observed, errand, takeFact }: Answering,
): Record<string, unknown> {
  if (isCompacted(events) && errand !== null && errand !== '') {
    return answerWith(host, event, reminderOf(errand, observed))
  }
  const fact = canTell(host, named) ? takeFact() : null
  return fact === null ? emptyAnswer(host, event) : answerWithFact(host, named, fact)
}

/** Why a command is held back: at most 300 characters of the errand, and what it does that cannot be undone. */
function heldReason(ground: string, kind: string): string {
  return `The run has left its errand ("${cutTo(ground, 300)}"), and this cannot be undone (${kind}). [plumbline]`
}

/** The answer by which a host asks its person before it runs a command, or does not run it where it cannot ask. */
function holdAnswer(host: HostName, event: string, reason: string): Record<string, unknown> {
  switch (host) {
    case 'gemini-cli':
      return { decision: 'deny', reason }
    case 'copilot':
      return { permissionDecision: 'deny', permissionDecisionReason: reason }
    default: {
      const permissionDecision = host === 'codex' ? 'deny' : 'ask'
      return {
        hookSpecificOutput: {
          hookEventName: event,
          permissionDecision,
          permissionDecisionReason: reason,
        },
      }
    }
  }
}

/**
 * What an agent is told when its run has left the errand: the errand in the user's words, what was done last and how
 * much of it belongs to the errand, and what of the plan is open. `saidAt` is when the user said it, milliseconds since
 * 1970, or null. Facts, no orders; at most 1,000 characters, ending with the mark by which it is known if it comes back.
 */
export function factOf(
  ground: string,
  { plan, doings, doing, goal, drift }: ObservedAgent,
  saidAt: number | null = null,
): string {
  const open = plan.filter(({ state }) => state !== 'done').map(({ text }) => text)
  const { known, recent } = coverageOf(doings)
  const done = doing.length === 0 ? goal : doing.join('; ')
  const time = saidAt === null ? '' : ` (${isoTime(saidAt).slice(11, 16)} UTC)`
  const parts = [
    `The errand in the user's words${time}: "${cut(ground, 400)}".`,
    done === null ? '' : `Done last: ${cut(done, 200)}.`,
    drift === null ? '' : cut(drift.why, 220),
    known && recent !== null
      ? `Of the last acts ${Math.round(100 * recent)} % share a word or a file with the errand.`
      : '',
    open.length === 0 ? '' : `Open in the plan: ${cut(open.join('; '), 150)}.`,
  ]
  return marked(parts)
}

/**
 * What an agent is told again after its context was compacted: the errand in the user's words, what the user said
 * last, and what of its plan is open. At most 1,000 characters, ending with the mark by which it is known if it comes
 * back.
 */
function reminderOf(ground: string, { agents, errand }: Observed): string {
  const open = (Object.hasOwn(agents, '') ? agents['']?.plan : undefined) ?? []
  const items = open.filter(({ state }) => state !== 'done').map(({ text }) => text)
  const parts = [
    `The errand in the user's words: "${cut(ground, 500)}".`,
    errand === null || ground.includes(errand) ? '' : `The user said last: "${cut(errand, 200)}".`,
    items.length === 0 ? '' : `Open in the plan: ${cut(items.join('; '), 200)}.`,
  ]
  return marked(parts)
}

function marked(parts: readonly string[]): string {
  const told = parts.filter((part) => part !== '').join(' ')
  return `${cut(told.replace(/\s+/g, ' '), longestFact - 20)} [plumbline]`
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1).toWellFormed()}…`
}
