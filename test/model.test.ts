import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { calibrate } from '../model/calibration.ts'
import { fitLeanings, leaningsOf } from '../model/leanings.ts'
import { encodeModel, untrained } from '../model/model-file.ts'
import type { TrainingPair } from '../model/pairs.ts'
import { principalDirections } from '../model/principal.ts'
import { fitRegression, predict } from '../model/regression.ts'
import { trainTable } from '../model/table.ts'
import { buildVocabulary } from '../model/vocabulary.ts'
import { featureNames, likenesses } from '../src/core/detector/meaning/features.ts'
import { decodeModel, rowOf } from '../src/core/detector/meaning/model.ts'
import { analyseWith } from '../src/core/detector/meaning/text.ts'
import { hashOf } from '../src/core/detector/words/hash.ts'
import { createRandom } from '../src/core/evaluation/resampling.ts'

const random = createRandom(1)

test('a regression finds the log-odds that made the labels', () => {
  const items = 20_000
  const rows = Float64Array.from({ length: 2 * items }, () => random() * 4 - 2)
  const labels = Uint8Array.from({ length: items }, (_, at) => {
    const logOdds = 0.5 + 2 * (rows[2 * at] ?? 0) - (rows[2 * at + 1] ?? 0)
    return random() < 1 / (1 + Math.exp(-logOdds)) ? 1 : 0
  })
  const found = fitRegression(rows, 2, labels, new Float64Array(items).fill(1))
  const [first = 0, second = 0] = found.coefficients
  assert.ok(Math.abs(found.bias - 0.5) < 0.15, String(found.bias))
  assert.ok(Math.abs(first - 2) < 0.15, String(first))
  assert.ok(Math.abs(second + 1) < 0.15, String(second))
  const expected = found.bias + first * (rows[6] ?? 0) + second * (rows[7] ?? 0)
  assert.ok(Math.abs(predict(found, rows, 3) - expected) < 1e-9)
})

test('the strongest direction is the one in which the rows vary', () => {
  const rows = new Float64Array(3000)
  for (let at = 0; at < rows.length; at += 3) {
    const along = random() * 2 - 1
    rows.set([3 * along, 4 * along, 0.1 * (random() * 2 - 1)], at)
  }
  const [x = 0, y = 0, z = 0] = principalDirections(rows, 3, 1)
  assert.ok(Math.abs(Math.abs(x) - 0.6) < 0.01 && Math.abs(Math.abs(y) - 0.8) < 0.01)
  assert.ok(Math.abs(z) < 0.01)
})

test('a calibration rises and tells the rate at one in ten', () => {
  const scored = Array.from({ length: 40_000 }, () => {
    const score = random() * 8 - 4
    return { score, drift: random() < 1 / (1 + Math.exp(-score)), weight: 1 }
  })
  const table = calibrate(scored)
  for (const [at, [from, probability]] of table.entries()) {
    const [before = Number.NEGATIVE_INFINITY, lower = 0] = table[at - 1] ?? []
    assert.ok(from > before && probability > lower, `${from}: ${probability}`)
  }
  // Even odds among equally many are one to nine where one in ten drifts.
  const even = table.findLast(([from]) => from <= 0.1)?.[1] ?? 0
  assert.ok(Math.abs(even - 0.1) < 0.03, String(even))
})

test('leanings tell a word that is always on the errand from one that never is', () => {
  const pairs = Array.from({ length: 400 }, (_, at) => ({
    stems: [at % 2 === 0 ? 'save' : 'pizza'],
    likeness: [0],
    offset: 0,
    drift: at % 2 === 1,
    weight: 1,
  }))
  const { unmatched, matched } = fitLeanings(pairs)
  const [save = 0, pizza = 0, other] = leaningsOf(['save', 'pizza', 'lamp'], unmatched)
  assert.ok(save < -0.3 && pizza > 0.3)
  assert.equal(other, 0)
  assert.deepEqual(leaningsOf(['save'], matched), [0])
})

describe('a table', () => {
  const families = [
    ['egg', 'pan', 'stove', 'boil', 'salt', 'kitchen'],
    ['flight', 'ticket', 'airport', 'seat', 'luggage', 'passport'],
    ...Array.from({ length: 20 }, (_, family) =>
      ['ba', 'do', 'fi', 'gu', 'le', 'mo'].map((end) => `${'abcdefghijklmnopqrst'[family]}x${end}`),
    ),
  ]
  const pairs: TrainingPair[] = Array.from({ length: 6000 }, (_, at) => {
    const words = families[at % families.length] ?? []
    const pick = () => words[Math.floor(random() * words.length)] ?? ''
    const [ground, goal] = [`${pick()} ${pick()}`, `${pick()} ${pick()}`]
    return { source: 'made', ground, goal, drift: false, kind: 'step', fold: 0 }
  })
  const words = families.flat()
  const general = {
    dims: 40,
    words,
    values: Float32Array.from({ length: 40 * words.length }, () => random() - 0.5),
  }
  const vocabulary = buildVocabulary(pairs, general, new Set(words))
  const table = trainTable(pairs, vocabulary)

  test('brings words together that share errands', () => {
    const model = decodeModel(encodeModel({ ...untrained, vocabulary, table }))
    const like = (ground: string, goal: string) =>
      likenesses(analyseWith(model, ground), analyseWith(model, goal))[0] ?? 0
    assert.ok(like('egg', 'stove') > 0.5, String(like('egg', 'stove')))
    assert.ok(like('egg', 'airport') < 0.2, String(like('egg', 'airport')))
    assert.equal(like('egg', 'eggs'), 1)
  })

  test('comes out the same again', () => {
    assert.deepEqual(trainTable(pairs, vocabulary), table)
  })

  test('is read back from its file', () => {
    const bytes = encodeModel({ ...untrained, vocabulary, table })
    const model = decodeModel(bytes)
    assert.equal(model.words, vocabulary.words.length)
    assert.deepEqual(model.features, [...featureNames])
    for (const [row, word] of vocabulary.words.entries()) {
      assert.equal(rowOf(model, hashOf(word)), row)
    }
    assert.equal(rowOf(model, hashOf('unheard')), -1)
    assert.match(model.version, /^[0-9a-f]{12}$/)
  })
})
