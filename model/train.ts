// Trains the pair score of the meaning detector: writes model/meaning.bin and
// src/core/detector/meaning/weights.js. Takes some minutes; the same data gives the same bytes.
//   npm run model:train -- FOLDER

import { writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { featureNames, likenesses, measurePair } from '../src/core/detector/meaning/features.ts'
import { decodeModel, type Model } from '../src/core/detector/meaning/model.ts'
import { type Analysed, analyseWith } from '../src/core/detector/meaning/text.ts'
import { measurePairs } from '../src/core/evaluation/evaluation.ts'
import { calibrate } from './calibration.ts'
import { fitLeanings, type Leanings, type Worded } from './leanings.ts'
import { encodeModel, moduleOf, untrained } from './model-file.ts'
import { foldCount, readTrainingPairs, type TrainingPair } from './pairs.ts'
import { readDictionary, readVectors } from './pretrained.ts'
import { fitRegression, predict, type Regression } from './regression.ts'
import type { Table } from './table.ts'
import { trainInThread } from './table-thread.ts'
import { buildVocabulary } from './vocabulary.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('Name the folder of the labelled pairs: npm run model:train -- FOLDER')
  process.exit(2)
}
const cache = process.env.PRETRAINED_CACHE ?? join(homedir(), '.cache', 'plumbline-model')
const count = featureNames.length
const folds = Array.from({ length: foldCount }, (_, fold) => fold)

const pairs = readTrainingPairs(folder)
say(`${pairs.length} pairs to train on`)
const vocabulary = buildVocabulary(pairs, readVectors(cache), readDictionary(cache))
say(`${vocabulary.words.length} words`)
const weights = weightsOf(pairs)

// A table scores the pairs of its own training better than other pairs. So for each group of sources the
// regression sees only scores of a table that was trained without the group.
const training = folds.map((fold) => trainInThread(outside(fold), vocabulary))
const trainingOfAll = trainInThread(pairs, vocabulary)
const tables = await Promise.all(training)
say('tables without each group of sources')
const plain = measureHeldOut((fold) => modelWith(tableOf(fold)))
const offsets = heldOutScores(plain)
const worded = wordPairs(offsets)
const leanings = folds.map((fold) => fitLeanings(worded.filter((_, at) => foldAt(at) !== fold)))
const measured = measureHeldOut((fold) => modelWith(tableOf(fold), leanings[fold]))
const heldOut = heldOutScores(measured)
say(`area under the curve on held-out sources: ${areaOf(heldOut).toFixed(4)}`)

const table = await trainingOfAll
say('the table of all sources')
const regression = fitRegression(measured, count, labelsOf(pairs), weights)
const calibration = calibrate(
  pairs.map(({ drift }, at) => ({ score: heldOut[at] ?? 0, drift, weight: weights[at] ?? 0 })),
)
const bytes = encodeModel({
  vocabulary,
  table,
  leanings: fitLeanings(worded),
  regression,
  calibration,
})
writeFileSync('model/meaning.bin', bytes)
writeFileSync('src/core/detector/meaning/weights.js', moduleOf(bytes))
for (const [at, name] of featureNames.entries()) {
  console.log(`${name.padEnd(32)} ${(regression.coefficients[at] ?? 0).toFixed(4)}`)
}
say(`${bytes.length} bytes, version ${decodeModel(bytes).version}`)

function say(text: string): void {
  console.log(`${performance.now().toFixed(0).padStart(8)} ms  ${text}`)
}

function foldAt(at: number): number {
  return pairs[at]?.fold ?? 0
}

function outside(fold: number): TrainingPair[] {
  return pairs.filter((pair) => pair.fold !== fold)
}

function tableOf(fold: number): Table {
  const found = tables[fold]
  if (found === undefined) throw new Error(`no table was trained without group ${fold}`)
  return found
}

function modelWith(of: Table, learned: Leanings = untrained.leanings): Model {
  return decodeModel(encodeModel({ ...untrained, vocabulary, table: of, leanings: learned }))
}

/** Measures every pair with the model that was trained without its source. */
function measureHeldOut(modelOf: (fold: number) => Model): Float64Array {
  const rows = new Float64Array(pairs.length * count)
  eachHeldOut(modelOf, (ground, goal, at) => {
    measurePair(ground, goal, rows.subarray(at * count, (at + 1) * count))
  })
  return rows
}

function eachHeldOut(
  modelOf: (fold: number) => Model,
  visit: (ground: Analysed, goal: Analysed, at: number) => void,
): void {
  for (const fold of folds) {
    const model = modelOf(fold)
    for (const [at, pair] of pairs.entries()) {
      if (pair.fold === fold) {
        visit(analyseWith(model, pair.ground), analyseWith(model, pair.goal), at)
      }
    }
  }
}

/** Scores every pair with a regression that was trained without its source. */
function heldOutScores(rows: Float64Array): Float64Array {
  const scores = new Float64Array(pairs.length)
  for (const fold of folds) {
    const without = regressionWithout(fold, rows)
    for (const at of pairs.keys()) if (foldAt(at) === fold) scores[at] = predict(without, rows, at)
  }
  return scores
}

function regressionWithout(fold: number, rows: Float64Array): Regression {
  const kept = [...pairs.keys()].filter((at) => foldAt(at) !== fold)
  const some = new Float64Array(kept.length * count)
  for (const [to, at] of kept.entries()) {
    some.set(rows.subarray(at * count, (at + 1) * count), to * count)
  }
  const keptPairs = outside(fold)
  const keptWeights = Float64Array.from(kept, (at) => weights[at] ?? 0)
  return fitRegression(some, count, labelsOf(keptPairs), keptWeights)
}

function wordPairs(scores: Float64Array): Worded[] {
  const read: Worded[] = []
  eachHeldOut(
    (fold) => modelWith(tableOf(fold)),
    (ground, goal, at) => {
      read[at] = {
        stems: goal.tokens.map(({ root }) => root),
        likeness: likenesses(ground, goal),
        offset: scores[at] ?? 0,
        drift: pairs[at]?.drift ?? false,
        weight: weights[at] ?? 0,
      }
    },
  )
  return read
}

function labelsOf(of: readonly TrainingPair[]): Uint8Array {
  return Uint8Array.from(of, ({ drift }) => (drift ? 1 : 0))
}

/** A pair of a large source weighs less, so that small sources count too. */
function weightsOf(of: readonly TrainingPair[]): Float64Array {
  const sizes = new Map<string, number>()
  for (const { source } of of) sizes.set(source, (sizes.get(source) ?? 0) + 1)
  const raw = Float64Array.from(of, ({ source }) => 1 / Math.sqrt(sizes.get(source) ?? 1))
  const mean = raw.reduce((sum, weight) => sum + weight, 0) / raw.length
  return raw.map((weight) => weight / mean)
}

function areaOf(scores: Float64Array): number {
  const judged = pairs.map(({ source, drift }, at) => {
    const label = drift ? ('drift' as const) : ('same' as const)
    const score = scores[at] ?? 0
    const step = { label, score, drifting: false, uncertain: false, confidence: 0, phi: 0 }
    return { source, steps: [step] }
  })
  return measurePairs(judged, 0).auc.value ?? 0
}
