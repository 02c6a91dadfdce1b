import { writeFileSync } from 'node:fs'
import {
  type Alarm,
  alarmsOf,
  type BacktestJudge,
  backtestOf,
  comparedAlarms,
  type JudgedSession,
  limitFor,
} from '../../core/backtest/backtest.ts'
import { backtestPage } from '../../core/backtest/backtest-page.ts'
import {
  type BacktestTitle,
  type Budgeted,
  backtestText,
} from '../../core/backtest/backtest-text.ts'
import { type DetectorName, detectorNames } from '../../core/detector/contract/detector.ts'
import { isoTime } from '../../core/time.ts'
import { transcriptHosts } from '../../core/transcripts/transcript.ts'
import {
  type BacktestSource,
  fileSource,
  type SourceJudge,
  storeSource,
} from './backtest-sources.ts'
import { readBudget } from './budget-option.ts'
import { type CliWorld, type Command, exitCodes, parse } from './command.ts'
import { walkAlarms } from './label-walk.ts'
import { usageFault } from './usage-fault.ts'
import { readSettings } from './user-home.ts'

/** Judges the sessions that hosts have kept on this machine, or the runs that a server has stored. */
export const backtestCommand: Command = {
  name: 'backtest',
  summary: 'judge the sessions that an agent has left on this machine; nothing is sent anywhere',
  usage:
    'plumbline backtest --from HOST [FILE…] [--since DAYS] [--budget N] [--detector NAME] [--against NAME] [--words] [--label] [--json | --html FILE]\n  plumbline backtest --from store [--account ID] [--since DAYS] [--budget N] [--detector NAME] [--against NAME] [--words] [--label] [--json | --html FILE]',
  details: `Reads the session files of HOST (${transcriptHosts.join(', ')}), or the FILEs, and prints what
would have alarmed and why. It needs no server, no key and no network, and changes nothing.

  --from HOST      whose session files are read
  --from store     read the runs of the database that DATABASE_URL names, also while its server runs
  --account ID     of the database the runs of this account, not of its first one
  --since DAYS     only sessions that changed in the last DAYS days, such as 30 or 30d
  --budget N       also find the limit that keeps to N alarms of 1,000 steps (5 or 5/1000), and what it changes
  --detector NAME  ${detectorNames.join(' or ')}
  --against NAME   also count the alarms of this detector
  --words          judge by words alone, without the encoder: many times as fast
  --label          ask you at each alarm whether it was right, one key each, and keep the answers
  --json           print the figures and the alarms as JSON
  --html FILE      write a page that shows them

Of stored runs the verdicts count that the server has given. With --detector, --words or --budget they are
judged anew by what is stored: of the plans of a run only the newest. The labels of stored runs are those of
the account, as POST /v1/drift/label takes them; those of session files are kept in ~/.plumbline
(PLUMBLINE_HOME), and a later back-test counts them.`,
  run: runBacktest,
}

