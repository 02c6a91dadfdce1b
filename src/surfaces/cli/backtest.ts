import { existsSync, writeFileSync } from 'node:fs'
import {
  type BacktestJudge,
  type BacktestStep,
  backtestOf,
  limitFor,
} from '../../core/backtest/backtest.ts'
import { backtestPage } from '../../core/backtest/backtest-page.ts'
import { type BacktestTitle, backtestText, counted } from '../../core/backtest/backtest-text.ts'
import { type DetectorName, detectorNames } from '../../core/detector/contract/detector.ts'
import { isLimit } from '../../core/detector/step.ts'
import { isoTime } from '../../core/time.ts'
import { type TranscriptHost, transcriptHosts } from '../../core/transcripts/transcript.ts'
import { type CliWorld, type Command, exitCodes, parse } from './command.ts'
import { judgeFiles, threadsFor } from './judge-files.ts'
import { type SessionFile, sessionFilesIn, sessionsOf } from './session-files.ts'
import { usageFault } from './usage-fault.ts'
import { homeOf, readSettings } from './user-home.ts'

/** Judges the sessions that hosts have kept on this machine. */
export const backtestCommand: Command = {
  name: 'backtest',
  summary: 'judge the sessions that an agent has left on this machine; nothing is sent anywhere',
  usage:
    'plumbline backtest --from HOST [FILE…] [--since DAYS] [--budget N] [--detector NAME] [--against NAME] [--words] [--json | --html FILE]',
  details: `Reads the session files of HOST (${transcriptHosts.join(', ')}), or the FILEs, and prints what
would have alarmed and why. It needs no server, no key and no network, and changes nothing.

  --from HOST      whose session files are read
  --since DAYS     only sessions that changed in the last DAYS days, such as 30 or 30d
  --budget N       also find the limit that keeps alarms at N of 1,000 steps
  --detector NAME  ${detectorNames.join(' or ')}
  --against NAME   also count the alarms of this detector
  --words          judge by words alone, without the encoder: many times as fast
  --json           print the figures and the alarms as JSON
  --html FILE      write a page that shows them`,
  run: runBacktest,
}

async function runBacktest(args: string[], world: CliWorld): Promise<number> {
  const { values, positionals } = parse(args, {
    from: { type: 'string' },
    since: { type: 'string' },
    budget: { type: 'string' },
    detector: { type: 'string' },
    against: { type: 'string' },
    words: { type: 'boolean' },
    json: { type: 'boolean' },
    html: { type: 'string' },
  })
  const host = readHost(values.from)
  const detector = readDetector('--detector', values.detector ?? 'meaning')
  const against = values.against === undefined ? null : readDetector('--against', values.against)
  const per1000 = readAmount('--budget', values.budget)
  const since = readDays(values.since, world.now())
  const settings = readSettings(world)
  const places = sessionsOf(host, homeOf(world.environment), world.environment)
  const files: SessionFile[] =
    positionals.length > 0 ? positionals.map(given) : sessionFilesIn(places, since)
  if (files.length === 0) {
    throw usageFault(
      `there are no session files of ${host} in ${places.folder}; name FILEs if they are elsewhere.`,
    )
  }
  const paths = files.map(({ path }) => path)
  const reads = detector === 'overlap' || values.words === true ? null : world.reads()
  const judge: BacktestJudge = {
    detector,
    ...(reads === null ? {} : { reads }),
    ...(settings.limit === null ? {} : { limit: settings.limit }),
  }
  const judges = against === null ? [judge] : [judge, { detector: against }]
  // What the encoder has read stays with its thread.
  const threads = reads === null ? threadsFor(host, paths, world.cores) : 1
  const sessions = await judgeFiles(paths, { host, since, judges }, threads, (count) =>
    progress(world, `judged ${count} of ${counted(paths.length, 'file')}`),
  )
  progress(world, '')
  const judged = sessions.flatMap(([own]) => (own && own.steps.length > 0 ? [own] : []))
  const found = backtestOf(judged)
  const others = against === null ? null : backtestOf(sessions.flatMap(([, other]) => other ?? []))
  const title: BacktestTitle = {
    from: host,
    judged:
      detector === 'overlap'
        ? 'the published rule'
        : reads === null
          ? 'words alone'
          : 'the encoder',
    budget: per1000 === null ? null : { per1000, limit: usable(limitFor(judged, per1000)) },
    against:
      others === null || against === null
        ? null
        : { name: against, alarms: others.alarms.length, ...compared(found.alarms, others.alarms) },
  }
  if (typeof values.html === 'string') {
    writeFileSync(values.html, backtestPage(found, judged, title))
    world.err(`${values.html} is written\n`)
  }
  if (values.json === true) {
    world.out(
      `${JSON.stringify({ ...found, alarms: found.alarms.map(shown), budget: title.budget, against: title.against }, null, 2)}\n`,
    )
  } else world.out(backtestText(found, title))
  return exitCodes.ok
}

function given(path: string): SessionFile {
  if (!existsSync(path)) throw usageFault(`${path} does not exist`)
  return { path, changed: 0 }
}

/** Alarms of another detector that this one has not, and the other way round. */
function compared(own: readonly BacktestStep[], others: readonly BacktestStep[]) {
  const key = ({ runId, step }: BacktestStep) => JSON.stringify([runId, step])
  const [ours, theirs] = [own, others].map((alarms) => new Set(alarms.map(key)))
  return {
    added: others.filter((alarm) => !ours?.has(key(alarm))).length,
    removed: own.filter((alarm) => !theirs?.has(key(alarm))).length,
  }
}

/** An alarm with the names of the interface. */
function shown({
  runId,
  agentId,
  step,
  at,
  errand,
  goal,
  reason,
  why,
  phi,
  doing,
  driftProbability,
  actEvidence,
}: BacktestStep) {
  return {
    run_id: runId,
    ...(agentId === '' ? {} : { agent_id: agentId }),
    step,
    ts: at === null ? null : isoTime(at),
    ground: errand,
    goal,
    reason,
    why,
    phi,
    drift_probability: driftProbability,
    doing,
    act_evidence: actEvidence,
  }
}

function usable(limit: number | null): number | null {
  if (limit === null) return null
  const cut = Math.ceil(limit * 10_000) / 10_000
  return isLimit(cut) ? cut : null
}

function progress(world: CliWorld, text: string): void {
  if (world.isTerminal) world.err(`\r${text.padEnd(60)}${text === '' ? '\r' : ''}`)
}

function readHost(name: unknown): TranscriptHost {
  const host = transcriptHosts.find((each) => each === name)
  if (host === undefined) throw usageFault(`--from: name ${transcriptHosts.join(', ')}.`)
  return host
}

function readDetector(option: string, name: unknown): DetectorName {
  const found = detectorNames.find((each) => each === name)
  if (found === undefined) throw usageFault(`${option}: name ${detectorNames.join(' or ')}.`)
  return found
}

function readAmount(option: string, value: unknown): number | null {
  if (value === undefined) return null
  const amount = Number(value)
  if (!(amount > 0 && amount < 1000))
    throw usageFault(`${option}: send a number between 0 and 1000.`)
  return amount
}

function readDays(value: unknown, now: number): number {
  if (value === undefined) return 0
  const days = Number(String(value).replace(/d$/, ''))
  if (!(days > 0)) throw usageFault('--since: send a number of days, such as 30d.')
  return now - days * 86_400_000
}
