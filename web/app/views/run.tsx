import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { StoredRun, StoredStep } from '../../../src/surfaces/client/client.ts'
import { markOf } from '../../shared/line.ts'
import { api, faultOf } from '../api.ts'
import { useKeys } from '../keys.ts'
import { News } from '../news.tsx'
import { Failed, Skeleton } from '../resource.tsx'
import { path, query, setQuery } from '../router.ts'
import { Inspector } from '../run/inspector.tsx'
import { isLive } from '../run/is-live.ts'
import { layOut } from '../run/layout.ts'
import { useLook } from '../run/look.ts'
import { Plot, type Sizes } from '../run/plot.tsx'
import { sentenceOf } from '../run/sentence.ts'
import { type OpenRun, openRun } from '../run/trace.ts'
import { Live, Top } from '../shell.tsx'
import { saysOfSilence, useSilence } from '../silent.ts'
import { agoInWords, now, short, span, whole } from '../time.ts'
import { saysOfSeen, words } from '../words.ts'
import '../run/run.css'

/** One run: a sentence, its facts, and the line with everything that hangs from it. */
export default function RunView() {
  const runId = decodeURIComponent(path.value.split('/')[3] ?? '')
  const opened = useMemo(() => openRun(runId), [runId])
  useEffect(() => () => opened.close(), [opened])
  const run = opened.run.value
  if (run === null) {
    const fault = opened.fault.value
    return (
      <>
        <Top title={<Crumbs runId={runId} />} />
        {fault === null ? (
          <Skeleton />
        ) : fault.status === 404 ? (
          <Gone runId={runId} />
        ) : (
          <Failed fault={fault} thing="run" onRetry={opened.read} />
        )}
      </>
    )
  }
  return <Shown key={runId} opened={opened} run={run} />
}

function Crumbs({ runId }: { runId: string }) {
  return (
    <>
      <a class="crumb" href="/app/runs">
        Runs
      </a>
      <span class="crumb-slash">/</span>
      <code class="crumb-id">
        <bdi>{runId}</bdi>
      </code>
    </>
  )
}

function Gone({ runId }: { runId: string }) {
  return (
    <div class="notice">
      <h2>
        There is no run <bdi>{runId}</bdi>.
      </h2>
      <p>It was deleted, its retention is over, or it belongs to another account.</p>
      <p class="actions">
        <a class="button" href="/app/runs">
          Go to the runs
        </a>
      </p>
    </div>
  )
}

function Shown({ opened, run }: { opened: OpenRun; run: StoredRun }) {
  const agent = query.value.get('agent') ?? ''
  const all = opened.trace.value
  const trace = useMemo(
    () => (agent === '' ? all : all.filter(({ agent_id }) => agent_id === agent)),
    [all, agent],
  )
  const asked = Number(query.value.get('step'))
  const isUnfolded = useSignal(false)
  const sizes = useSizes(trace.length, run.agents.length > 0 && agent === '')
  const folds = sizes.isPhone && !isUnfolded.value && agent === ''
  const layout = useMemo(
    () => layOut(run, trace, sizes.row, agent, folds),
    [run, trace, sizes.row, agent, folds],
  )
  const step = trace.find((each) => each.step === asked) ?? firstLookedAt(trace)
  const selected = step?.step ?? null
  useSilence([run], opened.read)
  const live = isLive(run, now.value) && opened.trace.value.length > 0
  const fresh = useFresh(all)
  useRunKeys(run, trace, selected)
  useLook(run.run_id)
  return (
    <div class="run-view">
      <Top
        title={
          <>
            <Crumbs runId={run.run_id} />
            <State run={run} live={live} />
          </>
        }
      >
        <Export run={run} trace={all} />
        <Outcome run={run} onDone={opened.read} />
      </Top>
      <Head run={run} trace={all} agent={agent} />
      {all.length < run.steps ? <Partial loaded={all.length} total={run.steps} /> : null}
      <div class="run-grid">
        {trace.length === 0 ? (
          <p class="notice">{words.waitingForStep}</p>
        ) : (
          <Plot
            run={run}
            layout={layout}
            selected={selected}
            agent={agent}
            sizes={sizes}
            live={live}
            fresh={fresh}
            onUnfold={() => {
              isUnfolded.value = true
            }}
          />
        )}
        {step === undefined ? null : <Inspector run={run} step={step} trace={trace} />}
      </div>
      <VerdictNews last={trace.at(-1)} />
    </div>
  )
}

function VerdictNews({ last }: { last: StoredStep | undefined }) {
  if (last === undefined) return null
  const says = last.drifting
    ? `Step ${last.step} drifts: ${last.reason}.`
    : `Step ${last.step} drifts no longer.`
  return <News state={String(last.drifting)} says={says} />
}

