import { join } from 'node:path'
import type { PrivacyLevel } from '../../core/hosts/privacy.ts'

/** What a relay is told. */
export interface RelaySettings {
  /** The server that it reports to, without a slash at its end, and the key for it. */
  url: string
  key: string
  level: PrivacyLevel
  /** Where it listens on 127.0.0.1; 0 for a free port. */
  port: number
  /** The key that hosts of this machine send. */
  localKey: string
  /** The key of the hashes; it never leaves this machine. */
  hashKey: string
}

/** The folder in which a relay keeps what waits, below that of what the hooks of hosts need. */
export function relayFolderIn(folder: string): string {
  return join(folder, 'relay')
}
