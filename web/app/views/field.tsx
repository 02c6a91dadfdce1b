import '../controls.css'
import '../field/field.css'
import { useEffect, useMemo } from 'preact/hooks'
import { api } from '../api.ts'
import { type Signal, Sky } from '../field/sky.tsx'
import { Speak } from '../field/speak.tsx'
import { type Course, Plot } from '../plot/plot.tsx'
import { Shown, useResource } from '../resource.tsx'
import { Top } from '../shell.tsx'
import { counted } from '../time.ts'

const samplesADay = 1_440

/** The shared field of this server as weather: now, over the last day, and a way to speak into it. */
export default function Field() {
  const read = useResource(async () => {
    const [signal, { series }] = await Promise.all([
      api.signal(),
      api.signalHistory({ limit: samplesADay }),
    ])
    return { signal, series }
  })
  useEffect(() => {
    const timer = setInterval(() => void read.read(), 60_000)
    return () => clearInterval(timer)
  }, [])
  return (
    <>
      <Top title={<h1>Field</h1>} />
      <Shown of={read} thing="field">
        {({ signal, series }) => (
          <div class="field-page">
            <h2 class="page-sentence">{weatherOf(signal)}</h2>
            <p class="says">
              The field of this server, moved by words and by nothing else.{' '}
              {signal.n_nodes === 0
                ? 'Nobody has spoken in the last 24 hours.'
                : `${counted(signal.n_nodes, 'speaker')} in the last 24 hours.`}
            </p>
            <Sky signal={signal} />
            <dl class="axes">
              {axes.map(([axis, name]) => (
                <div key={axis}>
                  <dt>{name}</dt>
                  <dd>{signal[axis].toFixed(2)}</dd>
                </div>
              ))}
            </dl>
            <Day series={series} />
            <Speak onSpoken={read.read} />
          </div>
        )}
      </Shown>
    </>
  )
}

const axes = [
  ['T', 'Heat'],
  ['Q', 'Moisture'],
  ['R', 'Rain'],
  ['V', 'Vitality'],
  ['S', 'Stress'],
  ['rotation', 'Rotation'],
] as const

function weatherOf({ R, T, emotion, season }: Signal): string {
  const rain = R > 0.5 ? 'heavy rain' : R > 0.2 ? 'rain' : R > 0.05 ? 'a little rain' : 'no rain'
  const heat = T > 0.66 ? 'hot' : T > 0.4 ? 'mild' : 'cool'
  return `${season[0]?.toUpperCase()}${season.slice(1)}, ${heat}, ${rain}. The field is in ${emotion}.`
}

const drawn = [
  ['V', 'vitality', '--ink'],
  ['S', 'stress', '--drift-mark', [6, 3]],
  ['R', 'rain', '--ground', [2, 3]],
  ['T', 'heat', '--warn-mark', [10, 3, 2, 3]],
] as const

function Day({ series }: { series: readonly Signal[] }) {
  const [times, courses] = useMemo(
    () => [
      series.map(({ ts }) => Date.parse(ts) / 1000),
      drawn.map(
        ([axis, name, colour, dash]): Course => ({
          name,
          colour,
          ...(dash === undefined ? {} : { dash }),
          values: series.map((signal) => signal[axis]),
        }),
      ),
    ],
    [series],
  )
  if (series.length < 2) {
    return <p class="hint">The course of the day appears here; a sample is taken every minute.</p>
  }
  const last = series.at(-1)
  const says = drawn.map(([axis, name]) => `${name} is ${last?.[axis].toFixed(2)}`).join(', ')
  return (
    <Plot
      times={times}
      courses={courses}
      says={`The last day. Now ${says}.`}
      show={(value) => value.toFixed(2)}
      range={[0, 1]}
    />
  )
}
