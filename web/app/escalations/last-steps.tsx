import {
  bobPath,
  fillsOf,
  markOf,
  pathThrough,
  saysOfMark,
  threadsOf,
  xOf,
} from '../../shared/line.ts'
import { differenceOf } from '../line/difference.ts'
import { MarkShape } from '../line/mark-shape.tsx'
import { GoalText } from '../run/goal-text.tsx'
import { short, timeOfDay } from '../time.ts'
import type { Step } from './run-tail.ts'

/** The last steps of a run below its errand, with the line that they hang from. */
export function LastSteps({
  ground,
  steps,
  asked,
  isLive,
  isPhone,
  isNarrow,
}: {
  ground: string | null
  steps: readonly Step[]
  /** The step that the question is about. */
  asked: number | null
  isLive: boolean
  isPhone: boolean
  isNarrow: boolean
}) {
  return (
    <ol class="last-steps" aria-label="The last steps of the run">
      <Drawing
        steps={steps}
        asked={asked}
        isLive={isLive}
        height={isPhone ? 44 : 30}
        top={isPhone ? 44 : 38}
        width={isPhone ? 72 : isNarrow ? 110 : 214}
      />
      <li class="errand">
        <span />
        <span class="goal" title={ground ?? ''}>
          <bdi>{ground ?? 'The errand is not stored.'}</bdi>
        </span>
        <span class="chip ground">ground</span>
      </li>
      {steps.map((step) => (
        <Row key={step.step} step={step} isAsked={step.step === asked} />
      ))}
    </ol>
  )
}

function Row({ step, isAsked }: { step: Step; isAsked: boolean }) {
  const mark = markOf(step)
  const { swap } = step
  const pair = swap === null || swap === undefined ? null : differenceOf(swap.ground, swap.goal)
  return (
    <li class={isAsked ? 'asked' : undefined} aria-current={isAsked ? 'step' : undefined}>
      <span class="no">
        <span class="visually-hidden">Step </span>
        {step.step}
        <span class="visually-hidden">
          , {saysOfMark[mark]}, phi {step.phi.toFixed(2)},
        </span>
      </span>
      <span class={step.drifting ? 'goal drifting' : 'goal'} title={step.goal}>
        <GoalText goal={step.goal} shared={step.words?.shared ?? []} />
      </span>
      {pair === null ? (
        <span class="chip none" />
      ) : (
        <span class="chip warn">
          {pair[0]} → {pair[1]}
        </span>
      )}
      <span class="number tokens">{step.tokens === undefined ? '' : short(step.tokens)}</span>
      <time class="number" dateTime={step.ts}>
        {timeOfDay(step.ts)}
      </time>
    </li>
  )
}

const left = 18

function Drawing({
  steps,
  asked,
  isLive,
  top,
  height,
  width,
}: {
  steps: readonly Step[]
  asked: number | null
  isLive: boolean
  top: number
  height: number
  width: number
}) {
  const shown = steps.map((step, at) => {
    // The phi of an unreadable step says nothing, so it stands where the step before it stood.
    const before = steps[at - 1]
    const phi = step.reason === 'ungrammatical' && before !== undefined ? before.phi : step.phi
    return {
      step: step.step,
      mark: markOf(step),
      drifting: step.drifting,
      revision: step.revision ?? 1,
      line: left,
      x: left + xOf(phi, width),
      y: top + height * at + height / 2,
      height,
    }
  })
  const end = top + height * (steps.length - 0.5) + 14
  return (
    <svg
      width={left + width + 20}
      height={end + 16}
      viewBox={`0 0 ${left + width + 20} ${end + 16}`}
      aria-hidden="true"
    >
      {[0.2, 0.4, 0.6].map((phi) => (
        <line
          key={phi}
          class="tick"
          x1={left + xOf(phi, width)}
          x2={left + xOf(phi, width)}
          y1="0"
          y2={end + 10}
        />
      ))}
      {shown.map(({ step, x, y }) => (
        <path key={step} class="line-arm" d={`M${left} ${y}H${x}`} />
      ))}
      {fillsOf(shown).map((outline) => (
        <path key={outline[0]?.[1]} class="fill-drift" d={pathThrough(outline, true)} />
      ))}
      {threadsOf(shown).map(({ from, to, drifts }) => (
        <line
          key={to.step}
          class={drifts ? 'thread thread-drift' : 'thread'}
          x1={from.x}
          y1={from.y}
          x2={to.x}
          y2={to.y}
        />
      ))}
      <path class="line-ground" d={`M${left - 9} 18h18M${left} 18V${end}`} />
      {isLive ? (
        <path class="line-bob" transform={`translate(${left} ${end - 2})`} d={bobPath} />
      ) : (
        <path class="line-ground" d={`M${left - 5} ${end}h10`} />
      )}
      {shown.map(({ step, mark, x, y }) => (
        <g key={step}>
          {step === asked ? <circle class="mark-halo" cx={x} cy={y} r="9" /> : null}
          <MarkShape mark={mark} x={x} y={y} />
        </g>
      ))}
    </svg>
  )
}
