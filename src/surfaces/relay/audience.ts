import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fieldsOf, textOf } from '../../core/hosts/fields.ts'
import { isStricter, type PrivacyLevel, privacyLevels } from '../../core/hosts/privacy.ts'
import { parseJson } from '../../core/text.ts'
import type { Spool } from './spool.ts'

/** The server that lines are meant for, and the most that they tell. */
export interface Audience {
  url: string
  level: PrivacyLevel
}

/**
 * Drops what waits in the spool of a folder if it was meant for another server, or tells more than the level allows now, and
 * notes for whom the next lines are meant. Returns how many were dropped. What is not known to fit is dropped too.
 */
export function keepFor(folder: string, spool: Spool, { url, level }: Audience): number {
  const file = join(folder, 'audience.json')
  const meant = readAudience(file)
  if (meant?.url === url && meant.level === level) return 0
  const fits = meant?.url === url && !isStricter(level, meant.level)
  const lines = fits ? 0 : spool.clear()
  noteAudience(folder, { url, level })
  return lines
}

/** Notes for whom the next lines in the spool of a folder are meant. */
export function noteAudience(folder: string, { url, level }: Audience): void {
  const file = join(folder, 'audience.json')
  writeFileSync(`${file}.new`, JSON.stringify({ url, level }), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

function readAudience(file: string): Audience | null {
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    // Nothing has been meant for anybody yet.
  }
  const { url, level } = fieldsOf(parseJson(text))
  const known = privacyLevels.find((each) => each === level)
  return known === undefined ? null : { url: textOf(url), level: known }
}
