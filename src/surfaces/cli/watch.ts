import { setTimeout as pause } from 'node:timers/promises'
import { type BacktestStep, createSessionJudge } from '../../core/backtest/backtest.ts'
import { cutTo } from '../../core/text.ts'
import { isoTime } from '../../core/time.ts'
import { type TranscriptHost, transcriptHosts } from '../../core/transcripts/transcript.ts'
import { type CliWorld, type Command, parse } from './command.ts'
import { followSessionFile, sessionFilesIn, sessionsOf } from './session-files.ts'
import { usageFault } from './usage-fault.ts'
import { homeOf, readSettings } from './user-home.ts'

/** Files that have not changed for so long are not followed. */
const followedMs = 60 * 60_000
const betweenLooksMs = 500

/** Judges the sessions of a host while they run. */
export const watchCommand: Command = {
  name: 'watch',
  summary: 'judge the sessions of an agent while it works, from its session files',
  usage: 'plumbline watch HOST [--drift] [--words]',
  details: `Follows the session files of HOST (${transcriptHosts.join(', ')}) and prints each step with
its verdict as the agent works. It needs no server and no key, changes no settings of the host and
sends nothing anywhere. Ctrl-C ends it.

  --drift  print only the steps that drift
  --words  judge by words alone, without the encoder`,
  run: runWatch,
}

async function runWatch(args: string[], world: CliWorld): Promise<never> {
  const { values, positionals } = parse(args, {
    drift: { type: 'boolean' },
    words: { type: 'boolean' },
  })
  const host = transcriptHosts.find((each) => each === positionals[0])
  if (host === undefined || positionals.length > 1) {
    throw usageFault(`name one of ${transcriptHosts.join(', ')}.`)
  }
  const settings = readSettings(world)
  const places = sessionsOf(host, homeOf(world.environment), world.environment)
  const reads = values.words === true ? null : world.reads()
  const follow = createFollower(host, world.now() - followedMs, {
    detector: 'meaning',
    ...(reads === null ? {} : { reads }),
    ...(settings.limit === null ? {} : { limit: settings.limit }),
  })
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

/** Reads what files have gained since the last call, and returns the steps that this shows. */
function createFollower(
  host: TranscriptHost,
  since: number,
  judge: Parameters<typeof createSessionJudge>[2],
): (paths: readonly string[]) => Promise<BacktestStep[]> {
  const files = new Map<string, ReturnType<typeof followSessionFile>>()
  const sessions = new Map<string, ReturnType<typeof createSessionJudge>>()
  return async (paths) => {
    const steps: BacktestStep[] = []
    for (const path of paths) {
      const gained = files.get(path) ?? followSessionFile(host, path, since)
      files.set(path, gained)
      for (const event of await gained()) {
        const session = sessions.get(event.runId) ?? createSessionJudge(host, event.runId, judge)
        sessions.set(event.runId, session)
        steps.push(...session.take(event))
      }
    }
    return steps
  }
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
  const run = `${runId.slice(0, runId.indexOf(':') + 9)}${agentId === '' ? '' : ` ${agentId.slice(0, 8)}`}`
  const because = drifting || actEvidence !== null ? `\n             ${why}` : ''
  return `${time}${mark.padEnd(7)}${run}  ${cutTo(goal.replace(/\s+/g, ' '), 160)}${because}\n`
}