/** The step that a person sees first: the first that drifts, or the last. */
function firstLookedAt(trace: readonly StoredStep[]): StoredStep | undefined {
  return trace.find(({ drifting }) => drifting) ?? trace.at(-1)
}

function State({ run, live }: { run: StoredRun; live: boolean }) {
  const silence = saysOfSilence(run)
  return (
    <span class="run-state">
      {live ? (
        <Live
          says={
            <span>
              <span class="wide-only">live, last step </span>
              {agoInWords(run.updated)}
            </span>
          }
        />
      ) : silence !== null ? (
        <span class="chip outline">{silence}</span>
      ) : run.outcome === null ? (
        <span class="chip outline">
          <span class="wide-only">last step </span>
          {agoInWords(run.updated)}
        </span>
      ) : (
        <span class="chip outline">
          finished: {run.outcome}
          {run.score === null ? '' : `, score ${run.score.toFixed(2)}`}
        </span>
      )}
    </span>
  )
}

function Head({
  run,
  trace,
  agent,
}: {
  run: StoredRun
  trace: readonly StoredStep[]
  agent: string
}) {
  const moved = run.revision - 1
  // The run does not count them, so the number is known once all steps are here.
  const unsure =
    trace.length < run.steps ? 0 : trace.filter((step) => markOf(step) === 'uncertain').length
  const subs = run.agents.length
  const isByUser = run.grounds.every(
    ({ agent_id, by }) => agent_id !== '' || by === 'first' || by === 'user',
  )
  const times = moved === 1 ? 'once' : `${moved} times`
  const byUser = isByUser ? `${times}, by the user` : times
  const sub = agent === '' ? undefined : run.agents.find(({ agent_id }) => agent_id === agent)
  const [first] = run.grounds
  return (
    <header class="run-head-block">
      <h1 dir="auto">{sub?.ground ?? first?.goal ?? run.ground ?? 'No errand yet'}</h1>
      <p class="run-sentence">
        {agent === '' ? (
          sentenceOf(run, trace)
        ) : (
          <>
            The line of the sub-agent{' '}
            <b>
              <bdi>{agent}</bdi>
            </b>
            .{' '}
            <button
              type="button"
              class="link"
              onClick={() => setQuery({ agent: null, step: null }, { replace: false })}
            >
              Show the whole run
            </button>
          </>
        )}
      </p>
      <ul class="run-facts">
        <Fact name="Steps" value={whole(run.steps)} />
        <Fact name="Drifting" value={`${whole(run.drifting_steps)}${whereOf(run)}`} />
        {unsure === 0 ? null : <Fact name="Uncertain" value={whole(unsure)} />}
        {subs === 0 && !(run.seen && run.seen.agents_started > 0) ? null : (
          <Fact name="Sub-agents" value={subAgentsOf(run)} />
        )}
        <Fact name="Furthest phi" value={run.max_phi.toFixed(2)} />
        {run.tokens === 0 ? null : <Fact name="Tokens" value={short(run.tokens)} />}
        <Fact name="Took" value={span(Date.parse(run.updated) - Date.parse(run.created))} />
        {moved <= 0 ? null : <Fact name="Ground moved" value={byUser} />}
        {run.plan === null ? null : (
          <Fact name="Plan" value={`${run.plan.length} items declared`} />
        )}
        {run.host === null ? null : <Fact name="Host" value={run.host} />}
        {run.coverage === null || run.coverage.words === 'told' ? null : (
          <Fact
            name="Words"
            value={
              run.coverage.words === 'none' ? 'none told, no verdict of them' : 'of acts as hashes'
            }
          />
        )}
        {run.coverage?.known === true && run.coverage.share !== null ? (
          <Fact
            name="Explained"
            value={saysOfSeen({ share: run.coverage.share, acts: run.coverage.acts })}
          />
        ) : null}
        {run.seen?.known === true && run.seen.share !== null ? (
          <Fact name="Seen" value={saysOfSeen({ share: run.seen.share, acts: run.seen.acts })} />
        ) : null}
        {run.seen !== null && run.seen.prompts_in_file > run.seen.prompts ? (
          <Fact
            name="Prompts seen"
            value={`${whole(run.seen.prompts)} of ${whole(run.seen.prompts_in_file)}`}
          />
        ) : null}
        <Fact name="Outcome" value={run.outcome ?? 'not set'} />
      </ul>
    </header>
  )
}

/** How many sub-agents there are, and where the host says it, how many have stopped. */
function subAgentsOf({ agents, seen }: StoredRun): string {
  if (seen === null || seen.agents_started === 0) return whole(agents.length)
  return `${whole(seen.agents_started)} started, ${whole(seen.agents_stopped)} stopped`
}

