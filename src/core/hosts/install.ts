import { type Fields, fieldsOf, listOf, textOf } from './fields.ts'
import type { HostName } from './host-event.ts'

/** The hosts into whose settings hooks can be put; those of Cursor and VS Code were read from documentation alone. */
export const installHosts = [
  'claude-code',
  'codex',
  'gemini-cli',
  'qwen-code',
  'copilot',
  'cursor',
  'vscode',
] as const satisfies readonly HostName[]

/** The hosts whose lists of hooks hold the handlers themselves, and not groups of them. */
const flatHosts: ReadonlySet<InstallHost> = new Set(['copilot', 'cursor', 'vscode'])

export type InstallHost = (typeof installHosts)[number]

/** The hosts that read settings with comments; the others take them for no JSON. */
export const commentingHosts: ReadonlySet<InstallHost> = new Set([
  'gemini-cli',
  'qwen-code',
  'copilot',
  'cursor',
  'vscode',
])

/** A hook in the settings of a host. */
export interface HookEntry {
  event: string
  /** The tools it is for, as a pattern; absent for all. */
  matcher?: string
  handler: Fields
}

/** How the hooks of a host reach the server. */
export interface HookWay {
  /** The absolute path of the program that hosts run; null if each user of a project has one of their own. */
  shim: string | null
  /** The server's address if the host itself calls it with the key of its environment; null if it runs the program. */
  url: string | null
  /** Whether commands that cannot be undone are held: the host then asks before each command. */
  holds?: boolean
}

/** What the hooks of each host are: the events, those for some tools only, and the limit in the host's own unit. */
const plans: Record<
  InstallHost,
  {
    events: readonly string[]
    matchers?: Readonly<Record<string, string>>
    timeout: number
    /** The event before a tool, and the tools that run commands. */
    before?: { event: string; commands: string }
  }
> = {
  'claude-code': {
    events: [
      'SessionStart',
      'UserPromptSubmit',
      'PreToolUse',
      'PostToolBatch',
      'PostToolUseFailure',
      'SubagentStart',
      'SubagentStop',
      'Stop',
      'PermissionRequest',
      'Notification',
      'SessionEnd',
    ],
    matchers: { PreToolUse: 'Agent|Task' },
    timeout: 1,
    before: { event: 'PreToolUse', commands: 'Bash' },
  },
  codex: {
    events: [
      'SessionStart',
      'UserPromptSubmit',
      'PostToolUse',
      'SubagentStart',
      'SubagentStop',
      'Stop',
      'PermissionRequest',
      'SessionEnd',
    ],
    timeout: 1,
    before: { event: 'PreToolUse', commands: 'Bash' },
  },
  'gemini-cli': {
    events: [
      'SessionStart',
      'BeforeAgent',
      'BeforeTool',
      'AfterTool',
      'AfterAgent',
      'Notification',
      'SessionEnd',
    ],
    matchers: { BeforeTool: 'invoke_agent' },
    timeout: 1000,
    before: { event: 'BeforeTool', commands: 'run_shell_command' },
  },
  'qwen-code': {
    events: [
      'SessionStart',
      'UserPromptSubmit',
      'PostToolUse',
      'PostToolUseFailure',
      'SubagentStart',
      'SubagentStop',
      'Stop',
      'PermissionRequest',
      'SessionEnd',
    ],
    timeout: 1000,
    before: { event: 'PreToolUse', commands: 'run_shell_command' },
  },
  copilot: {
    events: [
      'sessionStart',
      'userPromptSubmitted',
      'postToolUse',
      'postToolUseFailure',
      'subagentStart',
      'subagentStop',
      'agentStop',
      'preCompact',
      'notification',
      'sessionEnd',
    ],
    timeout: 1,
    before: { event: 'preToolUse', commands: '' },
  },
  cursor: {
    events: [
      'sessionStart',
      'beforeSubmitPrompt',
      'postToolUse',
      'postToolUseFailure',
      'subagentStart',
      'subagentStop',
      'stop',
      'sessionEnd',
    ],
    timeout: 1,
  },
  vscode: {
    events: [
      'SessionStart',
      'UserPromptSubmit',
      'PostToolUse',
      'SubagentStart',
      'SubagentStop',
      'Stop',
      'PreCompact',
    ],
    timeout: 1,
    before: { event: 'PreToolUse', commands: '' },
  },
}

/** The hooks that a host gets. Only Claude Code can call a server itself, and not when a session begins. */
export function entriesFor(host: InstallHost, { shim, url, holds = false }: HookWay): HookEntry[] {
  const { events, matchers = {}, timeout, before } = plans[host]
  const extra = holds && before !== undefined && !events.includes(before.event)
  const all = extra ? [...events, before.event] : events
  return all.map((event) => {
    const known = matchers[event]
    const commands = holds && event === before?.event ? before.commands : ''
    const matcher = [known, commands].filter(Boolean).join('|') || undefined
    const calls = host === 'claude-code' && event !== 'SessionStart' ? url : null
    const handler =
      calls === null
        ? commandOf(host, `${shim === null ? anyShim : quoted(shim)} ${host} ${event}`, timeout)
        : {
            type: 'http',
            url: `${calls}/v1/hooks/${host}/${event}`,
            headers: { Authorization: 'Bearer $PLUMBLINE_KEY' },
            allowedEnvVars: ['PLUMBLINE_KEY'],
            timeout: 0.25,
          }
    return { event, ...(matcher === undefined ? {} : { matcher }), handler }
  })
}

