import '../controls.css'
import '../cost/cost.css'
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { ListedRun } from '../../../src/surfaces/client/routes.ts'
import { api } from '../api.ts'
import { seldomMs, useLiveReading } from '../live-reading.ts'
import { type Course, Plot } from '../plot/plot.tsx'
import { Shown, useResource } from '../resource.tsx'
import { Top } from '../shell.tsx'
import { counted, short, whole } from '../time.ts'

type Summary = Awaited<ReturnType<typeof api.cost>>

const counted100 = 100
const firstRows = 20

/** The tokens of the newest runs, those spent while drifting, and those that measuring took. */
export default function Cost() {
  const read = useResource(async () => {
    const [summary, { runs }] = await Promise.all([api.cost(), api.listRuns({ limit: counted100 })])
    return { summary, runs }
  })
  useLiveReading(read.read, ['run'], seldomMs)
  return (
    <>
      <Top title={<h1>Cost</h1>} live />
      <Shown of={read} thing="cost">
        {({ summary, runs }) =>
          summary.runs_with_tokens === 0 ? (
            <NoTokens runs={summary.runs} />
          ) : (
            <div class="cost-page">
              <Facts summary={summary} runs={runs} />
              <OverTime runs={runs} />
              <Runs runs={runs} />
            </div>
          )
        }
      </Shown>
    </>
  )
}

function NoTokens({ runs }: { runs: number }) {
  return (
    <div class="notice">
      <h2>
        {runs === 0
          ? 'No agent has reported yet.'
          : `No tokens were reported in the last ${counted(runs, 'run')}.`}
      </h2>
      <p>Send tokens with each step and the cost of drift appears here.</p>
      <p class="actions">
        <a href="/docs/connect#plain-http">How to report tokens</a>
      </p>
    </div>
  )
}

function Facts({ summary, runs }: { summary: Summary; runs: readonly ListedRun[] }) {
  const { tokens, overhead_tokens, overhead_fraction, tokens_per_step } = summary
  const drift = runs.reduce((sum, run) => sum + (run.drift_tokens ?? 0), 0)
  const all = runs.reduce((sum, run) => sum + run.tokens, 0)
  const share = all === 0 ? 0 : drift / all
  return (
    <>
      <h2 class="page-sentence">
        {drift === 0
          ? `None of ${short(tokens)} tokens went into drift.`
          : `${short(drift)} of ${short(tokens)} tokens went into drift.`}
      </h2>
      <p class="says">
        The newest {counted(summary.runs, 'run')} with {counted(summary.steps, 'step')};{' '}
        {summary.runs_with_tokens === summary.runs
          ? 'all of them reported tokens.'
          : `${whole(summary.runs_with_tokens)} of them reported tokens.`}
      </p>
      <dl class="facts">
        <div>
          <dt>Tokens</dt>
          <dd>{short(tokens)}</dd>
        </div>
        <div>
          <dt>While drifting</dt>
          <dd class={drift === 0 ? undefined : 'drift-text'}>
            {short(drift)}
            <small>{percent(share)}</small>
          </dd>
        </div>
        <div>
          <dt>Overhead</dt>
          <dd>
            {short(overhead_tokens)}
            <small>{percent(overhead_fraction)}</small>
          </dd>
        </div>
        <div>
          <dt>A step, on average</dt>
          <dd>{short(tokens_per_step)}</dd>
        </div>
      </dl>
    </>
  )
}

/** The sums of tokens over time. A run counts when its last step came. */
function OverTime({ runs }: { runs: readonly ListedRun[] }) {
  const { times, courses, says } = useMemo(() => {
    const inOrder = [...runs].sort((a, b) => a.updated.localeCompare(b.updated))
    let [tokens, drift] = [0, 0]
    const sums = inOrder.map((run) => {
      tokens += run.tokens
      drift += run.drift_tokens ?? 0
      return { at: Date.parse(run.updated) / 1000, tokens, drift }
    })
    const drawn: Course[] = [
      { name: 'tokens', colour: '--ink', values: sums.map((sum) => sum.tokens) },
      {
        name: 'of these while drifting',
        colour: '--drift-mark',
        dash: [6, 3],
        isFilled: true,
        values: sums.map((sum) => sum.drift),
      },
    ]
    return {
      times: sums.map(({ at }) => at),
      courses: drawn,
      says: `The sum of tokens rises to ${short(tokens)}, that of tokens while drifting to ${short(drift)}.`,
    }
  }, [runs])
  if (times.length < 2) return null
  return (
    <>
      <h3>Over time</h3>
      <Plot times={times} courses={courses} says={says} show={short} isStepped />
      <p class="hint">Sums over the runs. A run counts at the time of its last step.</p>
    </>
  )
}

