import { setTimeout as pause } from 'node:timers/promises'
import {
  type BacktestStep,
  createSessionJudge,
  type Session,
} from '../../core/backtest/backtest.ts'
import { fieldsOf, textOf } from '../../core/hosts/fields.ts'
import type { HostEvent } from '../../core/hosts/host-event.ts'
import { cutTo, parseJson } from '../../core/text.ts'
import { isoTime } from '../../core/time.ts'
import { asReported, newestOf } from '../../core/transcripts/reported.ts'
import { type TranscriptHost, transcriptHosts } from '../../core/transcripts/transcript.ts'
import { createMemorySpool } from '../relay/memory-spool.ts'
import { createSender } from '../relay/sender.ts'
import { type CliWorld, type Command, exitCodes, parse } from './command.ts'
import { clockOf } from './relay.ts'
import { followSessionFile, sessionFilesIn, sessionsIn, sessionsOf } from './session-files.ts'
import { usageFault } from './usage-fault.ts'
import { homeOf, readSettings } from './user-home.ts'
import { watchedServer } from './watched-server.ts'

/** Files that have not changed for so long are not followed. */
const followedMs = 60 * 60_000
const betweenLooksMs = 500
/** Events that wait for a server until the files are read no further. */
const mostWaiting = 5_000

/** Judges the sessions of a host while they run. */
export const watchCommand: Command = {
  name: 'watch',
  summary: 'judge the sessions of an agent while it works, from its session files',
  usage: 'plumbline watch HOST [--drift] [--words] | plumbline watch HOST --server [URL]',
  details: `Follows the session files of HOST (${transcriptHosts.join(', ')}) and prints each step with
its verdict as the agent works. It needs no server and no key, changes no settings of the host and
sends nothing anywhere. Ctrl-C ends it.

  --drift         print only the steps that drift
  --words         judge by words alone, without the encoder
  --server [URL]  report what the files say to a server: the one that hooks report to, or URL. Printed
                  is only what it advises where somebody has chosen that (plumbline init --advise),
                  when a run leaves its errand. Beside hooks nothing counts twice, and the files say what hooks do not:
                  the words of the agent, and whether a person typed a prompt`,
  run: runWatch,
}

async function runWatch(args: string[], world: CliWorld): Promise<number> {
  const { values, positionals } = parse(args, {
    drift: { type: 'boolean' },
    words: { type: 'boolean' },
    server: { type: 'boolean' },
  })
  const [named, url = null] = positionals
  const host = transcriptHosts.find((each) => each === named)
  if (host === undefined) throw usageFault(`name one of ${transcriptHosts.join(', ')}.`)
  if (positionals.length > (values.server === true ? 2 : 1)) {
    throw usageFault(`unexpected argument "${positionals.at(-1)}".`)
  }
  if (values.server === true) {
    if (values.drift === true || values.words === true) {
      throw usageFault('--drift and --words are for what is judged here, without --server.')
    }
    return reportSessions(host, url, world)
  }
  return judgeSessions(host, values, world)
}

async function judgeSessions(
  host: TranscriptHost,
  values: { drift?: unknown; words?: unknown },
  world: CliWorld,
): Promise<never> {
  const settings = readSettings(world)
  const places = sessionsOf(host, homeOf(world.environment), world.environment)
  const reads = values.words === true ? null : world.reads()
  const judge = createJudges(host, {
    detector: 'meaning',
    ...(reads === null ? {} : { reads }),
    ...(settings.limit === null ? {} : { limit: settings.limit }),
  })
  const gained = createFollower(host, world.now() - followedMs)
  const follow = async (paths: readonly string[]) => judge(await gained(paths))
  // What has happened before is judged, so that the next step is judged among it, and not told.
  await follow(sessionFilesIn(places, world.now() - followedMs).map(({ path }) => path))
  world.err(`watching ${places.folder}\n`)
  while (true) {
    const files = sessionFilesIn(places, world.now() - followedMs)
    for (const step of await follow(files.map(({ path }) => path))) {
      if (values.drift !== true || step.drifting) world.out(stepText(step))
    }
    await pause(betweenLooksMs)
  }
}