/** Runs the program of whoever works in a project, and reports nothing where there is none. */
export const anyShim = `sh -c 'h="\${PLUMBLINE_HOME:-$HOME/.plumbline}/hook"; [ -x "$h" ] && exec "$h" "$@"; cat >/dev/null; [ "$2" = beforeSubmitPrompt ] && echo "{\\"continue\\":true}" || echo "{}"' hook`

/** A handler that runs a command, in the host's own form. */
function commandOf(host: InstallHost, command: string, timeout: number): Fields {
  switch (host) {
    case 'copilot':
      return { type: 'command', bash: command, timeoutSec: timeout }
    case 'cursor':
      return { command }
    default:
      return { type: 'command', command, timeout }
  }
}

/** A path as a word of a shell's command. */
function quoted(path: string): string {
  return `"${path.replace(/["\\$`]/g, '\\$&')}"`
}

/** Says why hooks cannot be put into these settings; null if they can. */
export function faultIn(settings: unknown): string | null {
  if (!isObject(settings)) return 'it is not a JSON object'
  const { hooks = {}, hooksConfig = {} } = settings
  if (!isObject(hooks)) return 'its "hooks" is not an object'
  if (!isObject(hooksConfig)) return 'its "hooksConfig" is not an object'
  const events = new Set(Object.values(plans).flatMap((plan) => plan.events))
  const wrong = Object.keys(hooks).find((name) => events.has(name) && !Array.isArray(hooks[name]))
  return wrong === undefined ? null : `its "hooks.${wrong}" is not a list`
}

/** Says why the host runs no hooks at all, whatever is put in; null if it runs them. */
export function switchedOff(settings: Fields): string | null {
  if (settings.disableAllHooks === true) return 'disableAllHooks is true'
  if (settings.allowManagedHooksOnly === true) return 'allowManagedHooksOnly is true'
  return fieldsOf(settings.hooksConfig).enabled === false ? 'hooksConfig.enabled is false' : null
}

/**
 * Says why a policy of the machine lets no hook run that stands in the settings of a user; null if it lets them. Claude Code
 * (2.1.330) takes a value of `strictPluginOnlyCustomization` that it does not understand for true.
 */
export function forbidsHooks(policy: Fields): string | null {
  if (policy.disableAllHooks === true) return 'disableAllHooks is true'
  if (policy.allowManagedHooksOnly === true)
    return 'allowManagedHooksOnly is true, so only the hooks of the policy itself run'
  const { strictPluginOnlyCustomization: strict } = policy
  const isStrict = Array.isArray(strict) ? strict.includes('hooks') : (strict ?? false) !== false
  return isStrict
    ? 'strictPluginOnlyCustomization holds for hooks, so only those of plugins and of the policy run'
    : null
}

/** Whether the settings name the variables that hooks may send, and not this one. */
export function refusesVariable({ httpHookAllowedEnvVars: names }: Fields, name: string): boolean {
  return Array.isArray(names) && !names.includes(name)
}

/** Whether the settings name the addresses that hooks may call, and not this one. A `*` stands for any text. */
export function refusesUrl({ allowedHttpHookUrls }: Fields, url: string): boolean {
  if (url === '' || !Array.isArray(allowedHttpHookUrls)) return false
  return !allowedHttpHookUrls.map(textOf).some((pattern) => {
    const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    return new RegExp(`^${parts.join('.*')}$`).test(url)
  })
}

/** The limits of any hooks that look like milliseconds where the host counts seconds, or the other way round. */
export function oddTimeouts(host: InstallHost, settings: Fields): string[] {
  const inSeconds = plans[host].timeout < 1000
  return Object.entries(fieldsOf(settings.hooks)).flatMap(([event, groups]) =>
    listOf(groups).flatMap((each) => {
      const { hooks } = fieldsOf(each)
      return (hooks === undefined ? [each] : listOf(hooks)).flatMap((handler) => {
        const { timeout, timeoutSec } = fieldsOf(handler)
        const limit = timeout ?? timeoutSec
        if (typeof limit !== 'number') return []
        return (inSeconds ? limit >= 1000 : limit < 50) ? [`${event} ${limit}`] : []
      })
    }),
  )
}

/** Whether the host runs no hooks unless a switch is set that these settings do not hold. */
export function lacksSwitch(host: InstallHost, settings: Fields): boolean {
  return host === 'qwen-code' && fieldsOf(settings.hooksConfig).enabled === undefined
}

