import { type Signal, signal } from '@preact/signals'
import type { StoredRun, StoredStep } from '../../../src/surfaces/client/client.ts'
import { api, type Fault, faultOf } from '../api.ts'
import { type LiveEvent, listen } from '../live.ts'

const pageSize = 500

/** A run that is read, and goes on being read while it is shown. */
export interface OpenRun {
  readonly run: Signal<StoredRun | null>
  readonly trace: Signal<readonly StoredStep[]>
  readonly fault: Signal<Fault | null>
  /** Reads the run and the steps that are not there yet. */
  read(): Promise<void>
  close(): void
}

/** Opens a run: reads all pages of its trace, and takes in each step that comes live. */
export function openRun(runId: string): OpenRun {
  const run = signal<StoredRun | null>(null)
  const trace = signal<readonly StoredStep[]>([])
  const fault = signal<Fault | null>(null)
  /** The cursor of the last page that was read, from which the tail is read again. */
  let lastPage: string | null = null
  let isClosed = false
  let reading: Promise<void> | null = null
  let again = false

  async function readAll(): Promise<void> {
    let cursor = lastPage
    for (;;) {
      const answer = await api.readRun({
        run_id: runId,
        limit: pageSize,
        ...(cursor === null ? {} : { cursor }),
      })
      // A page is parsed in one task and drawn in another, so that keys and scrolling come in between.
      await new Promise((resume) => setTimeout(resume))
      if (isClosed) return
      run.value = answer.run
      trace.value = joined(trace.value, answer.trace)
      fault.value = null
      if (answer.next_cursor === null) return
      cursor = answer.next_cursor
      lastPage = cursor
    }
  }

  /** One reading at a time; what changes meanwhile is read after it. */
  function read(): Promise<void> {
    if (reading !== null) {
      again = true
      return reading
    }
    reading = readAll()
      .catch((error) => {
        fault.value = faultOf(error)
      })
      .finally(() => {
        reading = null
        if (again && !isClosed) {
          again = false
          void read()
        }
      })
    return reading
  }

  function takeIn(events: readonly LiveEvent[]): void {
    let isStale = false
    const fresh: StoredStep[] = []
    for (const { event, data } of events) {
      if (event === 'gap') {
        isStale = true
        continue
      }
      if (data.run_id !== runId) continue
      if (event === 'step') {
        const { run_id: _, ...step } = data
        const last = fresh.at(-1)?.step ?? trace.value.at(-1)?.step ?? 0
        if (step.step === last + 1) fresh.push(step)
        else if (step.step > last) isStale = true
      }
      if (event !== 'run' || run.value === null) continue
      if ('deleted' in data || hasGrown(data, run.value)) isStale = true
      else run.value = { ...run.value, ...known(data, run.value) }
    }
    if (fresh.length > 0) trace.value = [...trace.value, ...fresh]
    if (isStale) void read()
  }

  const unlisten = listen(takeIn)
  void read()
  return {
    run,
    trace,
    fault,
    read,
    close() {
      isClosed = true
      unlisten()
    },
  }
}

/** Whether the run has a ground or a sub-agent that is not known; an event of the list holds only some of them. */
function hasGrown(data: Partial<StoredRun>, run: StoredRun): boolean {
  const agents = new Set(run.agents.map(({ agent_id }) => agent_id))
  const isNew = data.agents?.some(({ agent_id }) => !agents.has(agent_id)) === true
  return isNew || (data.revision ?? run.revision) !== run.revision
}

/** The fields of an event that a run has, but for the lists that an event holds in part. */
function known(data: Record<string, unknown>, run: StoredRun): Partial<StoredRun> {
  const parts = ['grounds', 'grounds_cursor', 'agents', 'agents_cursor']
  return Object.fromEntries(
    Object.entries(data).filter(([name]) => Object.hasOwn(run, name) && !parts.includes(name)),
  )
}

/** Steps that are known and a page of them, each once, in order. */
function joined(known: readonly StoredStep[], page: readonly StoredStep[]): readonly StoredStep[] {
  const [first] = page
  if (first === undefined) return known
  let end = known.length
  while (end > 0 && (known[end - 1]?.step ?? 0) >= first.step) end--
  const rest = known.slice(end).filter(({ step }) => step > (page.at(-1)?.step ?? 0))
  return [...known.slice(0, end), ...page, ...rest]
}
