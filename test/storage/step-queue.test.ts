import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readEntry } from '../../src/core/runs/entry.ts'
import { type DriftRequest, readDrift } from '../../src/core/runs/step-request.ts'
import { isUnavailable } from '../../src/storage/database/database.ts'
import { createStepQueue, type QueuedRequest } from '../../src/storage/runs/step-queue.ts'
import { verifies } from '../verifies.ts'

interface Request extends QueuedRequest {
  number: number
  runs: readonly string[]
  refused: unknown[]
}

const later = () => performance.now() + 60_000

function request(number: number, runs: readonly string[], key: string | null, until = later()) {
  const refused: unknown[] = []
  const entries = runs.map((run_id) =>
    readEntry({
      account: 'acct_a',
      request: readDrift({ run_id, goal: 'fix the login form' }) as DriftRequest,
      detector: 'overlap',
      now: 1_000,
      retentionDays: 1,
    }),
  )
  const made: Request = {
    number,
    runs,
    entries,
    key,
    until,
    refused,
    reject: (error) => void refused.push(error),
  }
  return made
}

const run = fc.constantFrom('a', 'b', 'c', 'd')
const change = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      runs: fc.oneof(
        fc.array(run, { minLength: 1, maxLength: 3 }),
        // Too large to share a batch with many others.
        run.map((one) => Array.from({ length: 300 }, () => one)),
      ),
      key: fc.constantFrom(null, null, 'once', 'twice'),
    }),
  },
  fc.record({ kind: fc.constant('take' as const) }),
  fc.record({ kind: fc.constant('end' as const), which: fc.nat() }),
)

test('requests of a run leave in their order, one batch at a time, and none is forgotten', () => {
  verifies('drift.order')
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const queue = createStepQueue<Request>()
      const waiting = new Map<number, Request>()
      const flying: Request[][] = []
      const take = () => {
        const hasNext = queue.hasNext()
        const batch = queue.take()
        assert.equal(batch.length > 0, hasNext)
        const busy = new Set(flying.flat().flatMap(({ runs, key }) => [...runs, `key ${key}`]))
        const size = batch.reduce((sum, { entries }) => sum + entries.length, 0)
        assert.ok(size <= 512 || batch.length === 1)
        for (const { number, runs, key } of batch) {
          for (const each of runs) assert.ok(!busy.has(each), `run ${each} is in flight`)
          assert.ok(key === null || !busy.has(`key ${key}`), 'the key is in flight')
          waiting.delete(number)
          const overtaken = [...waiting.values()].filter((other) => other.number < number)
          for (const other of overtaken) {
            assert.ok(!other.runs.some((each) => runs.includes(each)), 'a request was overtaken')
          }
        }
        const keys = batch.flatMap(({ key }) => key ?? [])
        assert.equal(new Set(keys).size, keys.length)
        if (batch.length > 0) flying.push(batch)
      }
      for (const [number, made] of changes.entries()) {
        if (made.kind === 'add') {
          const added = request(number, made.runs, made.key)
          queue.add(added)
          waiting.set(number, added)
        } else if (made.kind === 'take') {
          take()
        } else if (flying.length > 0) {
          queue.end(flying.splice(made.which % flying.length, 1)[0] ?? [])
        }
        const steps = [...waiting.values()].reduce((sum, { entries }) => sum + entries.length, 0)
        assert.equal(queue.waitingSteps(), steps)
      }
      while (waiting.size > 0 || flying.length > 0) {
        const before = waiting.size + flying.length
        for (const batch of flying.splice(0)) queue.end(batch)
        take()
        assert.ok(waiting.size + flying.length < before || flying.length > 0)
      }
    }),
  )
})

test('a request whose time is up is refused, and the time of the next one counts', () => {
  verifies('unavailable.bounded')
  const queue = createStepQueue<Request>()
  const late = request(1, ['a'], null, performance.now() - 1)
  const next = request(2, ['b'], null, performance.now() + 5_000)
  queue.add(late)
  queue.add(next)
  queue.refuseLate()
  assert.equal(late.refused.length, 1)
  assert.ok(isUnavailable(late.refused[0]))
  assert.ok(queue.timeLeft() > 4_000 && queue.timeLeft() <= 5_000)
  assert.equal(queue.waitingSteps(), 1)
  assert.deepEqual(queue.take(), [next])
})

test('there is room for 20,000 steps', () => {
  const queue = createStepQueue<Request>()
  assert.ok(queue.hasRoom(20_000))
  queue.add(
    request(
      1,
      Array.from({ length: 500 }, () => 'a'),
      null,
    ),
  )
  assert.ok(queue.hasRoom(19_500))
  assert.ok(!queue.hasRoom(19_501))
})
