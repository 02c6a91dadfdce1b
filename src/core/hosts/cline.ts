import { factsOfClineTool } from './cline-tools.ts'
import { amountOf, type Fields, fieldsOf, listOf, textOf, timeOf } from './fields.ts'
import type { HostEvent, HostFact } from './host-event.ts'
import { idOf, type Place, placed } from './place.ts'
import { spokenBy } from './speaker.ts'

/** Cline's names of the files that it calls, by its own names of the events. */
const files: Readonly<Record<string, string>> = {
  agent_start: 'TaskStart',
  agent_resume: 'TaskResume',
  agent_abort: 'TaskCancel',
  agent_end: 'TaskComplete',
  agent_error: 'TaskError',
  tool_result: 'PostToolUse',
  prompt_submit: 'UserPromptSubmit',
  pre_compact: 'PreCompact',
  session_shutdown: 'SessionShutdown',
}
/** What Cline puts around the words of a person. */
const around = /^<(user_input|task|user_message|feedback|answer)\b[^>]*>([\s\S]*)<\/\1>$/
const notice = /<mode_notice\b[^>]*>[\s\S]*?<\/mode_notice>/g

/** Reads the hooks of Cline (CLI 3.0 and its extension), named after the file that is called. */
export function readCline(event: unknown, name?: string): HostEvent[] {
  const fields = fieldsOf(event)
  const place = placeOf(fields)
  const { agentId: child = '' } = place
  switch (calledIn(fields, name)) {
    case 'TaskStart':
      // The first prompt comes in an event of its own, if at all.
      return child === ''
        ? placed(place, [{ kind: 'session', source: 'startup' }])
        : placed({ ...place, agentId: '' }, [{ kind: 'agent', child, parent: '', state: 'start' }])
    case 'TaskResume':
      return child === '' ? placed(place, [{ kind: 'session', source: 'resume' }]) : []
    case 'UserPromptSubmit':
      return placed(place, promptIn(fieldsOf(fields.userPromptSubmit), child))
    case 'PostToolUse': {
      const { id } = fieldsOf(fields.tool_result)
      return placed({ ...place, id: idOf(id) }, factsOfClineTool(fields, folderOf(fields)))
    }
    case 'TaskComplete':
    case 'TaskCancel':
    case 'TaskError': {
      const text = textOf(fieldsOf(fields.turn).outputText)
      const said = text === '' ? {} : { said: text }
      return child === ''
        ? placed(place, [{ kind: 'turnEnd', ...said, expects: [] }])
        : placed({ ...place, agentId: '' }, [
            { kind: 'agent', child, parent: '', state: 'stop', ...said },
          ])
    }
    case 'PreCompact':
      return placed(place, [{ kind: 'compact' }])
    case 'SessionShutdown':
      return child === '' ? placed(place, [{ kind: 'runEnd', reason: textOf(fields.reason) }]) : []
    default:
      return []
  }
}

/** The name of the event: that of the file, or what the body says. */
function calledIn({ hookName }: Fields, name?: string): string {
  const called = textOf(name, hookName)
  return Object.hasOwn(files, called) ? (files[called] ?? '') : called
}

/** A sub-agent is one that has a parent; a run is the root session, which the extension does not name. */
function placeOf(fields: Fields): Place {
  const isChild = idOf(fields.parent_agent_id) !== ''
  const time = textOf(fields.timestamp)
  return {
    host: 'cline',
    session: idOf(fieldsOf(fields.sessionContext).rootSessionId, fields.taskId),
    agentId: isChild ? idOf(fields.agent_id) : '',
    // The extension writes milliseconds as a text.
    at: /^\d{12,14}$/.test(time) ? amountOf(Number(time)) : timeOf(time),
    event: fields,
  }
}

function folderOf({ workspaceRoots, workspaceInfo }: Fields): string {
  return textOf(listOf(workspaceRoots)[0], fieldsOf(workspaceInfo).rootPath)
}

function promptIn({ prompt }: Fields, child: string): HostFact[] {
  const text = textOf(prompt).replace(notice, '').trim()
  const spoken = spokenBy(around.exec(text)?.[2]?.trim() ?? text)
  if (spoken === null) return []
  return [
    child === '' ? { kind: 'prompt', ...spoken } : { kind: 'delegate', task: spoken.text, child },
  ]
}
