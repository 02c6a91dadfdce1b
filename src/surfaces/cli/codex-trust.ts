import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Fields, fieldsOf, listOf, textOf } from '../../core/hosts/fields.ts'
import { ownEntries } from '../../core/hosts/install.ts'

/** The limit of a hook of Codex that names none, in seconds. */
const defaultTimeout = 600

/** A hook that Codex does not run. */
export interface UntrustedHook {
  event: string
  state: 'new' | 'changed' | 'off'
}

/**
 * The hooks of Plumbline in a `hooks.json` of Codex that it does not run: nobody has trusted them, they have changed since, or
 * they are switched off. Codex (0.145 and newer) keeps a hash of each trusted hook in the `config.toml` beside the file.
 */
export function untrustedHooks(file: string, settings: Fields): UntrustedHook[] {
  const config = join(dirname(file), 'config.toml')
  const states = statesIn(existsSync(config) ? readFileSync(config, 'utf8') : '')
  const names = [file, realpathSync(file)]
  return Object.entries(fieldsOf(settings.hooks)).flatMap(([event, groups]) =>
    listOf(groups).flatMap((each, nth) => {
      const group = fieldsOf(each)
      return listOf(group.hooks).flatMap((handler, place): UntrustedHook[] => {
        if (ownEntries({ hooks: { [event]: [{ hooks: [handler] }] } }).length === 0) return []
        const label = trustLabel(event)
        const found = names
          .map((name) => states.get(`${name}:${label}:${nth}:${place}`))
          .find((state) => state !== undefined)
        if (found === undefined || found.hash === '') return [{ event, state: 'new' }]
        if (!found.enabled) return [{ event, state: 'off' }]
        const isSame = found.hash === trustHash(label, group.matcher, fieldsOf(handler))
        return isSame ? [] : [{ event, state: 'changed' }]
      })
    }),
  )
}

/** The name of an event in the keys of trusted hooks. */
export function trustLabel(event: string): string {
  return event.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
}

/** The hash by which Codex knows a hook that runs a command. */
export function trustHash(label: string, matcher: unknown, handler: Fields): string {
  const { command, timeout } = handler
  const limit = typeof timeout === 'number' ? Math.max(1, timeout) : defaultTimeout
  // The fields stand in the order of their names.
  const identity = JSON.stringify({
    event_name: label,
    hooks: [{ async: false, command, timeout: limit, type: 'command' }],
    ...(typeof matcher === 'string' ? { matcher } : {}),
  })
  return `sha256:${createHash('sha256').update(identity).digest('hex')}`
}

/** The tables `[hooks.state."KEY"]` of a TOML text, by their keys. */
function statesIn(toml: string): Map<string, { hash: string; enabled: boolean }> {
  const states = new Map<string, { hash: string; enabled: boolean }>()
  let key: string | null = null
  for (const line of toml.split('\n')) {
    const [, text, literal] =
      /^\s*\[hooks\.state\.(?:("(?:[^"\\]|\\.)*")|'([^']*)')\]/.exec(line) ?? []
    if (text !== undefined) key = unescaped(text)
    else if (literal !== undefined) key = literal
    else if (/^\s*\[/.test(line)) key = null
    if (key === null) continue
    const state = states.get(key) ?? { hash: '', enabled: true }
    const [, hash] = /^\s*trusted_hash\s*=\s*["']([^"']*)["']/.exec(line) ?? []
    const isOff = /^\s*enabled\s*=\s*false\b/.test(line)
    states.set(key, { hash: textOf(hash, state.hash), enabled: state.enabled && !isOff })
  }
  return states
}

/** A quoted key of TOML, whose escapes are those of JSON. */
function unescaped(text: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    return text.slice(1, -1)
  }
}
