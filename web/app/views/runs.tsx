import { signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { ListedRun } from '../../../src/surfaces/client/routes.ts'
import { api, type Fault, faultOf } from '../api.ts'
import { Icon } from '../icons.tsx'
import { useKeys } from '../keys.ts'
import { swapText } from '../line/difference.ts'
import { Sparkline, Wall } from '../line/spark.tsx'
import { listen } from '../live.ts'
import { News } from '../news.tsx'
import { Failed, Skeleton, useResource } from '../resource.tsx'
import { query, setQuery } from '../router.ts'
import { Ago, detector, Top } from '../shell.tsx'
import { saysOfSilence, useSilence } from '../silent.ts'
import { agoInWords, counted, inWords, short, whole } from '../time.ts'
import { isRecorded, Onboarding } from './onboarding.tsx'

type Answer = Awaited<ReturnType<typeof api.listRuns>>
type Counts = Answer['counts']

const pageSize = 50
const onWall = 40
const dayMs = 86_400_000

const tabs = [
  { name: 'All', state: null },
  { name: 'Drifting', state: 'drifting' },
  { name: 'Uncertain', state: 'uncertain' },
  { name: 'Waits for a person', state: 'waiting' },
  { name: 'Finished', state: 'finished' },
] as const

const spans = [
  { name: 'Last 24 hours', since: '1d', ms: dayMs },
  { name: 'Last 7 days', since: '7d', ms: 7 * dayMs },
  { name: 'Any time', since: '', ms: null },
] as const

const runs = signal<readonly ListedRun[]>([])
const counts = signal<Counts | null>(null)
const cursor = signal<string | null>(null)
const fault = signal<Fault | null>(null)
/** The highest count of a state that the service makes. */
const mostCounted = 1_000

/** A count of runs, `1,000+` where the service has counted no further. */
function countOfRuns(count: number): string {
  return count < mostCounted ? whole(count) : `${whole(mostCounted)}+`
}

/** The runs that began since the list was read, and are not in it. */
const unseen = signal<ReadonlySet<string>>(new Set())
/** The runs that needed a look when they were read. They keep their place until the list is read again. */
const looked = signal<ReadonlySet<string>>(new Set())
/** How many runs need a look since, and stand among the others. */
const turned = signal<ReadonlySet<string>>(new Set())
/** The runs that were silent when they were read; they keep their place likewise. */
const silent = signal<ReadonlySet<string>>(new Set())

/** The query that `runs` answers; null before the first answer. */
const answered = signal<string | null>(null)
/** When the list was asked for, by the clock of the server. */
let readAt = 0
let newest = 0
let areCountsAwaited = false
const countsPauseMs = 1_000

/** Reads the counts again when runs have changed their state, at most once a second. */
function readCountsSoon(): void {
  if (areCountsAwaited) return
  areCountsAwaited = true
  setTimeout(() => {
    areCountsAwaited = false
    api.listRuns({ limit: 1 }).then(
      (answer) => {
        counts.value = answer.counts
      },
      () => {},
    )
  }, countsPauseMs)
}

/** What the address asks for, as the service takes it. */
function filterInAddress(): Parameters<typeof api.listRuns>[0] {
  const state = query.value.get('state')
  const since = spans.find((each) => each.since === query.value.get('since'))?.ms ?? null
  const q = query.value.get('q')
  return {
    limit: pageSize,
    ...(q === null ? {} : { q }),
    ...(state === 'drifting' || state === 'uncertain' || state === 'waiting' ? { state } : {}),
    ...(state === 'finished' ? { finished: 'true' } : {}),
    ...(since === null ? {} : { since: new Date(Date.now() - since).toISOString() }),
  }
}

/**
 * Reads a page of the list: the first, or the one after what is shown. One call looks at a part of a long list, so the
 * next ones follow until a run is found or the list ends. The newest reading wins.
 */
async function readPage(from: string | null): Promise<void> {
  const reading = ++newest
  const asked = query.value.toString()
  const isOver = () => reading !== newest || asked !== query.value.toString()
  const filter = filterInAddress()
  try {
    let answer: Answer
    let next = from
    do {
      answer = await api.listRuns({ ...filter, ...(next === null ? {} : { cursor: next }) })
      if (isOver()) return
      next = answer.next_cursor
    } while (answer.runs.length === 0 && next !== null)
    const page = answer.runs
    runs.value = from === null ? page : [...runs.value, ...page]
    const found = page.filter(needsALook).map(({ run_id }) => run_id)
    looked.value = new Set(from === null ? found : [...looked.value, ...found])
    if (from === null) turned.value = new Set()
    const unheard = page.filter(({ silent }) => silent !== null).map(({ run_id }) => run_id)
    silent.value = new Set(from === null ? unheard : [...silent.value, ...unheard])
    counts.value = answer.counts
    cursor.value = answer.next_cursor
    detector.value = runs.value[0]?.detector ?? detector.value
    fault.value = null
    if (from === null) {
      unseen.value = new Set()
      readAt = Math.max(0, ...page.map(({ created }) => Date.parse(created)))
    }
    answered.value = asked
  } catch (error) {
    if (!isOver()) fault.value = faultOf(error)
  }
}

/** Reads a run again where it stands. */
async function readAgain({ run_id }: ListedRun): Promise<void> {
  try {
    const { run } = await api.readRun({ run_id, limit: 1 })
    const known = runs.value.find((each) => each.run_id === run_id)
    if (known !== undefined) takeIn({ ...known, ...run })
  } catch {
    // It is read again with the list.
  }
}

/** The list of runs: what needs a look first, then those on their errand, and those of which nothing is heard. */
export function Runs() {
  useSilence(runs.value, readAgain)
  const asked = query.value.toString()
  useEffect(() => {
    void readPage(null)
  }, [asked])
  useEffect(
    () =>
      listen((events) => {
        if (events.some(({ event }) => event === 'gap')) void readPage(null)
        for (const { event, data } of events) if (event === 'run') takeIn(data)
      }),
    [],
  )
  if (answered.value === null) {
    return (
      <>
        <Top title={<h1>Runs</h1>} />
        {fault.value === null ? (
          <Skeleton />
        ) : (
          <Failed fault={fault.value} thing="runs" onRetry={() => readPage(null)} />
        )}
      </>
    )
  }
  if (answered.value === '' && asked === '' && runs.value.length === 0) return <Onboarding />
  return (
    <>
      <Top title={<h1>Runs</h1>} live>
        <Search />
      </Top>
      <div class="list-page">
        <Sentence />
        <div class="wall-frame">
          <Wall runs={runs.value.slice(0, onWall)} />
          <p class="wall-says">
            <span>newest</span>
            <span class="wall-legend">
              each line is an errand, the thread beside it what the agent did, downwards in time
            </span>
            <span>older</span>
          </p>
        </div>
        <Filters />
        {fault.value === null ? null : (
          <Failed fault={fault.value} thing="runs" onRetry={() => readPage(null)} />
        )}
        {runs.value.length === 0 ? <NothingFound /> : <List />}
      </div>
    </>
  )
}

/** Changes a run that is shown where it stands; counts one that is not, so that nothing moves under the pointer. */
function takeIn(data: ListedRun | { run_id: string; deleted: true }): void {
  const at = runs.value.findIndex(({ run_id }) => run_id === data.run_id)
  if ('deleted' in data) {
    runs.value = runs.value.filter(({ run_id }) => run_id !== data.run_id)
    return
  }
  const known = runs.value[at]
  if (known === undefined) {
    if (Date.parse(data.created) > readAt) unseen.value = new Set([...unseen.value, data.run_id])
    return
  }
  if (known.state !== data.state || known.outcome !== data.outcome) readCountsSoon()
  const next = { ...known, ...data }
  runs.value = runs.value.with(at, next)
  if (looked.value.has(next.run_id) || turned.value.has(next.run_id) === needsALook(next)) return
  const others = [...turned.value].filter((id) => id !== next.run_id)
  turned.value = new Set(needsALook(next) ? [...others, next.run_id] : others)
}

/** What the list would show if it were read again. */
function newsOf(fresh: number, turnedRuns: number): string {
  const news = [
    fresh === 0 ? null : counted(fresh, 'new run'),
    turnedRuns === 0
      ? null
      : `${whole(turnedRuns)} more ${turnedRuns === 1 ? 'needs' : 'need'} a look`,
  ]
  return news.filter((each) => each !== null).join(', ')
}

function Sentence() {
  const { drifting, uncertain, waiting, calm } = counts.value ?? {
    drifting: 0,
    uncertain: 0,
    waiting: 0,
    calm: 0,
  }
  const total = drifting + uncertain + waiting + calm
  const first =
    drifting === 0
      ? 'No run is drifting.'
      : `${inWords(drifting)} ${drifting === 1 ? 'run is' : 'runs are'} drifting.`
  const more = drifting === 0 ? '' : 'more '
  const second =
    waiting === 0 ? '' : ` ${inWords(waiting)} ${more}${waiting === 1 ? 'needs' : 'need'} a look.`
  const others = calm + uncertain
  const who = drifting + waiting === 0 ? 'all' : `the other ${countOfRuns(others)}`
  const silent = runs.value.some((run) => !needsALook(run) && run.silent !== null)
  const unsure = uncertain === 0 ? '' : `, ${whole(uncertain)} of them uncertain`
  return (
    <div class="sentence">
      <h2>
        {first}
        {second}
      </h2>
      <News state={counts.value === null ? null : first + second} says={first + second} />
      <p>
        {countOfRuns(total)} {total === 1 ? 'run' : 'runs'} kept; {who}{' '}
        {others === 1 && who !== 'all' ? 'is' : 'are'} on their errand
        {silent ? ', finished or silent' : ' or finished'}
        {unsure}.
        {runs.value.length > 0 && runs.value.every(isRecorded) ? (
          <>
            {' '}
            A recorded run stands here until an agent reports.{' '}
            <a href="/docs/connect">Connect one</a>
          </>
        ) : null}
      </p>
    </div>
  )
}

function Search() {
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const q = query.value.get('q') ?? ''
  // The address holds the text without the blanks at its ends, which the person may still be typing.
  const typed = useSignal(q)
  useEffect(() => {
    if (typed.value.trim() !== q) typed.value = q
  }, [q])
  useKeys({ '/': () => field.current?.focus() })
  return (
    <label class="search">
      <Icon name="search" />
      <span class="visually-hidden">Search goals</span>
      <input
        ref={field}
        class="input"
        type="search"
        placeholder="Search goals"
        maxLength={200}
        value={typed.value}
        onInput={({ currentTarget: { value } }) => {
          typed.value = value
          clearTimeout(timer.current)
          timer.current = setTimeout(() => setQuery({ q: value.trim() || null }), 250)
        }}
      />
      <kbd>/</kbd>
    </label>
  )
}

function Filters() {
  const state = query.value.get('state')
  const since = query.value.get('since') ?? ''
  const shown = counts.value
  const countOf = (of: (typeof tabs)[number]['state']): number | null => {
    if (shown === null) return null
    if (of === null) return shown.drifting + shown.uncertain + shown.waiting + shown.calm
    return shown[of]
  }
  return (
    <div class="filters">
      <ul class="tabs" aria-label="State">
        {tabs.map((tab) => (
          <li key={tab.name}>
            <button
              type="button"
              class="tab"
              aria-pressed={state === tab.state}
              onClick={() => setQuery({ state: tab.state }, { replace: false })}
            >
              {tab.name}{' '}
              {countOf(tab.state) === null ? null : (
                <span>{countOfRuns(countOf(tab.state) ?? 0)}</span>
              )}
            </button>
          </li>
        ))}
      </ul>
      {unseen.value.size + turned.value.size === 0 ? null : (
        <button type="button" class="button quiet new-runs" onClick={() => readPage(null)}>
          {newsOf(unseen.value.size, turned.value.size)}
        </button>
      )}
      <label>
        <span class="visually-hidden">Time</span>
        <select
          class="plain-select"
          value={since}
          onChange={({ currentTarget: { value } }) => setQuery({ since: value || null })}
        >
          {spans.map((each) => (
            <option key={each.name} value={each.since}>
              {each.name}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}

/** When the newest of the runs that drift took its last step; null if none does. */
async function readNewestDrift(): Promise<string | null> {
  const { runs } = await api.listRuns({ state: 'drifting', limit: 1 })
  return runs[0]?.updated ?? null
}

function NewestDrift() {
  const { value } = useResource(readNewestDrift).value
  return value === null ? null : <p>The newest drift was {agoInWords(value)}.</p>
}

function NothingFound() {
  const state = query.value.get('state')
  const what =
    state === null ? 'runs' : state === 'waiting' ? 'runs that wait for a person' : `${state} runs`
  const when = query.value.get('since') === '1d' ? ' in the last 24 hours' : ''
  return (
    <div class="notice">
      <h2>
        No {what}
        {query.value.get('q') === null ? (
          when
        ) : (
          <>
            {' '}
            with “<bdi>{query.value.get('q')}</bdi>”
          </>
        )}
        .
      </h2>
      {state === 'drifting' && query.value.get('q') === null && when !== '' ? (
        <NewestDrift />
      ) : null}
      <p class="actions">
        <button
          type="button"
          class="button quiet"
          onClick={() => setQuery({ q: null, state: null, since: null })}
        >
          Clear the filter
        </button>
      </p>
    </div>
  )
}

function needsALook(run: ListedRun): boolean {
  if (run.state === 'waiting') return true
  return run.outcome === null && (run.drifting || run.swap !== null)
}

/** Pixels of a row and of a heading, as the styles have them; the first heading stands closer to what is above it. */
const rowHeights = { wide: 44, phone: 104 }
const headingHeights = { first: 30, other: 44 }
const beyond = 12

/** The rows of the list, in their order: runs, and headings as texts. */
type ListRow = ListedRun | string

/** The height of rows that are not drawn, whose first is or is not the first of the list. */
function heightOf(rows: readonly ListRow[], rowHeight: number, isFirst: boolean): number {
  return rows.reduce((sum, row, at) => {
    if (typeof row !== 'string') return sum + rowHeight
    return sum + (isFirst && at === 0 ? headingHeights.first : headingHeights.other)
  }, 0)
}

/** The rows, in a window over the whole list: the browser holds only those near what is seen. */
function List() {
  const first = runs.value.filter(({ run_id }) => looked.value.has(run_id))
  const rest = runs.value.filter(({ run_id }) => !looked.value.has(run_id))
  const others = rest.filter(({ run_id }) => !silent.value.has(run_id))
  const unheard = rest.filter(({ run_id }) => silent.value.has(run_id))
  const rows: ListRow[] = [
    ...(first.length === 0 ? [] : ['Needs a look', ...first]),
    ...(others.length === 0 ? [] : ['On their errand', ...others]),
    ...(unheard.length === 0 ? [] : ['Silent', ...unheard]),
  ]
  const frame = useRef<HTMLDivElement>(null)
  const seen = useSignal({ from: 0, to: 60, rowHeight: rowHeights.wide })
  useLayoutEffect(() => {
    const scroller = document.querySelector('#page')
    const look = () => {
      const top = frame.current?.getBoundingClientRect().top ?? 0
      const isPhone = matchMedia('(width < 900px)').matches
      const rowHeight = isPhone ? rowHeights.phone : rowHeights.wide
      const from = Math.max(0, Math.floor(-top / rowHeight) - beyond)
      const to = from + Math.ceil(innerHeight / rowHeight) + 2 * beyond
      const known = seen.value
      if (from !== known.from || to !== known.to || rowHeight !== known.rowHeight) {
        seen.value = { from, to, rowHeight }
      }
      if (cursor.value !== null && to >= rows.length - 5) void readMore()
    }
    look()
    scroller?.addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    return () => {
      scroller?.removeEventListener('scroll', look)
      removeEventListener('resize', look)
    }
  }, [rows.length])
  const { from, to, rowHeight } = seen.value
  return (
    <div class="run-table" ref={frame}>
      <div class="run-head" aria-hidden="true">
        <span>Errand</span>
        <span>Distance over steps</span>
        <span>Now</span>
        <span class="number">Steps</span>
        <span class="number">Furthest</span>
        <span class="number">Tokens</span>
        <span class="number">Updated</span>
      </div>
      <Pad height={heightOf(rows.slice(0, from), rowHeight, true)} />
      {rows.slice(from, to).map((row) =>
        typeof row === 'string' ? (
          <h3 key={row} class="run-group">
            {row}
          </h3>
        ) : (
          <Row key={row.run_id} run={row} />
        ),
      )}
      <Pad height={heightOf(rows.slice(to), rowHeight, false)} />
      {cursor.value === null ? null : (
        <p class="hint">
          {whole(runs.value.length)} runs are shown, older ones follow.
          <button type="button" class="link" onClick={readMore}>
            Show more
          </button>
        </p>
      )}
    </div>
  )
}

let isReadingMore = false

async function readMore(): Promise<void> {
  if (isReadingMore || cursor.value === null) return
  isReadingMore = true
  await readPage(cursor.value)
  isReadingMore = false
}

function Pad({ height }: { height: number }) {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (element.current !== null) element.current.style.height = `${height}px`
  }, [height])
  return <div ref={element} aria-hidden="true" />
}

function Row({ run }: { run: ListedRun }) {
  const subAgents = run.agents.length
  return (
    <a class="run-row" href={`/app/runs/${encodeURIComponent(run.run_id)}`}>
      <span class="run-errand">
        <b dir="auto">{run.ground ?? 'No errand yet'}</b>
        <small>
          <code>
            <bdi>{run.run_id}</bdi>
          </code>
          {run.state === 'waiting' ? <span class="warn-text"> waits for a person</span> : null}
          {subAgents === 0 ? null : ` ${counted(subAgents, 'sub-agent')}`}
        </small>
      </span>
      <span class="run-spark">
        <Sparkline spark={run.spark} swap={run.swap} />
      </span>
      <span class="run-now">
        <Now run={run} />
      </span>
      <span class="number">{whole(run.steps)}</span>
      <span class={run.drifting_steps > 0 ? 'number drift-text' : 'number'}>
        {run.max_phi.toFixed(2)}
      </span>
      <span class="number">{run.tokens === 0 ? '–' : short(run.tokens)}</span>
      <span class="number quiet-text run-updated">
        <Ago at={run.updated} />
      </span>
    </a>
  )
}

function Now({ run }: { run: ListedRun }) {
  if (run.outcome !== null) return <>finished: {run.outcome}</>
  if (run.drifting) {
    const streak =
      run.spark.length - 1 - run.spark.findLastIndex(([, state]) => state !== 'drifting')
    const known = run.steps <= run.spark.length && streak > 0
    return (
      <>
        <b class="drift-text">drifting</b>
        {known ? ` for ${counted(streak, 'step')}` : ''}
      </>
    )
  }
  if (run.swap !== null) {
    return (
      <span class="chip warn">
        <bdi>{swapText(run.swap)}</bdi>
      </span>
    )
  }
  const silence = saysOfSilence(run)
  if (silence !== null) return <>{silence}</>
  return run.uncertain === true ? <>uncertain</> : <>on the errand</>
}
