import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { HostEvent, ReadHost } from '../../../src/core/hosts/host-event.ts'

/** The facts without their places; an act's hash of its arguments is checked for its form only. */
export function factsOf(events: readonly HostEvent[]): Record<string, unknown>[] {
  return events.map(({ at: _, runId: __, agentId: ___, eventId: ____, ...fact }) => {
    if (fact.kind !== 'act') return fact
    const { argsHash, ...act } = fact
    assert.match(argsHash, /^[\da-f]{16}$/)
    return act
  })
}

/** The places of the facts. */
export function placesOf(events: readonly HostEvent[]): Record<string, unknown>[] {
  return events.map(({ at, runId, agentId, eventId }) => ({ at, runId, agentId, eventId }))
}

/** Any value and any change of the events is read without an error, twice alike. */
export function assertTotal(read: ReadHost, names: readonly string[], events: readonly object[]) {
  const value = fc.oneof(fc.jsonValue(), fc.anything())
  const bent = fc.tuple(fc.constantFrom(...events), fc.gen()).map(([event, gen]) =>
    bend(
      event,
      () => gen(fc.nat, { max: 9 }) === 0,
      () => gen(fc.jsonValue),
    ),
  )
  const name = fc.oneof(fc.constantFrom(...names), fc.string(), fc.constant(undefined))
  fc.assert(
    fc.property(fc.oneof(value, bent), name, (event, called) => {
      const events = read(event, called)
      assert.deepEqual(read(event, called), events)
      for (const { runId, eventId } of events) {
        assert.match(runId, /^[a-z-]+:[\s\S]+$/)
        assert.notEqual(eventId, '')
      }
    }),
    { numRuns: 400 },
  )
}

/** The value with some of its parts exchanged. */
function bend(value: unknown, isBent: () => boolean, other: () => unknown): unknown {
  if (isBent()) return other()
  if (Array.isArray(value)) return value.map((each) => bend(each, isBent, other))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, bend(each, isBent, other)]),
  )
}
