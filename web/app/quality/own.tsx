import { shareOf } from '../../../src/core/figures.ts'
import { counted, inWords, whole } from '../time.ts'
import { saysOfSeen } from '../words.ts'
import type { Group, Interval, Quality } from './quality-read.ts'
import { needed, tooFew } from './too-few.ts'

const more = 30

const names: Record<string, string> = {
  'goal-drift': 'The goal left the ground',
  stalled: 'The distance stopped falling',
  oscillating: 'The goals repeat',
  'self-report:stuck': 'The agent says it is stuck',
  'self-report:circling': 'The agent says it goes in circles',
  ungrammatical: 'The step could not be read',
}

/** How often the alarms of this account were right, with how sure that is. */
export function OwnLabels({ quality }: { quality: Quality }) {
  const { groups } = quality
  const reasons = new Set(groups.map(({ reason }) => reason))
  return (
    <>
      <Sentence quality={quality} />
      {groups.length === 0 ? null : (
        <div class="own">
          <div class="own-row own-head" aria-hidden="true">
            <span>Alarm</span>
            <span class="own-scale">
              <span>0</span>
              <span>right when it fires</span>
              <span>1</span>
            </span>
            <span class="number">Precision, 95 %</span>
            <span class="number">Labelled</span>
          </div>
          <ul>
            {groups.map((group) => (
              <Row
                key={`${group.reason} ${group.detector} ${group.host}`}
                group={group}
                isSplit={groups.length > reasons.size}
              />
            ))}
          </ul>
        </div>
      )}
      <Rate quality={quality} />
    </>
  )
}

function Sentence({ quality: { groups, alarms } }: { quality: Quality }) {
  const first = groups[0]?.reason
  const ofFirst = groups.filter(({ reason }) => reason === first)
  // Of runs that were hardly seen no share is claimed.
  const own = ofFirst.filter(({ withheld }) => withheld !== 'little_seen')
  const little = own.length === 0 ? seenIn(ofFirst[0]?.seen ?? null) : null
  if (little !== null) {
    return (
      <div class="quality-sentence">
        <h2 class="page-sentence">Too little of your runs was seen to say.</h2>
        <p class="says">
          Seen {little}. No rate stands here below 80 %. <a href="/docs/hosts">What hosts tell</a>
        </p>
      </div>
    )
  }
  const known = own.reduce((sum, group) => sum + group.labelled, 0)
  const useful = own.reduce((sum, group) => sum + group.useful, 0)
  if (known >= needed) {
    const low = shareOf(useful, known)?.low ?? 0
    const then = shareOf(useful + more, known + more)?.low ?? 0
    return (
      <div class="quality-sentence">
        <h2 class="page-sentence">
          On your runs, {useful} of {known} labelled {first} alarms were right.
        </h2>
        <p class="says">
          With so few labels the true share may be as low as {low.toFixed(2)}.{' '}
          {inWords(more) === String(more) ? 'Thirty' : inWords(more)} more, all right, would raise
          that to {then.toFixed(2)}.
        </p>
      </div>
    )
  }
  return (
    <div class="quality-sentence">
      <h2 class="page-sentence">
        {alarms === 0 ? 'No alarm has fired on your runs.' : tooFew(known)}
      </h2>
      <p class="says">
        {alarms === 0
          ? 'Once one has, say whether it was right, and the precision of your detector stands here.'
          : 'Say of an alarm whether it was right. No rate stands here before ten are labelled.'}
      </p>
    </div>
  )
}

function Rate({ quality: { alarms, steps, per_1000_steps, missed, seen } }: { quality: Quality }) {
  if (per_1000_steps === null) return null
  const { value, low, high } = per_1000_steps
  return (
    <p class="hint own-rate">
      {counted(alarms, 'alarm')} in {counted(steps, 'step')}: {value.toFixed(1)} per 1,000 (
      {low.toFixed(1)}–{high.toFixed(1)}).{' '}
      {missed === 0
        ? ''
        : `${whole(missed)} more ${missed === 1 ? 'was' : 'were'} missed, as people have said.`}
      {seenIn(seen) === null ? '' : ` Seen ${seenIn(seen)}.`}
    </p>
  )
}

/** How much was seen of what a rate is told of; null if no host shows an act of it. */
function seenIn(seen: Group['seen']): string | null {
  return seen === null || seen.share === null
    ? null
    : saysOfSeen({ share: seen.share, acts: seen.acts })
}

function Row({ group, isSplit }: { group: Group; isSplit: boolean }) {
  const { reason, host, detector, precision, withheld, labelled, useful, alarms, seen } = group
  const interval = withheld === 'little_seen' ? null : shareOf(useful, labelled)
  return (
    <li class="own-row">
      <span class="own-name">
        {names[reason] ?? reason}
        <code class="sub-code">
          {reason}
          {isSplit ? ` · ${host ?? 'reported'} · ${detector}` : ''}
          {seenIn(seen) === null ? '' : ` · seen ${seenIn(seen)}`}
        </code>
      </span>
      <Scale interval={interval} isSure={precision !== null} />
      <span class="number">
        {precision !== null ? (
          <>
            <b>{precision.value.toFixed(2)}</b>{' '}
            <span class="own-interval">
              {precision.low.toFixed(2)}–{precision.high.toFixed(2)}
            </span>
          </>
        ) : (
          <span class="quiet-text">
            {labelled === 0
              ? 'none yet'
              : withheld === 'little_seen'
                ? 'too little seen'
                : 'too few to say'}
          </span>
        )}
      </span>
      <span class="number">
        {labelled === 0 ? '–' : `${labelled} of ${alarms}`}
        <span class="own-unit"> labelled</span>
      </span>
    </li>
  )
}

const width = 320

function Scale({ interval, isSure }: { interval: Interval | null; isSure: boolean }) {
  return (
    <svg class="own-plot" viewBox={`0 0 ${width} 44`} preserveAspectRatio="none" aria-hidden="true">
      {[0, 0.25, 0.5, 0.75, 1].map((at) => (
        <line
          key={at}
          class="own-grid"
          x1={at * (width - 1) + 0.5}
          x2={at * (width - 1) + 0.5}
          y1="0"
          y2="44"
        />
      ))}
      {interval === null ? null : isSure ? (
        <>
          <rect
            class="own-bar"
            x={interval.low * width}
            width={(interval.high - interval.low) * width}
            y="18"
            height="8"
          />
          <line
            class="own-dot"
            x1={interval.value * (width - 1)}
            x2={interval.value * (width - 1) + 0.01}
            y1="22"
            y2="22"
          />
        </>
      ) : (
        <line
          class="own-dotted"
          x1={interval.low * width}
          x2={interval.high * width}
          y1="22"
          y2="22"
        />
      )}
    </svg>
  )
}
