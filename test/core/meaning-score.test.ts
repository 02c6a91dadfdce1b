import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { bytesOfBase64 } from '../../src/core/base64.ts'
import { featureNames } from '../../src/core/detector/meaning/features.ts'
import { packagedModel, rowOf } from '../../src/core/detector/meaning/model.ts'
import { coverage, probabilityOf, scorePair } from '../../src/core/detector/meaning/score.ts'
import { analyse, stemOf } from '../../src/core/detector/meaning/text.ts'
import { meaningModel } from '../../src/core/detector/meaning/weights.js'
import { hashOf } from '../../src/core/detector/words/hash.ts'

interface Golden {
  ground: string
  goal: string
  /** The score in 1024ths. */
  score: number
}

const goldenFile = 'test/vectors/meaning-scores.json'
const goldens: Golden[] = JSON.parse(readFileSync(goldenFile, 'utf8'))
const anyText = fc.string({ unit: 'binary', maxLength: 300 })

function score(ground: string, goal: string): number {
  return scorePair(analyse(ground), analyse(goal))
}

describe('the score of a pair', () => {
  test('is what it was, to the last bit', () => {
    assert.ok(goldens.length >= 30)
    for (const { ground, goal, score: expected } of goldens) {
      assert.equal(score(ground, goal) * 1024, expected, `${ground} ⊃ ${goal}`)
    }
  })

  test('is the same without the optimising compiler', () => {
    const script = `
      import { readFileSync } from 'node:fs'
      import { scorePair } from './src/core/detector/meaning/score.ts'
      import { analyse } from './src/core/detector/meaning/text.ts'
      const pairs = JSON.parse(readFileSync('${goldenFile}', 'utf8'))
      const scores = pairs.map(({ ground, goal }) => scorePair(analyse(ground), analyse(goal)) * 1024)
      console.log(JSON.stringify(scores))`
    const flags = ['--no-opt', '--no-maglev', '--input-type=module', '--eval', script]
    const scores = JSON.parse(execFileSync(process.execPath, flags, { encoding: 'utf8' }))
    assert.deepEqual(
      scores,
      goldens.map((golden) => golden.score),
    )
  })

  test('rests on no function whose last digit may differ between engines', () => {
    const sources = ['features', 'model', 'score', 'text'].map((part) =>
      readFileSync(`src/core/detector/meaning/${part}.ts`, 'utf8'),
    )
    const used = sources.join('\n').match(/Math\.\w+| \*\* /g) ?? []
    assert.deepEqual([...new Set(used)].sort(), [
      'Math.imul',
      'Math.max',
      'Math.min',
      'Math.round',
      'Math.sqrt',
    ])
  })

  test('is whole 1024ths and finite for any two texts, and the same each time', () => {
    fc.assert(
      fc.property(anyText, anyText, (ground, goal) => {
        const first = score(ground, goal)
        return Number.isInteger(first * 1024) && Object.is(first, score(ground, goal))
      }),
    )
  })

  test('takes texts of any length', () => {
    const long = 'fix the login page of the shop '.repeat(3000)
    assert.ok(Number.isFinite(score(long, long)))
    assert.ok(analyse(long).tokens.length < 10)
  })

  test('says the same errand of a text and itself', () => {
    for (const { ground, goal } of goldens) {
      for (const text of [ground, goal]) {
        if (analyse(text).tokens.length > 0) assert.ok(score(text, text) < -2, text)
      }
    }
  })

  test('does not depend on how a letter is composed', () => {
    const ground = 'Réserver une table au café “Zürich”'
    const goal = 'Öffne das Café-Menü…'
    assert.equal(score(ground.normalize('NFD'), goal.normalize('NFD')), score(ground, goal))
    assert.deepEqual(analyse(ground.normalize('NFD')), analyse(ground.normalize('NFC')))
  })

  test('does not depend on what was read before', () => {
    const before = goldens.map(({ ground, goal }) => score(ground, goal))
    for (let n = 0; n < 25_000; n++) analyse(`word${n.toString(36)}x`)
    assert.deepEqual(
      goldens.map(({ ground, goal }) => score(ground, goal)),
      before,
    )
  })

  test('is 0 where a text has no word', () => {
    for (const empty of ['', '   ', '!?', '🙂']) {
      assert.equal(score(empty, 'Fix the login page'), 0)
      assert.equal(score('Fix the login page', empty), 0)
    }
  })

  test('reads through typographic quotes and dashes', () => {
    assert.equal(
      score('Rename “userId” – everywhere', 'Open userId.ts'),
      score('Rename "userId" - everywhere', 'Open userId.ts'),
    )
  })

  test('knows steps from strangers', () => {
    const errands: [ground: string, step: string, stranger: string][] = [
      ['Book a flight to Lisbon', 'Compare airline prices', 'Rewrite the login tests'],
      ['Fix the failing login test', 'Open test/login.test.ts', 'Order a pizza for dinner'],
      ['Boil an egg for breakfast', 'Put the pan with water on the stove', 'Deploy to kubernetes'],
    ]
    for (const [ground, step, stranger] of errands) {
      assert.ok(score(ground, step) < score(ground, stranger), ground)
    }
  })
})

