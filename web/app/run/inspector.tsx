import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { StoredRun, StoredStep } from '../../../src/surfaces/client/client.ts'
import { markOf, saysOfMark } from '../../shared/line.ts'
import { api, faultOf } from '../api.ts'
import { useKeys } from '../keys.ts'
import { swapText } from '../line/difference.ts'
import { timeOfDay, whole } from '../time.ts'
import { useTold } from './told.ts'

const shownEvidence = 4

/** What is known of one step, and the question whether its verdict was right. */
export function Inspector({
  run,
  step,
  trace,
}: {
  run: StoredRun
  step: StoredStep
  trace: readonly StoredStep[]
}) {
  const mark = markOf(step)
  const chip =
    mark === 'drift' || mark === 'unsure-drift'
      ? 'chip drift'
      : mark === 'on'
        ? 'chip'
        : 'chip warn'
  const ground = groundOf(run, step)
  const told = useTold(run.run_id, step)
  const isOpen = useSignal(false)
  return (
    <aside class={isOpen.value ? 'inspector open' : 'inspector'} aria-label={`Step ${step.step}`}>
      <button
        type="button"
        class="sheet-handle"
        aria-expanded={isOpen.value}
        aria-label="All about this step"
        onClick={() => {
          isOpen.value = !isOpen.value
        }}
      />
      <div class="inspector-body" tabIndex={0}>
        <p class="inspector-head">
          Step {step.step} <span class={chip}>{saysOfMark[mark]}</span>
          {step.agent_id === undefined ? null : (
            <code class="chip">
              <bdi>{step.agent_id}</bdi>
            </code>
          )}
          <span class="inspector-keys" aria-hidden="true">
            <kbd>J</kbd> <kbd>K</kbd>
          </span>
        </p>
        <h2>
          <bdi>{step.goal}</bdi>
        </h2>
        <Why step={step} />
        <Evidence step={step} trace={trace} />
        <dl class="facts-list">
          <Fact name="phi">
            <b>{step.phi.toFixed(2)}</b> <span class="quiet-text">of 1 from the ground</span>
          </Fact>
          {step.confidence === null ? null : (
            <Fact name="Confidence">
              <b>{step.confidence.toFixed(2)}</b>{' '}
              <span class="quiet-text">that this verdict is right</span>
            </Fact>
          )}
          {step.user_message === null ? null : (
            <Fact name="The user">
              <bdi>“{step.user_message}”</bdi>
            </Fact>
          )}
          {ground === null ? null : (
            <Fact name="Ground">
              <span class="ground-text pre">
                <bdi>{ground}</bdi>
              </span>
            </Fact>
          )}
          {step.parent_goal === undefined ? null : (
            <Fact name="Parent">
              <bdi>{step.parent_goal}</bdi>
            </Fact>
          )}
          {step.svcscore === null ? null : (
            <Fact name="Spelling">
              <code>
                <bdi>{step.svcscore}</bdi>
              </code>
            </Fact>
          )}
          {step.doing === null || step.doing.length === 0 ? null : (
            <Fact name="Did">
              <ul class="did">
                {step.doing.slice(-5).map((each, at) => (
                  <li key={at}>
                    <code>
                      <bdi>{each}</bdi>
                    </code>
                  </li>
                ))}
              </ul>
            </Fact>
          )}
          {step.tokens === undefined ? null : <Fact name="Tokens">{whole(step.tokens)}</Fact>}
          {told === null ? null : <Fact name="Alert">{told}</Fact>}
          <Fact name="Time">{timeOfDay(step.ts)}</Fact>
        </dl>
      </div>
      <Label run={run} step={step} />
    </aside>
  )
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Why({ step }: { step: StoredStep }) {
  const { words, swap, act } = step
  return (
    <section class="why">
      <h3>Why</h3>
      <p>
        <bdi>{step.act_evidence?.says ?? step.why ?? step.reason}</bdi>
      </p>
      {swap === null ? null : (
        <p>
          <span class="chip warn">
            <bdi>{swapText(swap)}</bdi>
          </span>
        </p>
      )}
      {act === null ? null : (
        <p>
          <span class="chip warn">
            {act.kind}: <bdi>{act.text}</bdi>
          </span>
        </p>
      )}
      {words === null ? null : (
        <p class="chips">
          {words.shared.map((word) => (
            <span key={`in ${word}`} class="chip ground">
              <bdi>{word}</bdi>
            </span>
          ))}
          {words.missing.map((word) => (
            <span key={`not ${word}`} class="chip">
              <bdi>{word}</bdi>
            </span>
          ))}
        </p>
      )}
    </section>
  )
}

/** The evidence of this agent's last steps against the limit of this one. */
function Evidence({ step, trace }: { step: StoredStep; trace: readonly StoredStep[] }) {
  const { evidence } = step
  if (evidence === null) return null
  const { sum, limit } = evidence
  if (sum < 0) {
    return (
      <section class="evidence">
        <h3>
          Evidence of drift{' '}
          <span>
            {number(sum)} of {limit.toFixed(2)}
          </span>
        </h3>
        <p class="quiet-text">
          Below 0 speaks for the errand. Drift is called at {limit.toFixed(2)}.
        </p>
      </section>
    )
  }
  const place = trace.indexOf(step)
  const before = trace
    .slice(Math.max(0, place - 40), place + 1)
    .filter(
      (each) =>
        each.agent_id === step.agent_id &&
        each.evidence !== null &&
        each.evidence.sum > 0 &&
        each.revision === step.revision,
    )
    .slice(-shownEvidence)
  const most = Math.max(limit * 1.25, ...before.map((each) => each.evidence?.sum ?? 0))
  const width = 270
  const x = (value: number) => 30 + (Math.max(0, value) / most) * (width - 30)
  return (
    <section class="evidence">
      <h3>
        Evidence of drift{' '}
        <span>
          <b class={step.drifting ? 'drift-text' : ''}>{number(sum)}</b> of {limit.toFixed(2)}
        </span>
      </h3>
      <svg viewBox={`0 0 ${width + 10} ${before.length * 15 + 26}`} aria-hidden="true">
        {before.map((each, at) => (
          <g key={each.step}>
            <text class="evidence-step" x="22" y={at * 15 + 13} text-anchor="end">
              {each.step}
            </text>
            <rect
              class={each === step && step.drifting ? 'evidence-bar drift' : 'evidence-bar'}
              x="30"
              y={at * 15 + 5}
              width={Math.max(1, x(each.evidence?.sum ?? 0) - 30)}
              height="9"
            />
          </g>
        ))}
        <line
          class="evidence-limit"
          x1={x(limit)}
          x2={x(limit)}
          y1="0"
          y2={before.length * 15 + 6}
        />
        <text class="evidence-step" x={x(limit)} y={before.length * 15 + 20} text-anchor="middle">
          drift from {limit.toFixed(2)}
        </text>
      </svg>
    </section>
  )
}

function number(value: number): string {
  return value.toFixed(2).replace('-', '−')
}

/** Asks whether the verdict was right; Y and N answer. */
function Label({ run, step }: { run: StoredRun; step: StoredStep }) {
  const given = useSignal<string | null>(null)
  const says = useSignal('')
  const kept = step.label
  useEffect(() => {
    given.value = kept
    says.value = ''
  }, [step.step, run.run_id, kept])
  async function label(isRight: boolean): Promise<void> {
    if (isRight && !step.drifting) {
      says.value = 'A step without an alarm needs no label while it is right.'
      return
    }
    const word = !step.drifting ? 'missed' : isRight ? 'useful' : 'false_alarm'
    given.value = word
    try {
      const { quality } = await api.label({ run_id: run.run_id, step: step.step, label: word })
      says.value =
        quality === null
          ? 'Noted.'
          : `${quality.useful} of ${quality.labelled} ${quality.reason} alarms labelled so far were right.`
    } catch (error) {
      given.value = kept
      says.value = faultOf(error).says
    }
  }
  useKeys({ y: () => void label(true), n: () => void label(false) })
  const isWrong = given.value === 'false_alarm' || given.value === 'missed'
  return (
    <div class="label-bar">
      <h3>Was it right?</h3>
      <button
        type="button"
        class="button"
        aria-pressed={given.value === 'useful'}
        onClick={() => label(true)}
      >
        Right <kbd>Y</kbd>
      </button>
      <button type="button" class="button" aria-pressed={isWrong} onClick={() => label(false)}>
        Wrong <kbd>N</kbd>
      </button>
      <p class={says.value === '' ? 'hint wide-only' : 'hint'} role="status">
        {says.value || 'Your answers become the precision on the Quality page.'}
      </p>
    </div>
  )
}

/** The ground that a step was measured against. */
function groundOf(run: StoredRun, { agent_id = '', revision }: StoredStep): string | null {
  const own = run.grounds.filter((ground) => ground.agent_id === agent_id)
  const found =
    own.findLast((ground) => ground.revision <= (revision ?? Number.MAX_SAFE_INTEGER)) ?? own.at(-1)
  if (found !== undefined) return found.goal
  return run.agents.find((agent) => agent.agent_id === agent_id)?.ground ?? null
}
