import { session } from '../session.ts'
import type { Fleet } from './members.tsx'

type Collision = Fleet['collisions'][number]

/** Runs of different members whose errands are nearly the same. */
export function Collisions({ fleet: { collisions, members } }: { fleet: Fleet }) {
  const labels = new Map(members.map(({ account, label }) => [account, label]))
  return (
    <section class="section">
      <h2>Collisions</h2>
      {collisions.length === 0 ? (
        <p class="says">
          None. Live runs of different members are compared; two that share half of their errand or
          more stand here.
        </p>
      ) : (
        <ul class="collisions">
          {collisions.map((collision) => (
            <li key={collision.runs.join(' ')}>
              <Side of={collision} at={0} labels={labels} />
              <Side of={collision} at={1} labels={labels} />
              <Overlap share={collision.overlap} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Side({
  of: { runs, accounts, grounds },
  at,
  labels,
}: {
  of: Collision
  at: 0 | 1
  labels: ReadonlyMap<string, string>
}) {
  const isMine = accounts[at] === session.value?.account
  const run = <bdi>{runs[at]}</bdi>
  return (
    <span class="collision-side">
      <b>
        <bdi>{labels.get(accounts[at]) ?? accounts[at]}</bdi>
      </b>
      {grounds === undefined ? null : (
        <span>
          <bdi>{grounds[at]}</bdi>
        </span>
      )}
      {isMine ? (
        <a class="mono" href={`/app/runs/${encodeURIComponent(runs[at])}`}>
          {run}
        </a>
      ) : (
        <span class="mono quiet-text">{run}</span>
      )}
    </span>
  )
}

const barWidth = 60

function Overlap({ share }: { share: number }) {
  return (
    <span class="overlap">
      <svg width={barWidth} height="6" aria-hidden="true">
        <rect class="overlap-all" width={barWidth} height="6" />
        <rect class="overlap-part" width={barWidth * share} height="6" />
      </svg>
      {Math.round(share * 100)} % alike
    </span>
  )
}
