import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createQueue } from '../src/encoder/queue.ts'
import { createRecent } from '../src/encoder/recent.ts'

const items = (...keys: string[]) => new Map(keys.map((key) => [key, key.toUpperCase()]))

test('a queue gives one item of each caller in turn', () => {
  const queue = createQueue<string>()
  queue.join(items('a', 'b', 'c', 'd'))
  queue.join(items('x', 'y'))
  assert.deepEqual(queue.take(3), items('a', 'x', 'b'))
  assert.deepEqual(queue.take(9), items('y', 'c', 'd'))
  assert.equal(queue.take(9).size, 0)
})

test('an item that two callers wait for is given once', () => {
  const queue = createQueue<string>()
  queue.join(items('a', 'b'))
  queue.join(items('b', 'a', 'c'))
  assert.ok(queue.has('b'))
  assert.deepEqual([...queue.take(9).keys()].sort(), ['a', 'b', 'c'])
  assert.ok(!queue.has('b'))
})

test('a caller that leaves takes its items away, and a cleared queue is empty', () => {
  const queue = createQueue<string>()
  const leave = queue.join(items('a', 'b'))
  queue.join(items('b', 'c'))
  queue.take(1)
  leave()
  assert.deepEqual(queue.take(9), items('b', 'c'))
  queue.join(items('a'))
  queue.clear()
  assert.equal(queue.take(9).size, 0)
})

test('the least recently used values are forgotten when all are too large', () => {
  const recent = createRecent<string>(5, (value) => value.length)
  recent.set('a', '11')
  recent.set('b', '22')
  assert.equal(recent.get('a'), '11')
  recent.set('c', '33')
  assert.equal(recent.get('b'), undefined)
  assert.equal(recent.get('a'), '11')
  recent.set('a', '1')
  recent.set('d', '44')
  assert.deepEqual(
    ['a', 'c', 'd'].map((key) => recent.get(key)),
    ['1', '33', '44'],
  )
})
