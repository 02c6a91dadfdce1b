import '../controls.css'
import '../quality/quality.css'
import { useSignal } from '@preact/signals'
import { api } from '../api.ts'
import { BudgetControl } from '../budget.tsx'
import { useKeys } from '../keys.ts'
import { seldomMs, useLiveReading } from '../live-reading.ts'
import { Experiment } from '../quality/experiment.tsx'
import { OwnLabels } from '../quality/own.tsx'
import { Published } from '../quality/published.tsx'
import { Reliability } from '../quality/reliability.tsx'
import { Unlabelled } from '../quality/unlabelled.tsx'
import { Shown, useResource } from '../resource.tsx'
import { Top } from '../shell.tsx'

/** How good the alarms are: on this account's runs, on errands that no training saw, and in tokens. */
export default function QualityView() {
  const read = useResource(() => api.quality())
  useLiveReading(read.read, ['run'], seldomMs)
  const nextAsked = useSignal(0)
  const askNext = () => {
    nextAsked.value += 1
  }
  useKeys({ l: askNext })
  return (
    <>
      <Top title={<h1>Quality</h1>} live>
        <a class="button quiet" href="/v1/drift/labels" download="plumbline-labels.jsonl">
          Export labels
        </a>
        <button type="button" class="button" aria-keyshortcuts="L" onClick={askNext}>
          Label the next alarm <kbd>L</kbd>
        </button>
      </Top>
      <Shown of={read} thing="quality">
        {(quality) => (
          <div class="quality-page">
            <div>
              <OwnLabels quality={quality} />
              <Experiment />
              <Unlabelled
                missing={quality.alarms - quality.labelled}
                nextAsked={nextAsked.value}
                onLabelled={read.read}
              />
              <section class="quality-part" aria-label="Budget of alarms">
                <div class="part-head">
                  <h3>How many alarms</h3>
                </div>
                <BudgetControl />
              </section>
            </div>
            <div>
              <Published of={quality.published} />
              <Reliability bins={quality.reliability} />
            </div>
          </div>
        )}
      </Shown>
    </>
  )
}
