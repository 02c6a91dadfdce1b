// Writes the scores that the tests expect of the model. To be run after a training:
//   node model/goldens.ts

import { readFileSync, writeFileSync } from 'node:fs'
import { scorePair } from '../src/core/detector/meaning/score.ts'
import { analyse } from '../src/core/detector/meaning/text.ts'

const file = 'test/vectors/meaning-scores.json'
const pairs: { ground: string; goal: string }[] = JSON.parse(readFileSync(file, 'utf8'))
const scored = pairs.map(({ ground, goal }) => ({
  ground,
  goal,
  score: scorePair(analyse(ground), analyse(goal)) * 1024,
}))
writeFileSync(file, `${JSON.stringify(scored, null, 2)}\n`)
