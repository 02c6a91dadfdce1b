import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  describeChange,
  describeSignal,
  hear,
  newField,
  readUtterance,
  restAt,
  seasons,
  signalAt,
  vocabulary,
  wordsRequired,
} from '../../src/core/field.ts'
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts'
import { verifies } from '../verifies.ts'

const noon = Date.UTC(2026, 0, 15, 12)
const words = Object.values(vocabulary).flat()
const utterances = fc.array(fc.constantFrom(...words), { minLength: 8, maxLength: 8 })
const pauses = fc.integer({ min: -hourMs, max: 2 * dayMs })
const stream = fc.array(fc.tuple(utterances, pauses, fc.constantFrom('a', 'b', 'c')), {
  maxLength: 20,
})

/** The field after a stream of words; looks at it on the way as often as `looks` says. */
function spoken(
  said: readonly (readonly [string[], number, string])[],
  seed: string,
  looks = 0,
): { field: ReturnType<typeof newField>; now: number } {
  let now = noon
  let field = newField(now, seed)
  for (const [words, pause, speaker] of said) {
    now += pause
    for (let look = 1; look <= looks; look++) signalAt(field, now - look, seed)
    field = hear(field, words, speaker, now, seed)
  }
  return { field, now }
}

test('the vocabulary is the published one', () => {
  verifies('field.vocabulary')
  const { field } = JSON.parse(
    readFileSync(new URL('../vectors/reference.json', import.meta.url), 'utf8'),
  )
  const published = Object.entries(field.vocabulary).map(([name, list]) => [
    name.split(' ')[1],
    list,
  ])
  assert.deepEqual(Object.entries(vocabulary), published)
  assert.equal(wordsRequired, field.words_required)
  assert.equal(words.length, 40)
  const shouted = words.slice(0, 8).map((word) => word.toUpperCase())
  assert.equal(field.case_insensitive, true)
  assert.deepEqual(readUtterance(shouted), words.slice(0, 8))
})

test('ranges hold under any stream of words', () => {
  verifies('field.ranges')
  fc.assert(
    fc.property(stream, fc.string(), pauses, (said, seed, later) => {
      const { field, now } = spoken(said, seed)
      const signal = signalAt(field, now + later, seed)
      for (const name of ['T', 'Q', 'R', 'V', 'S', 'hub_signal'] as const) {
        assert.ok(signal[name] >= 0 && signal[name] <= 1, `${name} ${signal[name]}`)
      }
      assert.ok(Math.abs(signal.rotation) <= 1)
      assert.match(signal.field_sig, /^[0-9a-f]{8}$/)
      assert.ok(JSON.stringify(field).length < 20_000)
    }),
  )
})

test('the same seed and words at the same times give the same weather, however often it is looked at', () => {
  verifies('field.deterministic')
  fc.assert(
    fc.property(stream, fc.string(), fc.nat(3), (said, seed, looks) => {
      const once = spoken(said, seed)
      const again = spoken(said, seed, looks)
      const later = once.now + hourMs
      assert.deepEqual(signalAt(again.field, later, seed), signalAt(once.field, later, seed))
    }),
  )
  const climate = (seed: string) => restAt(noon, seed)
  assert.notDeepEqual(climate('one'), climate('another'))
})

test('the field relaxes to its season', () => {
  fc.assert(
    fc.property(stream, fc.string(), (said, seed) => {
      const { field, now } = spoken(said, seed)
      const end = Math.max(field.at, now)
      const far = (at: number) => {
        const { T, V, S } = signalAt(field, at, seed)
        const rest = restAt(at, seed)
        return Math.max(Math.abs(T - rest.T), Math.abs(V - rest.V), Math.abs(S - rest.S))
      }
      assert.ok(far(end + 18 * hourMs) < 0.02)
      assert.ok(far(end + 25 * hourMs) < 0.0001)
      assert.equal(signalAt(field, end + 25 * hourMs, seed).rotation, 0)
    }),
  )
})

test('each group pushes its own quantities', () => {
  const field = newField(noon, 'seed')
  const before = signalAt(field, noon, 'seed')
  const after = (group: keyof typeof vocabulary, later = 0) =>
    signalAt(hear(field, vocabulary[group].slice(0, 8), 'me', noon, 'seed'), noon + later, 'seed')
  assert.ok(after('ground').T < before.T && after('ground').S < before.S)
  assert.ok(after('change').T > before.T && after('change').R > before.R)
  assert.ok(after('form').V > before.V)
  assert.ok(after('wind').Q < before.Q)
  assert.ok(after('wind', 5 * minuteMs).rotation > 0.05)
  assert.ok(after('form', 5 * minuteMs).rotation < -0.05)
})

test('a repeated word does less each time', () => {
  const field = newField(noon, 'seed')
  const heat = (words: string[]) => signalAt(hear(field, words, 'me', noon, 'seed'), noon, 'seed').T
  assert.ok(heat(Array(8).fill('fire')) < heat(vocabulary.change.slice(0, 8)))
})

test('speakers are counted for a day, each once, and their number is bounded', () => {
  let field = newField(noon, 'seed')
  const say = (speaker: string, at: number) => {
    field = hear(field, words.slice(0, 8), speaker, at, 'seed')
  }
  say('a', noon)
  say('a', noon + 1)
  say('b', noon + hourMs)
  assert.equal(signalAt(field, noon + hourMs, 'seed').n_nodes, 2)
  assert.equal(signalAt(field, noon + dayMs + 2, 'seed').n_nodes, 1)
  for (let speaker = 0; speaker < 400; speaker++) say(`s${speaker}`, noon + hourMs)
  assert.equal(field.speakers.length, 256)
})

test('every season comes, in order, and words describe the weather', () => {
  const seen: string[] = []
  for (let day = 0; day < 365; day++) {
    const at = Date.UTC(2026, 0, 1) + day * dayMs
    const { season } = signalAt(newField(at, 'seed'), at, 'seed')
    if (seen.at(-1) !== season) seen.push(season)
  }
  assert.deepEqual(seen, [...seasons, 'winter'])
  const field = newField(noon, 'seed')
  const before = signalAt(field, noon, 'seed')
  assert.match(describeSignal(before), /^It is winter: /)
  const after = signalAt(
    hear(field, vocabulary.change.slice(0, 8), 'me', noon, 'seed'),
    noon,
    'seed',
  )
  assert.match(describeChange(before, after), /^The field .*(grew warmer|tensed)/)
  assert.match(describeChange(before, before), /^The field hardly moved\. It is winter/)
})

test('an utterance is eight words of the vocabulary', () => {
  const eight = words.slice(0, 8)
  assert.deepEqual(readUtterance(eight.join('  ')), eight)
  for (const wrong of [undefined, null, 8, {}, [1, 2], [[]]]) {
    const read = readUtterance(wrong)
    assert.ok('fault' in read && /send 8 words/.test(read.fault), JSON.stringify(wrong))
  }
  for (const count of [0, 7, 9]) {
    const read = readUtterance(words.slice(0, count))
    assert.ok('fault' in read && read.fault.includes(`there are ${count}`))
  }
  const read = readUtterance([...words.slice(0, 7), 'banana'])
  assert.ok('fault' in read && read.fault.includes('"banana"'))
})
