import { fieldsOf, textOf } from './fields.ts'
import type { HostName } from './host-event.ts'
import { readers } from './readers.ts'

/** The most names of events that are kept of one host. */
export const mostUnknownEvents = 20

/** An event that no host has, by which it is found out who answers. It says nothing. */
export const probeEvent = 'PlumblineProbe'

/** The events of all hosts that are read, or that are known to say nothing that counts. */
const knownEvents: ReadonlySet<string> = new Set(
  `SessionStart SessionEnd SessionShutdown UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PostToolBatch
   SubagentStart SubagentStop Stop StopFailure Interrupt PermissionRequest Notification PreCompact PostCompact
   MessageDisplay TaskCreated TaskCompleted BeforeAgent AfterAgent BeforeTool AfterTool PreCompress BeforeModel
   AfterModel BeforeToolSelection TaskStart TaskResume TaskCancel TaskComplete TaskError ${probeEvent}
   sessionStart sessionEnd userPromptSubmitted userPromptTransformed preToolUse postToolUse postToolUseFailure
   permissionRequest subagentStart subagentStop agentStop notification preCompact errorOccurred beforeSubmitPrompt
   stop beforeShellExecution afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit
   afterAgentResponse afterAgentThought chat.message tool.execute.before tool.execute.after
   experimental.text.complete event agent-turn-complete`.split(/\s+/),
)

/**
 * The name of an event that no reader understands; null if one does, or if it is known to say nothing. `name` is the name in
 * the address. A text that looks like no name is told as `(no name)`, because only names are kept.
 */
export function unknownEvent(host: HostName, event: unknown, name: string): string | null {
  const fields = fieldsOf(event)
  const called = textOf(
    fields.hook_event_name,
    fields.hookEventName,
    name,
    fields.hook,
    fields.type,
  )
  if (knownEvents.has(called)) return null
  if (readers[host](event, name === '' ? undefined : name).length > 0) return null
  return /^[A-Za-z][\w.:-]{0,59}$/.test(called) ? called : '(no name)'
}