describe('the probability of drift', () => {
  test('never falls as the score rises and stays within 0 and 1', () => {
    let before = 0
    for (let at = -12; at <= 12; at += 1 / 64) {
      const probability = probabilityOf(at)
      assert.ok(probability >= before && probability <= 1)
      before = probability
    }
    assert.ok(probabilityOf(-12) < 0.02)
    assert.ok(before > 0.3)
  })
})

describe('how much of a text the model knows', () => {
  const scenarios: [text: string, least: number, most: number][] = [
    ['Find a cheap flight from Paris to Berlin', 0.9, 1],
    ['Refactor the parser and run the unit tests', 1, 1],
    ['git rebase and push to origin', 1, 1],
    ['Suche einen billigen Flug von Paris nach Berlin', 0, 0.45],
    ['Buscar un vuelo barato de París a Berlín', 0, 0.45],
    ['Réserver une chambre pour deux nuits', 0, 0.45],
    ['查找从巴黎到柏林的便宜机票', 0, 0],
    ['7f3a9c01 b6e2d94f 00a1c7de', 0, 0.34],
    ['2024 1137', 0, 0],
    ['', 0, 0],
  ]
  for (const [text, least, most] of scenarios) {
    test(`of ${text === '' ? 'nothing' : text}`, () => {
      const share = coverage(analyse(text))
      assert.ok(share >= least && share <= most, String(share))
    })
  }
})

describe('the model file', () => {
  test('is the one in the package', () => {
    assert.ok(readFileSync('model/meaning.bin').equals(bytesOfBase64(meaningModel)))
  })

  test('was trained with the features that are measured', () => {
    const { features, coefficients } = packagedModel()
    assert.deepEqual(features, [...featureNames])
    assert.equal(coefficients.length, featureNames.length)
  })

  test('is small', () => {
    assert.ok(meaningModel.length <= 6_000_000)
  })

  test('finds its words', () => {
    const model = packagedModel()
    assert.equal(model.vectors.length, model.words * model.dims)
    for (const word of ['flight', 'refactor', 'kitchen', 'kubernetes']) {
      assert.ok(rowOf(model, hashOf(word)) >= 0, word)
    }
    assert.equal(rowOf(model, hashOf('qzxvbn')), -1)
  })
})

test('base64 is read as it is written', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) =>
      Buffer.from(bytesOfBase64(Buffer.from(bytes).toString('base64'))).equals(bytes),
    ),
  )
})

test('forms of a word have one stem', () => {
  const forms = [
    ['fix', 'fixed', 'fixes', 'fixing'],
    ['query', 'queries'],
    ['stop', 'stopping', 'stopped'],
    ['delete', 'deletes', 'deleted'],
  ]
  for (const [first = '', ...others] of forms) {
    for (const other of others) assert.equal(stemOf(other), stemOf(first), other)
  }
})
