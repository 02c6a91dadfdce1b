import { api } from '../api.ts'
import { Shown, useResource } from '../resource.tsx'
import { counted, short } from '../time.ts'

type Answer = Awaited<ReturnType<typeof api.experiment>>

const verdicts: Record<Answer['verdict'], string> = {
  less: 'It saves tokens.',
  more: 'It costs tokens.',
  'no evidence': 'No evidence either way.',
  'too few': 'Too few pairs to say.',
}

/** Whether runs with Plumbline take fewer tokens than runs without, by pairs of runs on one task. */
export function Experiment() {
  const read = useResource(() => api.experiment({ limit: 200 }))
  return (
    <section class="quality-part" aria-label="Does it save tokens?">
      <Shown of={read} thing="experiment">
        {(answer) => (
          <>
            <div class="part-head">
              <h3>Does it save tokens?</h3>
              <span class="quiet-text">
                {answer.complete_pairs === 0
                  ? 'no pairs yet'
                  : `${counted(answer.complete_pairs, 'pair')} with and without Plumbline`}
              </span>
            </div>
            {answer.complete_pairs === 0 ? (
              <p class="says">
                Run a task twice, once with Plumbline and once without, and send both runs with the
                same <code>pair</code> and the <code>arm</code> treatment or control. The answer
                stands here.
              </p>
            ) : (
              <div class="experiment">
                <Drawing answer={answer} />
                <div>
                  <b>{verdicts[answer.verdict]}</b>
                  <p>{saysOf(answer)}</p>
                  <p class="hint">
                    Each dot is a pair of runs on one task. The diamond is the mean.
                  </p>
                </div>
              </div>
            )}
          </>
        )}
      </Shown>
    </section>
  )
}

function saysOf({ mean_delta, ci95, p_value }: Answer): string {
  const mean = `With Plumbline a run took ${short(Math.abs(mean_delta))} tokens ${wordOf(mean_delta)} on average`
  const bounds = boundsOf(ci95)
  if (bounds === null) return `${mean}.`
  const [low, high] = bounds.map((each) => `${short(Math.abs(each))} ${wordOf(each)}`)
  const p = p_value === null ? '' : ` (p ${p_value < 0.01 ? '< 0.01' : `= ${p_value.toFixed(2)}`})`
  return `${mean}; the truth lies between ${low} and ${high}${p}.`
}

function wordOf(delta: number): string {
  return delta < 0 ? 'less' : 'more'
}

function boundsOf(ci95: Answer['ci95']): [number, number] | null {
  // The description of the interface calls a pair an array.
  return ci95 as [number, number] | null
}

const width = 440
const rowHeight = 15
const mostDots = 24

function Drawing({ answer: { pairs, mean_delta, ci95 } }: { answer: Answer }) {
  const deltas = pairs
    .flatMap(({ delta_tokens }) => (delta_tokens === null ? [] : [delta_tokens]))
    .sort((a, b) => a - b)
    .slice(0, mostDots)
  const [low, high] = boundsOf(ci95) ?? [mean_delta, mean_delta]
  const reach = Math.max(1, ...deltas.map(Math.abs), Math.abs(low), Math.abs(high))
  const step = tickOf(reach)
  const most = Math.ceil((reach * 1.08) / step) * step
  const x = (delta: number) => width / 2 + (delta / most) * (width / 2 - 20)
  const bottom = deltas.length * rowHeight + 14
  const ticks = Array.from({ length: 5 }, (_, at) => (at - 2) * step).filter(
    (tick) => Math.abs(tick) <= most,
  )
  return (
    <svg
      class="experiment-plot"
      viewBox={`0 0 ${width} ${bottom + 56}`}
      width={width}
      aria-hidden="true"
    >
      {ticks.map((tick) => (
        <g key={tick}>
          <line
            class={tick === 0 ? 'zero' : 'own-grid'}
            x1={x(tick)}
            x2={x(tick)}
            y1="0"
            y2={bottom + 18}
          />
          <text x={x(tick)} y={bottom + 48} text-anchor="middle">
            {tick === 0
              ? 'same'
              : `${tick < 0 ? '−' : '+'}${short(Math.abs(tick)).replace('.0k', 'k')}`}
          </text>
        </g>
      ))}
      {deltas.map((delta, at) => (
        <g key={`${at} ${delta}`}>
          <line
            class="pair-line"
            x1={x(0)}
            x2={x(delta)}
            y1={8 + at * rowHeight}
            y2={8 + at * rowHeight}
          />
          <circle class="pair-dot" cx={x(delta)} cy={8 + at * rowHeight} r="4" />
        </g>
      ))}
      <rect
        class="own-bar"
        x={x(low)}
        width={Math.max(1, x(high) - x(low))}
        y={bottom + 1}
        height="11"
      />
      <path class="mean" d={`M${x(mean_delta)} ${bottom}l6 6.500-6 6.500-6-6.500z`} />
    </svg>
  )
}

/** A round step of the axis, so that two of them lie on each side. */
function tickOf(reach: number): number {
  const rough = reach / 2
  const power = 10 ** Math.floor(Math.log10(rough))
  return ([1, 2, 5, 10].find((times) => times * power >= rough * 0.8) ?? 10) * power
}
