import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RemoteServer } from '../relay/remote.ts'
import type { CliWorld } from './command.ts'
import { keyIn } from './hook-key.ts'
import { ensureRelay } from './relay.ts'
import { readRelaySettings } from './relay-file.ts'
import { isHere, readServer } from './server-address.ts'
import { usageFault } from './usage-fault.ts'
import { hooksFolderOf, readSettings } from './user-home.ts'

/**
 * The server that session files are reported to: the one that hooks report to, or the one that is named. What is meant for
 * another machine goes to the relay, which starts if it is not up and tells what its level allows.
 */
export async function watchedServer(world: CliWorld, named: string | null): Promise<RemoteServer> {
  const settings = readSettings(world)
  const folder = hooksFolderOf(world, settings)
  const file = join(folder, 'url')
  const before = existsSync(file) ? readFileSync(file, 'utf8').trim() : null
  const url = named === null ? (before ?? settings.serverUrl) : readServer(named)
  const relay = readRelaySettings(folder)
  if (relay !== null) {
    const local = `http://127.0.0.1:${relay.port}`
    if (url === relay.url || url === local) {
      await ensureRelay(relay, folder, world)
      return { url: local, key: relay.localKey }
    }
  }
  if (!isHere(url)) {
    throw usageFault(
      `${url} is not on this machine; plumbline relay --server ${url} says what may leave it, and then watch reports by that relay.`,
    )
  }
  const key = keyIn(folder, url) ?? settings.key
  if (key === null) {
    throw usageFault(`set PLUMBLINE_KEY to a key of ${url}, or let plumbline init HOST make one.`)
  }
  return { url, key }
}
