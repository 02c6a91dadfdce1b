import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fieldsOf, listOf, textOf } from '../../core/hosts/fields.ts'
import type { InstallHost } from '../../core/hosts/install.ts'
import type { FileHost } from '../../core/hosts/install-files.ts'
import type { RelaySettings } from '../relay/settings.ts'
import type { CliSettings, CliWorld } from './command.ts'
import { asked } from './hook-key.ts'
import { relayStatus } from './relay.ts'
import { readRelaySettings } from './relay-file.ts'
import { isHere } from './server-address.ts'

/** The server to which the events of hosts go. */
export interface ReachedServer {
  url: string
  /** A key that may read there; null with what is missing in `lacks`. */
  key: string | null
  lacks: string
  /** The relay by which they go; null without one. */
  relay: RelaySettings | null
}

/** The server that hooks report to, by the relay or by themselves. A key for another one is not shown to it. */
export function reachedServer(folder: string, { serverUrl, key }: CliSettings): ReachedServer {
  const relay = readRelaySettings(folder)
  const file = join(folder, 'url')
  const named = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  const url = relay?.url ?? (named || serverUrl)
  const isOther = url !== serverUrl && !isHere(serverUrl)
  return isOther
    ? {
        url,
        key: null,
        lacks: `PLUMBLINE_KEY is for ${serverUrl}, and hooks report to ${url}`,
        relay,
      }
    : { url, key, lacks: 'set PLUMBLINE_KEY to see its last run', relay }
}

/** When a hook of a host was last answered (0 if that is not known), how fast, and which of its events no reader understood, in the relay or on the server. */
export async function toldOfHooks(
  host: InstallHost | FileHost,
  { url, key, relay }: ReachedServer,
): Promise<{ lastAt: number; told: string[] }> {
  const here = relay === null ? null : await relayStatus(relay)
  const there = key === null ? {} : (await asked(url, key, 'GET', '/v1/hooks')).body
  const ofHost = (list: readonly unknown[]) =>
    list.map(fieldsOf).filter((each) => each.host === host)
  const unknown = ofHost([...(here?.not_understood ?? []), ...listOf(there.not_understood)])
  const names = unknown.map(({ name, count }) => `${name} (${count})`).join(', ')
  const answered = ofHost(listOf(there.answered))
  return {
    lastAt: Math.max(0, ...answered.map(({ last }) => Date.parse(textOf(last)) || 0)),
    told: [
      ...answered.map(
        ({ answers, p50_ms, p99_ms }) =>
          `answers within ${p50_ms} ms, 99 % within ${p99_ms} ms, of ${answers}`,
      ),
      ...(names === '' ? [] : [`events that were not understood: ${names}`]),
    ],
  }
}

/** What the server knows of the last run of a host; `lastAt` is when a hook of it was last answered. */
export async function lastRun(
  host: InstallHost | FileHost,
  world: CliWorld,
  { url, key, lacks }: ReachedServer,
  lastAt: number,
): Promise<string> {
  if (key === null) return lacks
  const { status, body, says } = await asked(url, key, 'GET', `/v1/drift/runs?host=${host}&limit=1`)
  if (status !== 200) return `its last run is not known (${says})`
  const [run] = listOf(body.runs).map(fieldsOf)
  if (run === undefined) return 'no event has arrived yet'
  const at = Math.max(lastAt, Date.parse(textOf(run.updated)))
  const minutes = Math.max(0, Math.round((world.now() - at) / 60_000))
  const { acts, ended, agents_started, agents_stopped } = fieldsOf(run.seen)
  const seen =
    typeof acts === 'number' && typeof ended === 'number' && acts > 0
      ? `seen ${ended} of ${acts} acts to their end`
      : 'no act seen yet'
  const agents =
    typeof agents_started === 'number' && agents_started > 0
      ? `, ${agents_stopped} of ${agents_started} sub-agents stopped`
      : ''
  const coverage = fieldsOf(run.coverage)
  const explained =
    coverage.known === true && typeof coverage.share === 'number'
      ? `, the errand explains ${Math.round(100 * coverage.share)} % of ${coverage.acts} acts`
      : ''
  const since = textOf(fieldsOf(run.silent).since)
  const silent = since === '' ? '' : `, silent since ${since.slice(0, 16)}Z`
  return `last run ${textOf(run.run_id)}, last event ${minutes} min ago, ${seen}${explained}${agents}${silent}`
}
