import 'uplot/dist/uPlot.min.css'
import './plot.css'
import { useEffect, useRef } from 'preact/hooks'
import Uplot from 'uplot'

/** A course over time. Its dash says which one it is where colours do not. */
export interface Course {
  name: string
  /** The token of its colour, `--ink`. */
  colour: string
  dash?: readonly number[]
  isFilled?: boolean
  values: readonly (number | null)[]
}

const heightPx = 200
const daySeconds = 86_400
const timeFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const stepped = Uplot.paths.stepped?.({ align: 1 })

/** Courses over time, drawn by uPlot; what they say stands in `says` for those who do not see them. */
export function Plot({
  times,
  courses,
  says,
  show,
  range,
  isStepped = false,
}: {
  /** Seconds since 1970, ascending. */
  times: readonly number[]
  courses: readonly Course[]
  says: string
  /** Writes a value at the axis. */
  show: (value: number) => string
  /** The lowest and the highest value of the axis; that of the data without it. */
  range?: readonly [number, number]
  /** Whether a value stays until the next one, as a sum does. */
  isStepped?: boolean
}) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current
    if (element === null) return
    let plot = draw(element)
    const redraw = () => {
      plot.destroy()
      plot = draw(element)
    }
    const sizes = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: heightPx }),
    )
    sizes.observe(element)
    // The canvas keeps the colours that it was drawn with.
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', redraw)
    const theme = new MutationObserver(redraw)
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      sizes.disconnect()
      theme.disconnect()
      dark.removeEventListener('change', redraw)
      plot.destroy()
    }
  }, [times, courses])

  function draw(element: HTMLDivElement): Uplot {
    const style = getComputedStyle(element)
    const of = (name: string) => style.getPropertyValue(name).trim()
    const axis = {
      stroke: of('--ink-3'),
      font: `12px ${of('--sans')}`,
      grid: { stroke: of('--line'), width: 1 },
      ticks: { show: false },
    }
    return new Uplot(
      {
        width: element.clientWidth,
        height: heightPx,
        // The last time at the axis stands half outside.
        padding: [8, 20, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
        scales: range === undefined ? {} : { y: { range: [range[0], range[1]] } },
        axes: [
          {
            ...axis,
            size: 32,
            space: 90,
            values: (_plot, splits) => splits.map(timeAtAxis(splits)),
          },
          { ...axis, size: 56, values: (_plot, values) => values.map((value) => show(value)) },
        ],
        series: [
          {},
          ...courses.map(({ name, colour, dash, isFilled }) => ({
            label: name,
            stroke: of(colour),
            width: 1.5,
            points: { show: false },
            ...(isStepped && stepped !== undefined ? { paths: stepped } : {}),
            ...(dash === undefined ? {} : { dash: [...dash] }),
            ...(isFilled === true ? { fill: of('--drift-fill') } : {}),
          })),
        ],
      },
      [[...times], ...courses.map(({ values }) => [...values])] as Uplot.AlignedData,
      element,
    )
  }

  return (
    <figure class="plot">
      <ul class="plot-legend">
        {courses.map(({ name, colour, dash }) => (
          <li key={name}>
            <Swatch colour={colour} dash={dash} />
            {name}
          </li>
        ))}
      </ul>
      <div class="plot-canvas plot-cross" ref={place} aria-hidden="true" />
      <figcaption class="visually-hidden">{says}</figcaption>
    </figure>
  )
}

function Swatch({ colour, dash }: { colour: string; dash: readonly number[] | undefined }) {
  return (
    <svg width="24" height="8" aria-hidden="true">
      <path
        d="M0 4h24"
        stroke={`var(${colour})`}
        stroke-width="2"
        stroke-dasharray={dash?.join(' ')}
      />
    </svg>
  )
}

/** Writes times at the axis: days where they are days apart, the time of day otherwise. */
function timeAtAxis(splits: readonly number[]): (seconds: number) => string {
  const apart = (splits[1] ?? 0) - (splits[0] ?? 0)
  const format = apart >= daySeconds ? dayFormat : timeFormat
  return (seconds) => format.format(seconds * 1000)
}
