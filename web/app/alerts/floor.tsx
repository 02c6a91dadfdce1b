import { useId } from 'preact/hooks'
import { mostPhi } from '../../shared/line.ts'
import { api } from '../api.ts'
import { useResource } from '../resource.tsx'
import { isPhi } from './draft.ts'

const bins = 35
const dayMs = 86_400_000

/** How far a step must stray before it is told, over the steps of the last day. */
export function Floor({ value, onText }: { value: string; onText: (text: string) => void }) {
  const id = useId()
  const counts = useResource(readCounts).value.value
  const most = Math.max(1, ...(counts ?? []))
  const at = isPhi(value) ? Number(value) : 0
  const isWrong = !isPhi(value)
  return (
    <div class="field">
      <label class="label" for={id}>
        Quiet below phi
      </label>
      <div class="floor">
        <div class="floor-plot">
          <svg viewBox="0 0 350 28" preserveAspectRatio="none" aria-hidden="true">
            {counts?.map((count, bin) => (
              <rect
                key={bin}
                class={(bin + 0.5) * (mostPhi / bins) < at ? 'bin quiet' : 'bin'}
                x={bin * 10}
                y={28 - (count === 0 ? 0 : Math.max(1, (27 * count) / most))}
                width="8.6"
                height={count === 0 ? 0 : Math.max(1, (27 * count) / most)}
              />
            ))}
          </svg>
          <input
            type="range"
            class="floor-range"
            aria-label="Quiet below phi"
            min="0"
            max={mostPhi}
            step="0.01"
            value={Math.min(at, mostPhi)}
            onInput={(event) => onText(Number(event.currentTarget.value).toFixed(2))}
          />
        </div>
        <input
          id={id}
          class="input number"
          inputMode="decimal"
          value={value}
          aria-invalid={isWrong ? 'true' : undefined}
          aria-describedby={`${id}-says`}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      </div>
      <p class={isWrong ? 'fault' : 'hint'} id={`${id}-says`}>
        {isWrong
          ? 'Use a number from 0 to 1.'
          : counts === null
            ? 'Steps at a smaller distance are not told.'
            : counts.every((count) => count === 0)
              ? 'No steps in the last 24 hours. Steps at a smaller distance are not told.'
              : 'Bars: the steps of the last 24 hours. Right of the mark could alert.'}
      </p>
    </div>
  )
}

/** How many steps of the last day stood at each distance, from the courses of the runs. */
async function readCounts(): Promise<number[]> {
  const since = new Date(Date.now() - dayMs).toISOString()
  const { runs } = await api.listRuns({ since, limit: 200 })
  const counts = new Array<number>(bins).fill(0)
  for (const { spark } of runs) {
    for (const [phi] of spark) {
      const bin = Math.min(bins - 1, Math.floor((phi / mostPhi) * bins))
      counts[bin] = (counts[bin] ?? 0) + 1
    }
  }
  return counts
}
