import '../controls.css'
import '../escalations/escalations.css'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Escalation } from '../../../src/surfaces/client/client.ts'
import { api } from '../api.ts'
import { Tabs } from '../controls.tsx'
import { Decide, Decided, readOne } from '../escalations/decide.tsx'
import { LastSteps } from '../escalations/last-steps.tsx'
import { readTail } from '../escalations/run-tail.ts'
import { askedStep, sentenceOf } from '../escalations/sentence.tsx'
import { Icon } from '../icons.tsx'
import { useKeys } from '../keys.ts'
import { listen } from '../live.ts'
import { useLiveReading } from '../live-reading.ts'
import { Failed, Shown, Skeleton, useResource } from '../resource.tsx'
import { go, path, query } from '../router.ts'
import { isLive } from '../run/is-live.ts'
import { readWaiting, Top } from '../shell.tsx'
import { ago, agoInWords, now } from '../time.ts'
import { words } from '../words.ts'

const pageSize = 100
const shownSteps = 8

interface Queue {
  waiting: readonly Escalation[]
  decided: readonly Escalation[]
  hasMore: { waiting: boolean; decided: boolean }
  /** The errands of the runs, by run id, as far as they are stored. */
  errands: ReadonlyMap<string, string>
}

/** The escalation that this page decided last. */
const mine = signal<string | null>(null)

const wide = signal(screenWidth())
addEventListener('resize', () => {
  wide.value = screenWidth()
})

function screenWidth(): 'phone' | 'narrow' | 'wide' {
  if (matchMedia('(width < 900px)').matches) return 'phone'
  return matchMedia('(width < 1180px)').matches ? 'narrow' : 'wide'
}

async function readQueue(): Promise<Queue> {
  const [waiting, decided, runs, recent] = await Promise.all([
    api.readEscalations({ status: 'pending', limit: pageSize }),
    api.readEscalations({ status: 'decided', limit: pageSize }),
    api.listRuns({ state: 'waiting', limit: pageSize }),
    api.listRuns({ limit: pageSize }),
  ])
  if (!('escalations' in waiting) || !('escalations' in decided)) {
    throw new Error('The server answered with one escalation.')
  }
  return {
    waiting: waiting.escalations,
    decided: decided.escalations,
    hasMore: { waiting: waiting.next_cursor !== null, decided: decided.next_cursor !== null },
    errands: new Map(
      [...recent.runs, ...runs.runs].flatMap(({ run_id, ground }) =>
        ground === null ? [] : [[run_id, ground] as const],
      ),
    ),
  }
}

