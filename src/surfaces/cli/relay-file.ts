import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fieldsOf, textOf } from '../../core/hosts/fields.ts'
import { privacyLevels } from '../../core/hosts/privacy.ts'
import { parseJson } from '../../core/text.ts'
import type { RelaySettings } from '../relay/settings.ts'
import { replaceFile } from './host-file.ts'

/** The port of a relay, unless another program has it. */
export const relayPort = 8788

/** The file of the settings of a relay. */
export function relayFileIn(folder: string): string {
  return join(folder, 'relay.json')
}

/** The settings of the relay of a folder; null if there are none. */
export function readRelaySettings(folder: string): RelaySettings | null {
  const file = relayFileIn(folder)
  const fields = fieldsOf(parseJson(textIn(file)))
  const level = privacyLevels.find((each) => each === fields.level)
  const [url, key, localKey, hashKey] = ['url', 'key', 'local_key', 'hash_key'].map((name) =>
    textOf(fields[name]),
  )
  const { port } = fields
  const isPort = typeof port === 'number' && Number.isInteger(port) && port >= 0 && port < 65_536
  if (level === undefined || !isPort || !url || !key || !localKey || !hashKey) return null
  return { url, key, level, port, localKey, hashKey }
}

function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // There is none, or it was deleted just now.
    return ''
  }
}

/** Writes the settings of the relay of a folder. */
export function writeRelaySettings(folder: string, settings: RelaySettings): void {
  const { url, key, level, port, localKey, hashKey } = settings
  const fields = { url, key, level, port, local_key: localKey, hash_key: hashKey }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  replaceFile(relayFileIn(folder), `${JSON.stringify(fields, null, 2)}\n`, 0o600)
}

/** A key that nobody can guess. */
export function newSecret(): string {
  return randomBytes(24).toString('base64url')
}
