import { useSignal } from '@preact/signals'
import type { api } from '../api.ts'
import { Icon } from '../icons.tsx'
import { agoInWords } from '../time.ts'

/** The outcome of a test, and when it came. */
export interface TestOutcome {
  answer: Awaited<ReturnType<typeof api.testAlerts>>
  at: string
}

/** Whether the test arrived, how long it took, and what was sent. */
export function TestResult({ outcome: { answer, at } }: { outcome: TestOutcome }) {
  const isOpen = useSignal(false)
  const { delivered, status, detail, latency_ms, body } = answer
  const inShort = summaryOf(body)
  return (
    <div class="block test-result" role="status">
      <div class="test-line">
        <p class={delivered ? 'test-says' : 'test-says drift-text'}>
          {delivered ? <Icon name="check" /> : null}
          <b>
            {delivered
              ? `The test arrived: ${status} after ${latency_ms} ms.`
              : `The test did not arrive: ${detail.replace(/\.$/, '')}. Nothing was retried.`}
          </b>
        </p>
        <span class="quiet-text">{agoInWords(at)}</span>
        <code class="test-short">{inShort}</code>
        {body === null ? null : (
          <button
            type="button"
            class="link"
            aria-expanded={isOpen.value}
            onClick={() => {
              isOpen.value = !isOpen.value
            }}
          >
            {isOpen.value ? 'Hide what was sent' : 'Show what was sent'}
          </button>
        )}
      </div>
      {isOpen.value && body !== null ? <pre>{pretty(body)}</pre> : null}
    </div>
  )
}

function summaryOf(body: string | null): string {
  try {
    const sent = JSON.parse(body ?? '') as Record<string, unknown>
    return ['reason', 'severity', 'phi', 'run_id']
      .filter((name) => sent[name] !== undefined)
      .map((name) => `${name} ${String(sent[name])}`)
      .join(', ')
  } catch {
    return ''
  }
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
