import { useEffect, useMemo } from 'preact/hooks'
import type { StoredStep } from '../../../src/surfaces/client/client.ts'
import { api } from '../api.ts'
import { listen } from '../live.ts'
import { createResource } from '../resource.tsx'

type Delivery = Awaited<ReturnType<typeof api.deliveries>>['deliveries'][number]

const newest = 200

/**
 * What was told of a step: how loud, and whether it arrived. Null while that is not known, and where nothing was sent.
 * What was sent is read when the first drifting step is looked at.
 */
export function useTold(runId: string, { drifting, reason, ts }: StoredStep): string | null {
  const sent = useMemo(
    () => createResource(async () => (await api.deliveries({ limit: newest })).deliveries),
    [runId],
  )
  useEffect(() => {
    if (drifting && sent.value.value === null) void sent.read()
  }, [sent, drifting])
  useEffect(
    () =>
      listen((events) => {
        const isAbout = ({ event, data }: (typeof events)[number]) =>
          event === 'delivery' && data.run_id === runId
        if (sent.value.value !== null && events.some(isAbout)) void sent.read()
      }),
    [sent],
  )
  const told = sent.value.value?.find(
    (each) => each.run_id === runId && each.reason === reason && each.ts === ts,
  )
  return told === undefined ? null : saysOf(told)
}

function saysOf({ severity, state, attempts }: Delivery): string {
  const last = attempts.at(-1)
  if (state === 'delivered' && last !== undefined) {
    return `${severity}, delivered in ${last.latency_ms} ms (${last.status})`
  }
  return state === 'waiting' ? `${severity}, waits to be sent` : `${severity}, did not arrive`
}