/** Puts hooks after those of others, and sets the switch that the host needs, unless there is one. */
export function addEntries(
  host: InstallHost,
  settings: Fields,
  entries: readonly HookEntry[],
): Fields {
  let hooks = fieldsOf(settings.hooks)
  for (const { event, matcher, handler } of entries) {
    const group = flatHosts.has(host)
      ? handler
      : { ...(matcher === undefined ? {} : { matcher }), hooks: [handler] }
    hooks = { ...hooks, [event]: [...listOf(hooks[event]), group] }
  }
  const version =
    needsVersion(host, entries) && settings.version === undefined ? { version: 1 } : {}
  const added = { ...version, ...settings, hooks }
  if (!lacksSwitch(host, settings)) return added
  return { ...added, hooksConfig: { ...fieldsOf(settings.hooksConfig), enabled: true } }
}

/** Whether the file of these hooks names its version: those of Cursor, and of Copilot CLI in a project. */
function needsVersion(host: InstallHost, entries: readonly HookEntry[]): boolean {
  const isForProject = entries.some(({ handler }) => textOf(handler.bash).startsWith(anyShim))
  return host === 'cursor' || (host === 'copilot' && isForProject)
}

/** The hooks of Plumbline in the settings of a host, in their order. */
export function ownEntries(settings: unknown): HookEntry[] {
  return Object.entries(fieldsOf(fieldsOf(settings).hooks)).flatMap(([event, groups]) =>
    listOf(groups).flatMap((each) => {
      const { matcher, hooks } = fieldsOf(each)
      const handlers = hooks === undefined ? [each] : listOf(hooks)
      const own = handlers.filter(isOwn).map(fieldsOf)
      return own.map((handler) => ({
        event,
        ...(typeof matcher === 'string' ? { matcher } : {}),
        handler,
      }))
    }),
  )
}

/**
 * Takes the hooks of Plumbline out. `before` are the settings as they were without them: what was empty in those stays,
 * and what else has become empty goes, like a switch that they did not hold. If they are not known (null), the switch
 * goes only if no hook is left.
 */
export function removeEntries(host: InstallHost, settings: Fields, before: Fields | null): Fields {
  const dropped: string[] = []
  const changed: Record<string, unknown> = { ...settings }
  if (isObject(settings.hooks)) {
    const left = hooksWithout(settings.hooks, fieldsOf(before?.hooks))
    if (hasEmptied(settings.hooks, left) && !isObject(before?.hooks)) dropped.push('hooks')
    changed.hooks = left
  }
  const isUnused = Object.keys(fieldsOf(changed.hooks)).length === 0
  const isOurs = before === null ? isUnused : lacksSwitch(host, before)
  if (host === 'qwen-code' && isOurs && fieldsOf(settings.hooksConfig).enabled === true) {
    const { enabled: _, ...left } = fieldsOf(settings.hooksConfig)
    if (Object.keys(left).length === 0 && !isObject(before?.hooksConfig))
      dropped.push('hooksConfig')
    changed.hooksConfig = left
  }
  const isOurVersion = before === null ? isUnused : before.version === undefined
  const hadVersion = needsVersion(host, ownEntries(settings)) && settings.version === 1
  if (hadVersion && isOurVersion) dropped.push('version')
  return Object.fromEntries(Object.entries(changed).filter(([name]) => !dropped.includes(name)))
}

function hooksWithout(hooks: Fields, before: Fields): Fields {
  return Object.fromEntries(
    Object.entries(hooks).flatMap(([event, groups]) => {
      if (!Array.isArray(groups)) return [[event, groups]]
      const left = groups.flatMap(groupWithout)
      const emptied = left.length === 0 && groups.length > 0
      return emptied && !Array.isArray(before[event]) ? [] : [[event, left]]
    }),
  )
}

function groupWithout(group: unknown): unknown[] {
  const { hooks } = fieldsOf(group)
  if (hooks === undefined) return isOwn(group) ? [] : [group]
  const left = listOf(hooks).filter((handler) => !isOwn(handler))
  if (left.length === listOf(hooks).length) return [group]
  return left.length === 0 ? [] : [{ ...fieldsOf(group), hooks: left }]
}

function hasEmptied(before: Fields, after: Fields): boolean {
  return Object.keys(before).length > 0 && Object.keys(after).length === 0
}

/** The program, where it is kept by default or with the arguments that it gets, or that of whoever works in a project. */
const ownCommand = new RegExp(
  `\\.plumbline\\}?/hook(?![\\w.-])|/hook" (?:${installHosts.join('|')}) \\w+$`,
)

function isOwn(handler: unknown): boolean {
  const { url, command, bash } = fieldsOf(handler)
  if (typeof url === 'string' && url.includes('/v1/hooks/')) return true
  const runs = command ?? bash
  return typeof runs === 'string' && ownCommand.test(runs)
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