async function runBacktest(args: string[], world: CliWorld): Promise<number> {
  const { values, positionals } = parse(args, {
    from: { type: 'string' },
    account: { type: 'string' },
    since: { type: 'string' },
    budget: { type: 'string' },
    detector: { type: 'string' },
    against: { type: 'string' },
    words: { type: 'boolean' },
    label: { type: 'boolean' },
    json: { type: 'boolean' },
    html: { type: 'string' },
  })
  const detector = readDetector('--detector', values.detector ?? 'meaning')
  const against = values.against === undefined ? null : readDetector('--against', values.against)
  const per1000 = values.budget === undefined ? null : readBudget(values.budget)
  if (per1000 !== null && detector !== 'meaning')
    throw usageFault(
      `--budget: a limit moves the detector meaning alone; leave out --detector ${detector}.`,
    )
  const since = readDays(values.since, world.now())
  const isStored = values.from === 'store'
  const asJudged =
    isStored && values.detector === undefined && values.words !== true && per1000 === null
  const label = values.label === true
  if (label && isStored && !asJudged) {
    throw usageFault(
      '--label asks about the alarms that the server has raised; leave out --detector, --words and --budget.',
    )
  }
  const terminal = label ? world.terminal() : null
  if (label && terminal === null)
    throw usageFault('--label asks a person, and this is no terminal; run it in one.')
  try {
    const { limit } = readSettings(world)
    const source = sourceOf(values, positionals, since, world)
    const isRead = !asJudged && detector === 'meaning' && values.words !== true
    const reads = isRead ? world.reads() : null
    const judge: BacktestJudge = {
      detector,
      ...(reads === null ? {} : { reads }),
      ...(limit === null ? {} : { limit }),
    }
    const own: SourceJudge = asJudged ? null : judge
    const sessions = await source.judge(against === null ? [own] : [own, { detector: against }])
    const judged = sessions.flatMap(([first]) => (first && first.steps.length > 0 ? [first] : []))
    const others = sessions.flatMap(([, other]) => other ?? [])
    const title: BacktestTitle = {
      from: source.name,
      judged: asJudged
        ? 'the server'
        : detector === 'overlap'
          ? 'the published rule'
          : reads === null
            ? 'words alone'
            : 'the encoder',
      budget: per1000 === null ? null : await budgeted(per1000, judged, source, judge),
      against:
        against === null
          ? null
          : { name: against, ...comparedAlarms(alarmsOf(judged), alarmsOf(others)) },
    }
    if (terminal !== null) {
      const { alarms } = backtestOf(judged, await source.labels())
      const open = alarms.filter((alarm) => alarm.label === null)
      if (open.length === 0) world.err('There is no alarm without a label.\n\n')
      else
        await source.storing((store) =>
          walkAlarms(open, { terminal, show: (text) => world.err(text), store }),
        )
    }
    const found = backtestOf(judged, await source.labels())
    if (typeof values.html === 'string') {
      writeFileSync(values.html, backtestPage(found, judged, title))
      world.err(`${values.html} is written\n`)
    }
    const { budget, against: compared } = title
    world.out(
      values.json === true
        ? `${JSON.stringify({ ...found, alarms: found.alarms.map(shown), budget, against: compared }, null, 2)}\n`
        : backtestText(found, title),
    )
    return exitCodes.ok
  } finally {
    terminal?.close()
  }
}

function sourceOf(
  { from, account }: { from?: unknown; account?: unknown },
  files: readonly string[],
  since: number,
  world: CliWorld,
): BacktestSource {
  if (from === 'store') {
    if (files.length > 0) throw usageFault(`unexpected argument "${files[0]}"; store has no FILEs.`)
    return storeSource(account, since, world)
  }
  if (account !== undefined) throw usageFault('--account goes with --from store.')
  const host = transcriptHosts.find((each) => each === from)
  if (host === undefined) throw usageFault(`--from: name ${transcriptHosts.join(', ')} or store.`)
  return fileSource(host, files, since, world)
}

/** The limit that keeps to a budget, with the alarms that it gives: the sessions are judged once more. */
async function budgeted(
  per1000: number,
  judged: readonly JudgedSession[],
  source: BacktestSource,
  judge: BacktestJudge,
): Promise<Budgeted> {
  const { limit, lacks } = limitFor(judged, per1000)
  if (limit === null) return { per_1000: per1000, threshold: null, lacks }
  const again = (await source.judge([{ ...judge, limit }])).flat()
  return {
    per_1000: per1000,
    threshold: limit,
    lacks: null,
    ...comparedAlarms(alarmsOf(judged), alarmsOf(again)),
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
  label,
}: Alarm) {
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
    label: label?.label ?? null,
    note: label?.note ?? null,
  }
}

function readDetector(option: string, name: unknown): DetectorName {
  const found = detectorNames.find((each) => each === name)
  if (found === undefined) throw usageFault(`${option}: name ${detectorNames.join(' or ')}.`)
  return found
}

function readDays(value: unknown, now: number): number {
  if (value === undefined) return 0
  const days = Number(String(value).replace(/d$/, ''))
  if (!(days > 0)) throw usageFault('--since: send a number of days, such as 30d.')
  return now - days * 86_400_000
}