/** The questions that wait for a person, and the one that is being decided. */
export default function Escalations() {
  const queue = useResource(readQueue)
  useLiveReading(queue.read, ['escalation'])
  const isDecided = query.value.get('show') === 'decided'
  const shown = queue.value.value
  const [, , , inAddress] = path.value.split('/')
  const list = (isDecided ? shown?.decided : shown?.waiting) ?? []
  const isPhone = wide.value === 'phone'
  const selected = inAddress ?? (isPhone ? undefined : list[0]?.esc_id)
  function move(by: number) {
    const at = list.findIndex(({ esc_id }) => esc_id === selected)
    const next = list[at < 0 ? 0 : Math.min(list.length - 1, Math.max(0, at + by))]
    if (next === undefined) return
    go(hrefOf(next, isDecided), { replace: true })
    document.querySelector(`[data-esc="${next.esc_id}"]`)?.scrollIntoView({ block: 'nearest' })
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
  return (
    <>
      <Top title={<h1>Escalations</h1>} live>
        <Tabs
          label="Escalations"
          here={isDecided ? '/app/escalations?show=decided' : '/app/escalations'}
          tabs={[
            { name: 'Waiting', href: '/app/escalations', count: shown?.waiting.length ?? null },
            {
              name: 'Decided',
              href: '/app/escalations?show=decided',
              count: shown?.decided.length ?? null,
            },
          ]}
        />
      </Top>
      <Shown of={queue} thing="escalations">
        {({ errands, hasMore }) =>
          list.length === 0 && inAddress === undefined ? (
            <Nobody isDecided={isDecided} />
          ) : (
            <div class="split" data-shows={inAddress === undefined ? 'queue' : 'one'}>
              <nav class="queue" aria-label={isDecided ? 'Decided' : 'Waiting'}>
                <ul>
                  {list.map((each) => (
                    <Item
                      key={each.esc_id}
                      escalation={each}
                      errand={errands.get(each.run_id)}
                      isSelected={each.esc_id === selected}
                      isDecided={isDecided}
                    />
                  ))}
                </ul>
                <p class="queue-foot">
                  {list.length === 0
                    ? words.nobody
                    : isDecided
                      ? 'A decision is final.'
                      : 'While one waits, irreversible acts of its run are refused.'}
                  {hasMore[isDecided ? 'decided' : 'waiting']
                    ? ` The newest ${pageSize} are shown.`
                    : ''}
                </p>
              </nav>
              {selected === undefined ? null : (
                <One key={selected} id={selected} isDecided={isDecided} onChanged={queue.read} />
              )}
            </div>
          )
        }
      </Shown>
    </>
  )
}

function hrefOf({ esc_id }: Escalation, isDecided: boolean): string {
  return `/app/escalations/${esc_id}${isDecided ? '?show=decided' : ''}`
}

function Nobody({ isDecided }: { isDecided: boolean }) {
  return (
    <div class="notice">
      <h2>{isDecided ? 'Nothing was decided yet.' : words.nobody}</h2>
      <p>
        When an agent asks a person about its errand, the question stands here, and the agent waits
        for the answer.
      </p>
      <p class="actions">
        <a class="button" href="/docs/escalations#ask">
          How an agent asks
        </a>
      </p>
    </div>
  )
}

function Item({
  escalation,
  errand,
  isSelected,
  isDecided,
}: {
  escalation: Escalation
  errand: string | undefined
  isSelected: boolean
  isDecided: boolean
}) {
  const { created, decided_at, decision, detail, advice, reason, run_id, esc_id } = escalation
  const at = decided_at ?? created
  return (
    <li>
      <a
        class="queue-item"
        data-esc={esc_id}
        href={hrefOf(escalation, isDecided)}
        aria-current={isSelected ? 'true' : undefined}
      >
        <span class="queue-head">
          <b class="clamped">
            <bdi>{errand ?? run_id}</bdi>
          </b>
          <time dateTime={at}>{ago(at)}</time>
        </span>
        <p class="clamped">
          {decision === undefined ? null : `${decision}: `}
          <bdi>{detail ?? advice ?? reason}</bdi>
        </p>
      </a>
    </li>
  )
}

function One({
  id,
  isDecided,
  onChanged,
}: {
  id: string
  isDecided: boolean
  onChanged: () => Promise<void>
}) {
  const one = useResource(async () => {
    const escalation = await readOne(id)
    return { escalation, tail: await readTail(escalation.run_id) }
  })
  useEffect(() => {
    return listen((events) => {
      const runId = one.value.value?.escalation.run_id
      const isAbout = events.some(
        ({ event, data }) =>
          event === 'escalation' || event === 'gap' || (event === 'step' && data.run_id === runId),
      )
      if (isAbout) void one.read()
    })
  }, [])
  const { value, fault } = one
  if (value.value === null) {
    return (
      <div class="decide">
        {fault.value === null ? (
          <Skeleton />
        ) : fault.value.status === 404 ? (
          <div class="notice">
            <h2>There is no such escalation.</h2>
            <p>It was deleted, or it belongs to another account.</p>
          </div>
        ) : (
          <Failed fault={fault.value} thing="escalation" onRetry={one.read} />
        )}
      </div>
    )
  }
  const { escalation, tail } = value.value
  const { first, rest } = sentenceOf(escalation, tail)
  return (
    <section class="decide" aria-label="The question">
      <a
        class="back-to-queue"
        href={isDecided ? '/app/escalations?show=decided' : '/app/escalations'}
      >
        <Icon name="back" /> All escalations
      </a>
      <div class="decide-top">
        <span>
          <code>
            <bdi>{escalation.run_id}</bdi>
          </code>{' '}
          asked {agoInWords(escalation.created)}, reason{' '}
          <span class="chip">
            <bdi>{escalation.reason}</bdi>
          </span>
        </span>
        {tail === null ? null : (
          <a href={`/app/runs/${encodeURIComponent(escalation.run_id)}`}>Open the run</a>
        )}
      </div>
      <h2>{first}</h2>
      <p class="lead">
        <bdi>{rest}</bdi>
      </p>
      {tail === null || tail.steps.length === 0 ? null : (
        <LastSteps
          ground={tail.run.ground}
          steps={tail.steps.slice(-shownSteps)}
          asked={askedStep(tail, escalation)?.step ?? null}
          isLive={isLive(tail.run, now.value)}
          isPhone={wide.value === 'phone'}
          isNarrow={wide.value === 'narrow'}
        />
      )}
      {escalation.status === 'decided' ? (
        <Decided escalation={escalation} isMine={mine.value === id} />
      ) : (
        <Decide
          escalation={escalation}
          onDecided={(decided, isMine) => {
            if (isMine) mine.value = id
            go(hrefOf(decided, isDecided), { replace: true })
            value.value = { escalation: decided, tail }
            void onChanged()
            void readWaiting()
          }}
        />
      )}
    </section>
  )
}