/** Where the drifting steps are, if it is one place other than the main agent. */
function whereOf({ drifting_steps, agents }: StoredRun): string {
  const isOne = agents.some((agent) => agent.drifting_steps === drifting_steps)
  return drifting_steps > 0 && isOne ? ', all in one sub-agent' : ''
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <li>
      {name} <b>{value}</b>
    </li>
  )
}

function Partial({ loaded, total }: { loaded: number; total: number }) {
  return (
    <p class="partial">
      Steps 1 to {whole(loaded)} of {whole(total)} are loaded. Totals count all steps. The drawing
      shows the loaded ones.
      <progress value={loaded} max={total} />
    </p>
  )
}

/** The run and its steps as JSON lines, in a file. */
function Export({ run, trace }: { run: StoredRun; trace: readonly StoredStep[] }) {
  const save = () => {
    const lines = [
      { type: 'run', ...run },
      ...trace.map((step) => ({ type: 'step', run_id: run.run_id, ...step })),
    ]
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }))
    link.download = `${run.run_id.replace(/[^\w.-]+/g, '-')}.jsonl`
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return (
    <button type="button" class="button quiet export-run" onClick={save}>
      Export
    </button>
  )
}

const outcomes = ['success', 'failure', 'abandoned', 'unknown'] as const

function Outcome({ run, onDone }: { run: StoredRun; onDone: () => Promise<void> }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const says = useSignal('')
  useKeys({ o: () => dialog.current?.showModal() })
  async function set(outcome: (typeof outcomes)[number]): Promise<void> {
    try {
      await api.outcome({ run_id: run.run_id, outcome })
      dialog.current?.close()
      await onDone()
    } catch (error) {
      says.value = faultOf(error).says
    }
  }
  return (
    <>
      <button type="button" class="button" onClick={() => dialog.current?.showModal()}>
        Set outcome <kbd>O</kbd>
      </button>
      <dialog ref={dialog} class="sheet" aria-label="Outcome">
        <h2>How did the run end?</h2>
        <p class="actions">
          {outcomes.map((outcome) => (
            <button
              key={outcome}
              type="button"
              class="button"
              aria-pressed={run.outcome === outcome}
              onClick={() => set(outcome)}
            >
              {outcome}
            </button>
          ))}
        </p>
        {says.value === '' ? null : (
          <p class="fault" role="alert">
            {says.value}
          </p>
        )}
        <form method="dialog">
          <button type="submit" class="button quiet">
            Close
          </button>
        </form>
      </dialog>
    </>
  )
}

function useRunKeys(run: StoredRun, trace: readonly StoredStep[], selected: number | null): void {
  const at = trace.findIndex(({ step }) => step === selected)
  const select = (step: StoredStep | undefined) => {
    if (step !== undefined) setQuery({ step: String(step.step) })
  }
  const agents = ['', ...run.agents.map(({ agent_id }) => agent_id)]
  const turn = (by: number) => {
    const next =
      agents[(agents.indexOf(query.value.get('agent') ?? '') + by + agents.length) % agents.length]
    setQuery({ agent: next === '' ? null : (next ?? null), step: null })
  }
  useKeys({
    j: () => select(trace[at + 1]),
    k: () => select(trace[at - 1]),
    ArrowDown: () => select(trace[at + 1]),
    ArrowUp: () => select(trace[at - 1]),
    d: () => select(trace.slice(at + 1).find(({ drifting }) => drifting)),
    'shift-d': () => select(trace.slice(0, Math.max(0, at)).findLast(({ drifting }) => drifting)),
    '[': () => turn(-1),
    ']': () => turn(1),
    Home: () => select(trace[0]),
    End: () => select(trace.at(-1)),
  })
}

/** The step that came last while the page was open; null until one comes. */
function useFresh(trace: readonly StoredStep[]): number | null {
  const last = trace.at(-1)?.step ?? 0
  const opened = useRef<number | null>(null)
  const isOld = Date.now() - Date.parse(trace.at(-1)?.ts ?? '1970') > 5_000
  if (opened.current === null && last > 0) opened.current = last
  return opened.current !== null && last > opened.current && !isOld ? last : null
}

/** The sizes of rows and plot: rows of 20 to 30 pixels, so that a short run fits; 44 for fingers. */
function useSizes(steps: number, hasLanes: boolean): Sizes {
  const width = useSignal(innerWidth)
  const height = useSignal(innerHeight)
  useEffect(() => {
    const look = () => {
      width.value = innerWidth
      height.value = innerHeight
    }
    addEventListener('resize', look)
    return () => removeEventListener('resize', look)
  }, [])
  const isPhone = width.value < 900
  if (isPhone) return { plot: hasLanes ? 80 : 115, row: 44, isPhone }
  const fits = Math.floor((height.value - 290) / (steps + 3))
  return { plot: hasLanes ? 176 : 240, row: fits >= 20 ? Math.min(30, fits) : 23, isPhone }
}
