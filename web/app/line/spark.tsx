import type { ListedRun } from '../../../src/surfaces/client/routes.ts'
import { round, stretches, xOf } from '../../shared/line.ts'
import { MarkShape } from './mark-shape.tsx'

type Spark = ListedRun['spark']

/** The course of a run as a small drawing with the ground on top. */
export function Sparkline({
  spark,
  swap = null,
  width = 148,
  height = 24,
}: {
  spark: Spark
  swap?: ListedRun['swap']
  width?: number
  height?: number
}) {
  const top = 3
  const stepWidth = spark.length > 1 ? (width - 8) / (spark.length - 1) : 0
  const x = (at: number) => 2 + at * stepWidth
  const y = (phi: number) => top + xOf(phi, height - top - 4)
  const points = spark.map(([phi], at) => `${round(x(at))},${round(y(phi))}`).join(' ')
  const last = spark.at(-1)
  return (
    <svg
      class="spark"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
    >
      {drifts(spark).map(([from, to]) => (
        <rect
          key={from}
          class="spark-drift"
          x={round(x(from) - stepWidth / 2)}
          y={top}
          width={Math.max(3, round((to - from + 1) * stepWidth))}
          height={round(y(Math.max(...spark.slice(from, to + 1).map(([phi]) => phi))) - top)}
        />
      ))}
      <line class="spark-ground" x1="0" x2={width - 2} y1={top} y2={top} />
      <polyline class="spark-thread" points={points} />
      {last === undefined ? null : (
        <EndMark
          state={last[1]}
          isNamed={swap !== null}
          x={round(x(spark.length - 1))}
          y={round(y(last[0]))}
        />
      )}
    </svg>
  )
}

const sparkRadius = 2.5

function EndMark({
  state,
  isNamed,
  x,
  y,
}: {
  state: Spark[number][1]
  isNamed: boolean
  x: number
  y: number
}) {
  const mark =
    state === 'drifting' ? 'drift' : isNamed ? 'name' : state === 'uncertain' ? 'uncertain' : 'on'
  return <MarkShape mark={mark} x={x} y={y} r={sparkRadius} />
}

/** The stretches of drifting points, as their first and last place. */
function drifts(spark: Spark): [number, number][] {
  const places = spark.flatMap(([, state], at) => (state === 'drifting' ? [at] : []))
  return stretches(places, (one, other) => other === one + 1).map((stretch) => [
    stretch[0] ?? 0,
    stretch.at(-1) ?? 0,
  ])
}

/** The wall: the newest runs as threads that hang beside their lines, downwards in time. */
export function Wall({
  runs,
}: {
  runs: readonly Pick<ListedRun, 'run_id' | 'ground' | 'spark' | 'steps' | 'swap'>[]
}) {
  const gap = 30
  const width = Math.max(1, runs.length) * gap + 6
  return (
    <svg class="wall" height="92" width={width} aria-hidden="true">
      {runs.map(({ run_id, ground, spark, steps, swap }, at) => {
        const left = at * gap + 5
        const length = Math.min(84, 36 + Math.sqrt(steps) * 7)
        const y = (place: number) => 3 + ((place + 0.5) / Math.max(1, spark.length)) * (length - 6)
        const x = (phi: number) => left + xOf(phi, 22)
        const last = spark.at(-1)
        return (
          <a key={run_id} href={`/app/runs/${encodeURIComponent(run_id)}`} tabindex={-1}>
            <title>{ground ?? run_id}</title>
            <rect class="wall-target" x={left - 4} y="0" width={gap - 2} height={length} />
            {drifts(spark).map(([from, to]) => (
              <path
                key={from}
                class="spark-drift"
                d={`M${left} ${round(y(from - 0.5))}L${spark
                  .slice(from, to + 1)
                  .map(([phi], place) => `${round(x(phi))} ${round(y(from + place))}`)
                  .join('L')}L${left} ${round(y(to + 0.5))}z`}
              />
            ))}
            <line class="wall-ground" x1={left} x2={left} y1="0" y2={length} />
            <polyline
              class="spark-thread"
              points={spark.map(([phi], place) => `${round(x(phi))},${round(y(place))}`).join(' ')}
            />
            {swap === null || last === undefined ? null : (
              <MarkShape
                mark="name"
                x={round(x(last[0]))}
                y={round(y(spark.length - 1))}
                r={sparkRadius}
              />
            )}
          </a>
        )
      })}
    </svg>
  )
}
