import type { api } from '../api.ts'

export type Signal = Awaited<ReturnType<typeof api.signal>>

const width = 900
const height = 150
const ground = 140

/** The weather as a quiet drawing: rain, wind, warmth, what grows, and the line in the middle of it. */
export function Sky({ signal: { T, Q, R, V, S, rotation } }: { signal: Signal }) {
  const drops = Math.round(R * 90)
  const gusts = Math.round(S * 8)
  const blades = Math.round(20 + V * 70)
  const lean = rotation * 26
  const at = width / 2
  return (
    <svg
      class="sky"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="xMidYMid slice"
      aria-hidden="true"
    >
      <circle class="sky-sun" cx={780} cy={50} r={8 + T * 24} opacity={0.25 + (1 - Q) * 0.75} />
      {spread(gusts, 1).map(([x, y]) => (
        <path
          key={`${x} ${y}`}
          class="sky-wind"
          d={`M${x} ${18 + y * 90}q${20 + S * 30} ${-6 - rotation * 14} ${40 + S * 60} 0`}
          opacity={0.5}
        />
      ))}
      {spread(drops, 2).map(([x, y]) => (
        <line
          key={`${x} ${y}`}
          class="sky-rain"
          x1={x}
          y1={6 + y * 120}
          x2={x + rotation * 6}
          y2={14 + y * 120}
          opacity={0.6}
        />
      ))}
      <line class="sky-ground" x1={at} x2={at + lean} y1="0" y2="84" />
      <path
        class="sky-bob"
        transform={`translate(${at + lean} 84) rotate(${-lean * 0.5})`}
        d="M-6 0h12l-2 8-4 20-4-20z"
      />
      {spread(blades, 3).map(([x, y]) => (
        <line
          key={`${x} ${y}`}
          class="sky-grass"
          x1={x}
          y1={ground + 8}
          x2={x + rotation * 5 + (y - 0.5) * 3}
          y2={ground + 8 - (3 + y * 10) * (0.4 + V)}
          opacity={0.55}
        />
      ))}
    </svg>
  )
}

/** Places that look strewn and are the same each time; across the drawing, and 0–1 downwards. */
function spread(count: number, salt: number): [number, number][] {
  // The two steps of the R2 sequence, which leaves no rows and no clumps.
  return Array.from({ length: count }, (_, place) => [
    Math.round(((place * 0.754_877_7 + salt * 0.31) % 1) * width),
    (place * 0.569_840_3 + salt * 0.53) % 1,
  ])
}