function Runs({ runs }: { runs: readonly ListedRun[] }) {
  const isAll = useSignal(false)
  const withTokens = runs
    .filter(({ tokens }) => tokens > 0)
    .sort((a, b) => (b.drift_tokens ?? 0) - (a.drift_tokens ?? 0) || b.tokens - a.tokens)
  const most = Math.max(1, ...withTokens.map(({ tokens }) => tokens))
  const shown = isAll.value ? withTokens : withTokens.slice(0, firstRows)
  return (
    <>
      <div class="cost-head">
        <h3>By run, most tokens in drift first</h3>
        <ul class="cost-legend">
          {(['work', 'drift', 'overhead'] as const).map((part) => (
            <li key={part}>
              <svg width="12" height="12" aria-hidden="true">
                <rect class={`bar-${part}`} width="12" height="12" />
              </svg>
              {part === 'work' ? 'on the errand' : part === 'drift' ? 'while drifting' : 'overhead'}
            </li>
          ))}
        </ul>
      </div>
      <div class="cost-row cost-top" aria-hidden="true">
        <span>Errand</span>
        <span />
        <span class="number">Tokens</span>
        <span class="number">In drift</span>
        <span class="number">Overhead</span>
      </div>
      <ul>
        {shown.map((run) => (
          <li key={run.run_id}>
            <Row run={run} most={most} />
          </li>
        ))}
      </ul>
      {withTokens.length > firstRows && !isAll.value ? (
        <p class="more-row">
          <button
            type="button"
            class="button"
            onClick={() => {
              isAll.value = true
            }}
          >
            Show all {withTokens.length}
          </button>
        </p>
      ) : null}
    </>
  )
}

const barWidth = 1_000

function Row({ run, most }: { run: ListedRun; most: number }) {
  const { run_id, ground, tokens, overhead_tokens } = run
  const drift = run.drift_tokens ?? 0
  // Overhead may have been spent on a step that drifts; the bar shows each token once.
  const overhead = Math.min(overhead_tokens, Math.max(0, tokens - drift))
  const x = (count: number) => (count / most) * barWidth
  return (
    <a class="cost-row" href={`/app/runs/${encodeURIComponent(run_id)}`}>
      <span class="cost-errand">
        <b>
          <bdi>{ground ?? run_id}</bdi>
        </b>
        <small class="mono">
          <bdi>{run_id}</bdi>
        </small>
      </span>
      <svg
        class="cost-bar"
        viewBox={`0 0 ${barWidth} 12`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <rect class="bar-drift" width={x(drift)} height="12" />
        <rect
          class="bar-work"
          x={x(drift)}
          width={x(Math.max(0, tokens - drift - overhead))}
          height="12"
        />
        <rect class="bar-overhead" x={x(tokens - overhead)} width={x(overhead)} height="12" />
      </svg>
      <span class="number">
        {short(tokens)}
        <span class="visually-hidden"> tokens,</span>
      </span>
      <span class={drift === 0 ? 'number quiet-text' : 'number drift-text'}>
        {drift === 0 ? '–' : short(drift)}
        <span class="visually-hidden"> while drifting,</span>
      </span>
      <span class="number quiet-text">
        {overhead_tokens === 0 ? '–' : short(overhead_tokens)}
        <span class="visually-hidden"> overhead</span>
      </span>
    </a>
  )
}

function percent(share: number): string {
  const value = share * 100
  return `${value > 0 && value < 1 ? value.toFixed(1) : Math.round(value)} %`
}