/** Reads what files have gained since the last call, and returns the events. */
function createFollower(
  host: TranscriptHost,
  since: number,
): (paths: readonly string[]) => Promise<HostEvent[]> {
  const files = new Map<string, ReturnType<typeof followSessionFile>>()
  return async (paths) => {
    const events: HostEvent[] = []
    for (const path of paths) {
      const gained = files.get(path) ?? followSessionFile(host, path, since)
      files.set(path, gained)
      events.push(...(await gained()))
    }
    return events
  }
}

/** Judges events as they come, each in its session, and returns the steps that they show. */
function createJudges(
  host: TranscriptHost,
  judge: Parameters<typeof createSessionJudge>[2],
): (events: readonly HostEvent[]) => BacktestStep[] {
  const sessions = new Map<string, ReturnType<typeof createSessionJudge>>()
  return (events) =>
    events.flatMap((event) => {
      const session = sessions.get(event.runId) ?? createSessionJudge(host, event.runId, judge)
      sessions.set(event.runId, session)
      return session.take(event)
    })
}

/** Reports what session files gain to a server until the process is told to stop. */
async function reportSessions(
  host: TranscriptHost,
  named: string | null,
  world: CliWorld,
): Promise<number> {
  const remote = await watchedServer(world, named)
  const places = sessionsOf(host, homeOf(world.environment), world.environment)
  const gained = createFollower(host, world.now() - followedMs)
  const spool = createMemorySpool()
  const sender = createSender({
    spool,
    remote: () => ({ ...remote, tellsPerson: true }),
    clock: clockOf(world),
    onAnswers(lines, answers) {
      for (const [nth, { told }] of answers.entries()) {
        const runId = textOf(fieldsOf(parseJson(lines[nth] ?? '')).runId)
        // A relay says it until a hook has told the agent.
        if (told === null || shown.get(runId) === told) continue
        shown.set(runId, told)
        world.out(`${isoTime(world.now()).slice(11, 16)} ${shortRun(runId, '')}  ${told}\n`)
      }
    },
    onChange: (fault) =>
      world.err(fault === null ? 'the server is back\n' : `the server takes no event: ${fault}\n`),
  })
  const began = world.now()
  /** What was printed last, by run. */
  const shown = new Map<string, string>()
  const look = async () => {
    const files = sessionFilesIn(places, world.now() - followedMs)
    const events = await gained(files.map(({ path }) => path))
    for (const event of sessionsIn(host, events).flatMap((session) => toTell(session, began))) {
      spool.append(JSON.stringify(asReported(host, event)))
    }
    sender.wake()
  }
  let stops = false
  const stopped = world.stopped().then(() => {
    stops = true
  })
  await look()
  world.err(`watching ${places.folder}, reporting to ${remote.url}\n`)
  while (!stops) {
    await Promise.race([pause(betweenLooksMs), stopped])
    // What the server has not taken yet is not read further: the files keep it.
    if (spool.waiting < mostWaiting) await look()
  }
  await sender.drain()
  sender.stop()
  return exitCodes.ok
}

/** What is told of the events that a session has gained: of those before the watch began only the newest. */
function toTell({ events }: Session, began: number): HostEvent[] {
  const first = events.findIndex(({ at = 0 }) => at >= began)
  const before = first < 0 ? events.length : first
  return [...newestOf(events.slice(0, before)), ...events.slice(before)]
}

function stepText({
  at,
  runId,
  agentId,
  goal,
  drifting,
  uncertain,
  why,
  actEvidence,
}: BacktestStep): string {
  const time = at === null ? '' : `${isoTime(at).slice(11, 16)} `
  const mark = drifting ? 'DRIFT' : uncertain ? 'unsure' : 'ok'
  const run = shortRun(runId, agentId)
  const because = drifting || actEvidence !== null ? `\n             ${why}` : ''
  return `${time}${mark.padEnd(7)}${run}  ${cutTo(goal.replace(/\s+/g, ' '), 160)}${because}\n`
}

/** A run by its host and the beginning of its session, and an agent of it. */
function shortRun(runId: string, agentId: string): string {
  const run = runId.slice(0, runId.indexOf(':') + 9)
  return agentId === '' ? run : `${run} ${agentId.slice(0, 8)}`
}
