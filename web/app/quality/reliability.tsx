import { counted } from '../time.ts'
import type { Quality } from './quality-read.ts'
import { needed, tooFew } from './too-few.ts'

type Bin = Quality['reliability'][number]

/** What was said of the labelled steps against what people say of them. Nothing without a label. */
export function Reliability({ bins }: { bins: readonly Bin[] }) {
  const labels = bins.reduce((sum, bin) => sum + bin.labels, 0)
  if (labels === 0) return null
  const off = bins.reduce(
    (sum, { labels: of, mean, share }) => sum + of * Math.abs(mean - share.value),
    0,
  )
  return (
    <section class="reliability-part" aria-label="Does it know how sure it is?">
      <h2>Does it know how sure it is?</h2>
      <div class="reliability">
        <Drawing bins={bins} />
        <div>
          <p>
            Said against measured, on {counted(labels, 'drifting step')} with your label. On the
            line, an 80&nbsp;% chance of drift comes true 80&nbsp;% of the time.
          </p>
          <p class="quiet-text">
            {labels < needed ? tooFew(labels) : `Off by ${(off / labels).toFixed(2)} on average.`}
          </p>
        </div>
      </div>
      <ul class="visually-hidden">
        {bins.map(({ from, mean, share, labels: of }) => (
          <li key={from}>
            Said {mean.toFixed(2)}, measured {share.value.toFixed(2)}, between{' '}
            {share.low.toFixed(2)} and {share.high.toFixed(2)}, {counted(of, 'label')}.
          </li>
        ))}
      </ul>
    </section>
  )
}

const size = 200
const left = 34
const top = 6

function Drawing({ bins }: { bins: readonly Bin[] }) {
  const x = (share: number) => left + share * size
  const y = (share: number) => top + (1 - share) * size
  return (
    <svg
      class="reliability-plot"
      width={left + size + 12}
      height={top + size + 24}
      viewBox={`0 0 ${left + size + 12} ${top + size + 24}`}
      aria-hidden="true"
    >
      {[0, 0.5, 1].map((tick) => (
        <g key={tick}>
          <line class="own-grid" x1={x(0)} x2={x(1)} y1={y(tick)} y2={y(tick)} />
          <text x={left - 8} y={y(tick) + 4} text-anchor="end">
            {tick}
          </text>
          <text x={x(tick)} y={y(0) + 20} text-anchor="middle">
            {tick}
          </text>
        </g>
      ))}
      {bins.map(({ from, mean, share }) => (
        <line
          key={from}
          class="spread"
          x1={x(mean)}
          x2={x(mean)}
          y1={y(share.low)}
          y2={y(share.high)}
        />
      ))}
      <path class="line-ground" d={`M${x(0)} ${y(0)}L${x(1)} ${y(1)}`} />
      {bins.map(({ from, mean, share, labels }) => (
        <g key={from}>
          <line class="stem" x1={x(mean)} x2={x(mean)} y1={y(mean)} y2={y(share.value)} />
          <circle
            class={labels < needed ? 'few' : 'enough'}
            cx={x(mean)}
            cy={y(share.value)}
            r="4.5"
          />
        </g>
      ))}
    </svg>
  )
}
