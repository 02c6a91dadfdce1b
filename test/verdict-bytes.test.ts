import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { detect } from '../src/core/detector/detect.ts'
import { newMemory } from '../src/core/detector/memory.ts'
import { check } from '../src/operations/steps/check.ts'
import { logDrift, logDriftBatch } from '../src/operations/steps/drift.ts'

/** Any text, half surrogate pairs too, and what a writer that puts texts together could trip over. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"svcscore":null', ',"svcscore":null,', '⟨null⟩', 'größer', '\\', '数据'),
)

/** The texts of bytes that are one character each. */
function read(bytes: string | undefined): string {
  return Buffer.from(bytes ?? '', 'latin1').toString()
}

test('verdicts are written as JSON.stringify writes them', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 5 }), (said) => {
      let memory = newMemory('meaning')
      const steps = said.map(([goal, progress], place) => {
        const told = place % 2 === 0 ? 'advancing' : progress
        const detected = detect(memory, { goal, progress: told, distance: 5 })
        memory = detected.memory
        return detected.verdict
      })
      const [first] = steps
      const verdict = steps.at(-1)!
      const checked = {
        ground: first!.goal,
        steps,
        verdict,
        stateless: true as const,
        retained: 'nothing' as const,
      }
      const results = steps.map((each, place) => ({
        ...each,
        run_id: said[place]![1],
        step: place,
        revision: 1,
      }))
      assert.equal(read(check.write?.(checked)), JSON.stringify(checked))
      assert.equal(read(logDrift.write?.(results[0]!)), JSON.stringify(results[0]))
      assert.equal(read(logDriftBatch.write?.({ results })), JSON.stringify({ results }))
    }),
  )
})
