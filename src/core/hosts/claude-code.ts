import { exitCodeOf } from './failures.ts'
import { amountOf, type Fields, fieldsOf, listOf, textOf, timeOf } from './fields.ts'
import type { HostEvent, HostFact, HostName } from './host-event.ts'
import { idOf, placed } from './place.ts'
import { spokenBy } from './speaker.ts'
import { factsOfTool, outputOf } from './tool-facts.ts'

/** Reads the hooks of Claude Code (2.1): hosts of its family use the same events and fields. */
export function readClaudeCode(event: unknown, name?: string): HostEvent[] {
  return readClaudeFamily('claude-code', event, name)
}

/** Reads an event in the form of Claude Code's hooks. */
export function readClaudeFamily(host: HostName, event: unknown, name?: string): HostEvent[] {
  const fields = fieldsOf(event)
  const place = {
    host,
    session: idOf(fields.session_id, fields.conversation_id),
    agentId: idOf(fields.agent_id),
    at: timeOf(fields.timestamp),
    event: fields,
  }
  const called = textOf(fields.hook_event_name, name)
  if (called === 'PostToolBatch') {
    return listOf(fields.tool_calls).flatMap((each) => {
      const call = fieldsOf(each)
      return placed(
        { ...place, id: idOf(call.tool_use_id), event: { ...fields, ...call } },
        factsOfCall(fields, call),
      )
    })
  }
  const id = idOf(fields.tool_use_id)
  switch (called) {
    case 'SessionStart':
      return placed(place, [{ kind: 'session', source: sourceOf(fields.source) }])
    case 'UserPromptSubmit': {
      // A sub-agent's prompt is its task.
      const spoken = spokenBy(promptOf(fields), fields.source, 'unknown')
      if (spoken === null) return []
      const fact: HostFact =
        place.agentId === ''
          ? { kind: 'prompt', ...spoken }
          : { kind: 'delegate', task: spoken.text, child: place.agentId }
      return placed({ ...place, id: idOf(fields.prompt_id, fields.turn_id) }, [fact])
    }
    case 'PreToolUse': {
      const facts = factsOfCall(fields, fields)
      // A task has to be known before its agent begins.
      const tasks = facts.filter(({ kind }) => kind === 'delegate')
      return [
        ...placed({ ...place, id: id === '' ? '' : `${id}#before` }, tasks),
        ...placed({ ...place, id }, beginning(id, facts)),
      ]
    }
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return placed({ ...place, id }, factsOfCall(fields, fields))
    case 'SubagentStart':
    case 'SubagentStop':
      return placed({ ...place, agentId: '' }, [
        {
          kind: 'agent',
          child: place.agentId,
          parent: '',
          state: called === 'SubagentStart' ? 'start' : 'stop',
          agentType: textOf(fields.agent_type),
          said: textOf(fields.last_assistant_message),
        },
      ])
    case 'Stop':
    case 'StopFailure':
      return placed(place, [
        {
          kind: 'turnEnd',
          said: textOf(fields.last_assistant_message),
          expects: listOf(fields.session_crons)
            .map((each) => textOf(fieldsOf(each).prompt))
            .filter((text) => text !== ''),
        },
      ])
    case 'PermissionRequest':
      return placed(place, [{ kind: 'wait', for: 'permission' }])
    case 'Notification':
      return /permission/.test(textOf(fields.notification_type))
        ? placed(place, [{ kind: 'wait', for: 'permission' }])
        : []
    case 'PreCompact':
      return placed(place, [{ kind: 'compact' }])
    case 'SessionEnd':
      return placed(place, [{ kind: 'runEnd', reason: textOf(fields.reason) }])
    default:
      return []
  }
}

/** That a call begins which is an act: its end is known by the same id. */
export function beginning(id: string, facts: readonly HostFact[]): HostFact[] {
  return id !== '' && facts.some(({ kind }) => kind === 'act') ? [{ kind: 'begin' }] : []
}

/** What a host put around the words may be longer than any words that are kept. */
function promptOf({ submitted_prompt, prompt }: Fields): string {
  const given = [submitted_prompt, prompt].find((each) => typeof each === 'string' && each !== '')
  return typeof given === 'string' ? given : ''
}

function factsOfCall(event: Fields, call: Fields): HostFact[] {
  const tool = textOf(call.tool_name)
  if (tool === '') return []
  if (tool === 'AskUserQuestion') return [{ kind: 'person', how: 'answer' }]
  const answer = call.tool_response
  const output = outputOf(call.error ?? answer)
  const exit = amountOf(fieldsOf(answer).exit_code) ?? exitOf(output)
  const didFail =
    call.error !== undefined || (exit !== undefined && exit !== 0) || isRefused(answer)
  return factsOfTool(
    {
      tool,
      input: fieldsOf(call.tool_input),
      root: textOf(event.cwd),
      outcome: didFail ? 'failed' : output === undefined ? 'unknown' : 'ok',
      exit,
      output,
      ms: amountOf(call.duration_ms),
    },
    answer,
  )
}

/** A call that Claude Code did not make, of a tool that is not offered or with arguments that do not fit, has this answer. */
function isRefused(answer: unknown): boolean {
  return typeof answer === 'string' && answer.startsWith('<tool_use_error>')
}

/** Claude Code tells the exit code of a command that failed in the first line of its answer. */
function exitOf(output: string | undefined): number | undefined {
  return output?.startsWith('Exit code ') ? exitCodeOf(output) : undefined
}

function sourceOf(source: unknown): 'startup' | 'resume' | 'clear' | 'compact' | 'fork' {
  return source === 'resume' || source === 'clear' || source === 'compact' || source === 'fork'
    ? source
    : 'startup'
}
