import { differenceOf } from '../line/difference.ts'
import { type Mark, markOf, saysOfMark, xOf } from '../line/marks.ts'
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
  const y = (at: number) => top + height * at + height / 2
  const shown = steps.map((step, at) => {
    // The phi of an unreadable step says nothing, so it stands where the step before it stood.
    const before = steps[at - 1]
    const phi = step.reason === 'ungrammatical' && before !== undefined ? before.phi : step.phi
    return { step, mark: markOf(step), x: left + xOf(phi, width), y: y(at) }
  })
  const end = y(steps.length - 1) + 14
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
      {shown.map(({ step, x, y: at }) => (
        <line key={step.step} class="line-arm" x1={left} x2={x} y1={at} y2={at} />
      ))}
      {drifting(shown).map((points) => (
        <path
          key={points[0]?.step.step}
          class="fill-drift"
          d={`M${left} ${(points[0]?.y ?? 0) - height / 2}${points
            .map(({ x, y: at }) => `L${x} ${at}`)
            .join('')}L${left} ${(points.at(-1)?.y ?? 0) + height / 2}z`}
        />
      ))}
      {shown.slice(1).map(({ step, x, y: at }, place) => {
        const from = shown[place]
        if (from === undefined || from.step.revision !== step.revision) return null
        const both = from.step.drifting && step.drifting
        return (
          <line
            key={step.step}
            class={both ? 'thread thread-drift' : 'thread'}
            x1={from.x}
            y1={from.y}
            x2={x}
            y2={at}
          />
        )
      })}
      <path class="line-ground" d={`M${left - 9} 18h18M${left} 18V${end}`} />
      {isLive ? (
        <path class="line-bob" d={`M${left - 5} ${end - 2}h10l-2 6-3 8-3-8z`} />
      ) : (
        <path class="line-ground" d={`M${left - 5} ${end}h10`} />
      )}
      {shown.map(({ step, mark, x, y: at }) => (
        <g key={step.step}>
          {step.step === asked ? <circle class="mark-halo" cx={x} cy={at} r="9" /> : null}
          <StepMark mark={mark} x={x} y={at} />
        </g>
      ))}
    </svg>
  )
}

function StepMark({ mark, x, y }: { mark: Mark; x: number; y: number }) {
  const diamond = `M${x} ${y - 4.6}l4.6 4.6-4.6 4.6-4.6-4.6z`
  if (mark === 'on') return <circle class="mark-on" cx={x} cy={y} r="3.4" />
  if (mark === 'uncertain') return <circle class="mark-open" cx={x} cy={y} r="3.4" />
  if (mark === 'name')
    return <rect class="mark-name" x={x - 4} y={y - 4} width="8" height="8" rx="1" />
  if (mark === 'drift') return <path class="mark-drift" d={diamond} />
  if (mark === 'unsure-drift') return <path class="mark-unsure" d={diamond} />
  return <path class="mark-cross" d={`M${x - 3.4} ${y - 3.4}l6.8 6.8m0-6.8l-6.8 6.8`} />
}

/** The stretches of drifting steps. */
function drifting<Shown extends { step: Step }>(shown: readonly Shown[]): Shown[][] {
  const found: Shown[][] = []
  shown.forEach((each, at) => {
    if (!each.step.drifting) return
    if (shown[at - 1]?.step.drifting === true) found.at(-1)?.push(each)
    else found.push([each])
  })
  return found
}
