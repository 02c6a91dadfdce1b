import { existsSync } from 'node:fs'
import type {
  Alarm,
  AlarmLabel,
  BacktestJudge,
  BacktestStep,
  JudgedSession,
} from '../../core/backtest/backtest.ts'
import { stepKey } from '../../core/backtest/backtest.ts'
import { counted } from '../../core/backtest/backtest-text.ts'
import { judgeStoredRun, type StoredRun, sessionAsJudged } from '../../core/backtest/stored-run.ts'
import type { Run } from '../../core/runs/run.ts'
import type { TranscriptHost } from '../../core/transcripts/transcript.ts'
import { Refusal } from '../../operations/gate/refusal.ts'
import { addLabel } from '../../operations/steps/labels.ts'
import type { GroundRow, StepRow } from '../../storage/runs/runs.ts'
import type { Store } from '../../storage/store.ts'
import { accountOf } from './account.ts'
import type { CliWorld } from './command.ts'
import { judgeFiles, threadsFor } from './judge-files.ts'
import { addLabelTo, labelsFile, readLabels } from './local-labels.ts'
import { type SessionFile, sessionFilesIn, sessionsOf } from './session-files.ts'
import { usageFault } from './usage-fault.ts'
import { homeOf, hooksFolderOf, readSettings } from './user-home.ts'

/** A way to judge a session: by a detector, or null for the verdicts that its server has given. */
export type SourceJudge = BacktestJudge | null

/** Where the sessions of a back-test come from, and where what people say of their alarms is kept. */
export interface BacktestSource {
  name: string
  /** Judges each session by each judge, in the order of their beginnings. */
  judge(judges: readonly SourceJudge[]): Promise<(readonly JudgedSession[])[]>
  /** Reads what was said of alarms. */
  labels(): Promise<(alarm: BacktestStep) => AlarmLabel | null>
  /** Runs `work` with what stores an answer. */
  storing<T>(work: (store: Storing) => Promise<T>): Promise<T>
}

type Storing = (alarm: Alarm, said: AlarmLabel) => Promise<void>

/** Shows how far the work is. */
export function showProgress(world: CliWorld, text: string): void {
  if (world.isTerminal) world.err(`\r${text.padEnd(60)}${text === '' ? '\r' : ''}`)
}

/** The session files of a host, those of the user or the named ones, that changed at `since` or later. */
export function fileSource(
  host: TranscriptHost,
  named: readonly string[],
  since: number,
  world: CliWorld,
): BacktestSource {
  const places = sessionsOf(host, homeOf(world.environment), world.environment)
  const files: SessionFile[] = named.length > 0 ? named.map(given) : sessionFilesIn(places, since)
  if (files.length === 0) {
    throw usageFault(
      `there are no session files of ${host} in ${places.folder}; name FILEs if they are elsewhere.`,
    )
  }
  const paths = files.map(({ path }) => path)
  const labelled = labelsFile(hooksFolderOf(world, readSettings(world)))
  return {
    name: host,
    async judge(all) {
      const judges = all.filter((judge) => judge !== null)
      // What the encoder has read stays with its thread.
      const isRead = judges.some(({ reads }) => reads !== undefined)
      const threads = isRead ? 1 : threadsFor(host, paths, world.cores)
      const sessions = await judgeFiles(paths, { host, since, judges }, threads, (count) =>
        showProgress(world, `judged ${count} of ${counted(paths.length, 'file')}`),
      )
      showProgress(world, '')
      return sessions
    },
    labels: async () => readLabels(labelled),
    storing: (work) => work(async (alarm, said) => addLabelTo(labelled, alarm, said, world.now())),
  }
}

function given(path: string): SessionFile {
  if (!existsSync(path)) throw usageFault(`${path} does not exist`)
  return { path, changed: 0 }
}

