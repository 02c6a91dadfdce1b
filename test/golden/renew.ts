// Prints where the detector is wrong about the golden runs, and what has changed since they were
// marked; with --write it renews the marks in the files:
//   node test/golden/renew.ts [--write]

import { readFileSync, writeFileSync } from 'node:fs'
import { answerOf, type GoldenStep, isRight, readRuns, replay } from './runs.ts'

const write = process.argv.includes('--write')
let steps = 0
let wrong = 0
let changed = 0
for (const run of readRuns()) {
  const lines = readFileSync(run.file, 'utf8').trimEnd().split('\n')
  for (const [place, verdict] of replay(run).entries()) {
    const step = run.steps[place] as GoldenStep
    const answer = answerOf(verdict)
    const mark = isRight(step, answer) ? undefined : answer
    const isNew = mark !== step.wrong
    steps += 1
    if (mark !== undefined) wrong += 1
    if (isNew) changed += 1
    if (mark !== undefined || isNew) {
      const now = mark === undefined ? 'is right now' : `says ${mark}, should say ${step.say}`
      console.log(`${isNew ? 'NEW ' : '    '}${run.run}, step ${place + 1}: ${now}`)
      console.log(`      ${step.goal}\n      ${verdict.why}`)
    }
    const { wrong: _, ...unmarked } = step
    lines[run.line + 1 + place] = JSON.stringify(
      mark === undefined ? unmarked : { ...unmarked, wrong: mark },
    )
  }
  if (write) writeFileSync(run.file, `${lines.join('\n')}\n`)
}
console.log(
  `${wrong} of ${steps} steps are wrong; ${changed} marks ${write ? 'renewed' : 'differ'}.`,
)
