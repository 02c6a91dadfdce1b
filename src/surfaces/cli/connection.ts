import { existsSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { HookMode } from '../../core/hosts/hook-settings.ts'
import type { PrivacyLevel } from '../../core/hosts/privacy.ts'
import type { RelayStatus } from '../relay/relay.ts'
import { type RelaySettings, relayFolderIn } from '../relay/settings.ts'
import type { CliWorld } from './command.ts'
import { keyIn, prepareServer } from './hook-key.ts'
import { hasCurl, removeStarter, writeAsker, writeShim, writeStarter } from './hook-shim.ts'
import { ensureRelay, relayStatus, stopRelay, untilDown, untilUp } from './relay.ts'
import {
  newSecret,
  readRelaySettings,
  relayFileIn,
  relayPort,
  writeRelaySettings,
} from './relay-file.ts'
import { isHere } from './server-address.ts'

/** What is wanted of a connection. */
export interface WantedConnection {
  url: string
  /** The key that the user has given. */
  key: string
  folder: string
  label: string
  mode: HookMode | null
  /** What a relay tells the server; null without one. */
  level: PrivacyLevel | null
  world: CliWorld
}

/** Where hooks go, and what was done for it. */
export interface Connection {
  url: string
  who: 'server' | 'relay'
  notes: string[]
}

/** Writes what hooks need to reach a server: by themselves, or by a relay that it starts. */
export async function connect(wanted: WantedConnection): Promise<Connection> {
  const { url, key, folder, label, mode, level, world } = wanted
  const relay = readRelaySettings(folder)
  const keyBefore = relay?.url === url ? relay.key : keyIn(folder, url)
  const prepared = await prepareServer({ url, key, before: keyBefore, label, mode })
  const asking = await noteOfAsking(world)
  if (level === null) {
    const notes = relay === null ? [] : [`${await removeRelay(folder)}`]
    writeShim(folder, url, prepared.key)
    writeAsker(folder, asking.node)
    world.out(`Wrote hook, curl.conf and url to ${folder}; the server is ${url}.\n`)
    return { url, who: 'server', notes: [...prepared.notes, ...asking.notes, ...notes] }
  }
  const settings: RelaySettings = {
    url,
    key: prepared.key,
    level,
    port: relay?.port || (await freePort()),
    localKey: relay?.localKey ?? newSecret(),
    hashKey: relay?.hashKey ?? newSecret(),
  }
  const address = `http://127.0.0.1:${settings.port}`
  const before = relay === null ? null : await relayStatus(relay)
  // A relay that is up heeds them from now on.
  writeRelaySettings(folder, settings)
  writeShim(folder, address, settings.localKey)
  writeAsker(folder, asking.node)
  writeStarter(folder, world.program)
  const up = await untilUp(settings, await ensureRelay(settings, folder, world))
  world.out(
    `Wrote hook, curl.conf, url and relay.json to ${folder}; hooks go to the relay at ${address}.\n`,
  )
  const told = `The relay tells ${url} ${meaningOf[level]}.`
  const plain = 'The connection is not encrypted: use https, or a tunnel.'
  const notes = [
    told,
    ...(isHere(url) || url.startsWith('https:') ? [] : [plain]),
    ...withheldNotes(before, up),
    ...(up !== null
      ? []
      : [`The relay has not started; ${relayFolderIn(folder)}/log may say why.`]),
  ]
  return { url: address, who: 'relay', notes: [...prepared.notes, ...asking.notes, ...notes] }
}

/** The Node program that asks where there is no curl, and what that costs; null and nothing where there is one. */
async function noteOfAsking({ environment, program }: CliWorld) {
  const [node = null] = program
  return (await hasCurl(environment)) || node === null
    ? { node: null, notes: [] }
    : {
        node,
        notes: [
          'There is no curl here, so a Node program asks in its place: an event costs some 200 ms instead of 10. Install curl and run this again.',
        ],
      }
}

function withheldNotes(before: RelayStatus | null, up: RelayStatus | null): string[] {
  const withheld = (up?.withheld ?? 0) - (before?.withheld ?? 0)
  return withheld <= 0
    ? []
    : [`${withheld} events that waited are gone: they told more than that, or to another server.`]
}

/** What each level tells, for a person. */
const meaningOf: Record<PrivacyLevel, string> = {
  words: 'prompts, plans, paths and commands, without what looks like a secret',
  hashes: 'prompts and plans in clear, and paths and commands only as hashes',
  counts: 'no text at all, so that there is no verdict on drift',
}

/** Ends the relay of a folder and removes what belongs to it. Returns what was done, in one sentence. */
export async function removeRelay(folder: string): Promise<string | null> {
  const settings = readRelaySettings(folder)
  if (settings === null && !existsSync(relayFileIn(folder))) return null
  const status = settings === null ? null : await relayStatus(settings)
  if (settings !== null && (await stopRelay(settings))) await untilDown(settings)
  removeStarter(folder)
  rmSync(relayFileIn(folder), { force: true })
  rmSync(relayFolderIn(folder), { recursive: true, force: true })
  const waiting = status?.waiting ?? 0
  const lost = waiting === 0 ? '' : ` ${waiting} events that had not been sent are gone.`
  return `Stopped and removed the relay.${lost}`
}

/** The port of relays, or one that no program has. */
async function freePort(): Promise<number> {
  return (await tried(relayPort)) ?? (await tried(0)) ?? relayPort
}

function tried(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.on('error', () => resolve(null))
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      const taken = typeof address === 'object' && address !== null ? address.port : null
      server.close(() => resolve(taken))
    })
  })
}