/** The runs of an account of the configured database that had a step at `since` or later. */
export function storeSource(account: unknown, since: number, world: CliWorld): BacktestSource {
  return {
    name: 'store',
    judge: (judges) =>
      world.readStore(async (store) => {
        const id = await accountOf(store, account)
        const runs = (await runsOf(store, id, world.now())).filter(
          ({ updated }) => updated >= since,
        )
        const sessions: JudgedSession[][] = []
        for (const [nth, run] of runs.entries()) {
          const stored = await storedRun(store, id, run)
          sessions.push(
            judges.map((judge) =>
              judge === null ? sessionAsJudged(stored) : judgeStoredRun(stored, judge),
            ),
          )
          showProgress(world, `judged ${nth + 1} of ${counted(runs.length, 'run')}`)
        }
        showProgress(world, '')
        return sessions
      }),
    labels: () =>
      world.readStore(async (store) =>
        labelsOf(store, await accountOf(store, account), world.now()),
      ),
    storing: (work) =>
      world.withService(async ({ store, now }) => {
        const id = await accountOf(store, account)
        return work(async ({ runId, step }, said) => {
          try {
            await addLabel({ store, now, account: { id } }, { run_id: runId, step, ...said })
          } catch (error) {
            // The run may have ended meanwhile.
            if (!(error instanceof Refusal)) throw error
            throw usageFault(`${runId} step ${step}: ${error.fields.detail}`)
          }
        })
      }),
  }
}

const runsAtATime = 200
const stepsAtATime = 1_000
const groundsAtATime = 500
const labelsAtATime = 500

/** The runs of an account in the order of their beginnings. */
async function runsOf({ runs }: Store, account: string, now: number): Promise<Run[]> {
  const all: Run[] = []
  for (;;) {
    const page = await runs.page(account, now, all.at(-1)?.run_id ?? '', runsAtATime)
    all.push(...page)
    if (page.length < runsAtATime) break
  }
  return all.sort((a, b) => a.created - b.created || (a.run_id < b.run_id ? -1 : 1))
}

/** A run with what is kept of it, read in short queries so that a server beside it is not kept waiting. */
async function storedRun({ runs }: Store, account: string, run: Run): Promise<StoredRun> {
  const { run_id: runId, host, created, coverage, plan } = run
  const steps: StepRow[] = []
  for (;;) {
    const page = await runs.trace(account, runId, steps.at(-1)?.step ?? 0, stepsAtATime)
    steps.push(...page)
    if (page.length < stepsAtATime) break
  }
  const grounds: GroundRow[] = []
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const page = await runs.grounds(account, runId, before, groundsAtATime)
    grounds.unshift(...page)
    before = page[0]?.revision ?? 0
    if (page.length < groundsAtATime) break
  }
  for (let after = { agent_id: '', revision: 0 }; ; ) {
    const page = await runs.subGrounds(account, runId, after, groundsAtATime)
    grounds.push(...page)
    after = page.at(-1) ?? after
    if (page.length < groundsAtATime) break
  }
  return { runId, host, created, coverage, plan, grounds, steps }
}

/** What was said last of any step of a drift, by the step at which the drift began. */
async function labelsOf(
  { labels }: Store,
  account: string,
  now: number,
): Promise<(alarm: BacktestStep) => AlarmLabel | null> {
  const newest = new Map<string, AlarmLabel & { at: number }>()
  for (let after = { run_id: '', step: 0 }; ; ) {
    const page = await labels.newest(account, now, after, labelsAtATime)
    for (const { run_id, alarm, label, note, at } of page) {
      if (alarm === null) continue
      const key = stepKey({ runId: run_id, step: alarm })
      const known = newest.get(key)
      if (known === undefined || known.at <= at) newest.set(key, { label, note, at })
    }
    after = page.at(-1) ?? after
    if (page.length < labelsAtATime) break
  }
  return (alarm) => {
    const known = newest.get(stepKey(alarm))
    return known === undefined ? null : { label: known.label, note: known.note }
  }
}
