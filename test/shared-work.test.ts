import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareWork } from '../src/surfaces/http/shared-work.ts'
import { verifies } from './verifies.ts'

test('work that is shared begins once for all who ask before, and never answers from before', async () => {
  verifies('process.shared-work')
  let begun = 0
  let isAway = false
  const ended: (() => void)[] = []
  const ask = shareWork(async () => {
    begun += 1
    const mine = begun
    await new Promise<void>((resolve) => ended.push(resolve))
    if (isAway) throw new Error('away')
    return mine
  }, 1)
  const endOne = async () => {
    while (ended.length === 0) await new Promise((next) => setTimeout(next, 1))
    ended.pop()?.()
  }

  const first = Array.from({ length: 100 }, ask)
  await endOne()
  assert.deepEqual(new Set(await Promise.all(first)), new Set([1]))

  const second = ask()
  while (begun < 2) await new Promise((next) => setTimeout(next, 1))
  const third = [ask(), ask()]
  await endOne()
  assert.equal(await second, 2)
  await endOne()
  assert.deepEqual(await Promise.all(third), [3, 3], 'who asked meanwhile gets the next one')

  isAway = true
  const failing = [ask(), ask()]
  await endOne()
  for (const { status } of await Promise.allSettled(failing)) assert.equal(status, 'rejected')
  isAway = false
  const mended = ask()
  await endOne()
  assert.equal(await mended, 5, 'a failure is not remembered')
})
