import { type Signal, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { type Fault, faultOf } from './api.ts'

/** What a view reads from the service: nothing yet, the answer, or why there is none. */
export interface Resource<T> {
  readonly value: Signal<T | null>
  readonly fault: Signal<Fault | null>
  /** Reads it again, and keeps what is shown meanwhile. */
  readonly read: () => Promise<void>
}

/** Creates a resource. The newest reading wins. */
export function createResource<T>(fetcher: () => Promise<T>): Resource<T> {
  const value = signal<T | null>(null)
  const fault = signal<Fault | null>(null)
  let newest = 0
  return {
    value,
    fault,
    async read() {
      const reading = ++newest
      try {
        const answer = await fetcher()
        if (reading !== newest) return
        value.value = answer
        fault.value = null
      } catch (error) {
        if (reading === newest) fault.value = faultOf(error)
      }
    },
  }
}

/** Reads a resource when the view appears and whenever `keys` change. */
export function useResource<T>(
  fetcher: () => Promise<T>,
  keys: readonly unknown[] = [],
): Resource<T> {
  // The fetcher of the newest rendering counts.
  const newest = useRef(fetcher)
  newest.current = fetcher
  const resource = useMemo(() => createResource(() => newest.current()), [])
  useEffect(() => {
    void resource.read()
  }, keys)
  return resource
}

/** Shows a resource: a skeleton after 200 ms, the answer, or what went wrong and what to do. */
export function Shown<T>({
  of: { value, fault, read },
  thing,
  children,
}: {
  of: Resource<T>
  /** `runs`, as in “The runs could not be read.” */
  thing: string
  children: (answer: T) => ComponentChildren
}) {
  if (value.value !== null) {
    return (
      <>
        {fault.value === null ? null : <Failed fault={fault.value} thing={thing} onRetry={read} />}
        {children(value.value)}
      </>
    )
  }
  return fault.value === null ? (
    <Skeleton />
  ) : (
    <Failed fault={fault.value} thing={thing} onRetry={read} />
  )
}

/** Grey lines where text will be. */
export function Skeleton() {
  return (
    <div class="skeleton" role="status">
      <span class="visually-hidden">Loading</span>
      <i />
      <i />
      <i />
      <i />
    </div>
  )
}

/** What went wrong, what is safe, what to do, and the id of the request. */
export function Failed({
  fault,
  thing,
  onRetry,
}: {
  fault: Fault
  thing: string
  onRetry: () => void
}) {
  const isTier = fault.status === 402
  return (
    <div class="notice" role="alert">
      <h2>{isTier ? `${fault.says}` : `The ${thing} could not be read.`}</h2>
      {isTier ? null : <p>{fault.says} Nothing is lost; steps are still stored.</p>}
      <p class="actions">
        {isTier ? (
          <a class="button" href="/app/settings#tier">
            See the tiers
          </a>
        ) : (
          <button type="button" class="button" onClick={onRetry}>
            Try again
          </button>
        )}
        {fault.requestId === null ? null : <code class="quiet-text">{fault.requestId}</code>}
      </p>
    </div>
  )
}
