// Measures the steps of runs as `readSequence` does, for `train.py`:
//   node model/sequence/data.ts OUT FOLDER [RUNS.jsonl | OTHER-FOLDER …]
// The runs are made of the development errands of FOLDER and of all errands of other folders, and read from the files
// RUNS. One JSON line for each step.

import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { standingTexts } from '../../src/core/detector/assignment.ts'
import { detect } from '../../src/core/detector/detect.ts'
import { plainErrand, plainGoal } from '../../src/core/detector/exact/plain.ts'
import { assignmentOf } from '../../src/core/detector/ground.ts'
import { readSequence } from '../../src/core/detector/meaning/encoded.ts'
import { readErrand } from '../../src/core/detector/meaning/errand.ts'
import { mostReadSteps } from '../../src/core/detector/meaning/read-steps.ts'
import { readText } from '../../src/core/detector/meaning/texts.ts'
import { type Memory, newMemory } from '../../src/core/detector/memory.ts'
import { createRandom, seed } from '../../src/core/evaluation/resampling.ts'
import { shippedWeights } from '../../src/encoder/encoder.ts'
import { createReads } from '../../src/encoder/reads.ts'
import { type Errand, isKeptBack, offKinds, readErrands } from '../authored.ts'

/** The step of a run with its label, or a message of the user. */
type Event = { goal: string; off: boolean | null } | { text: string }

interface Made {
  /** Runs of one errand have one id, so that they stay together. */
  id: string
  /** How it leaves the errand; `clean` if it does not. */
  kind: string
  lang: string
  ground: string
  events: Event[]
}

const [out, folder, ...others] = process.argv.slice(2)
if (out === undefined || folder === undefined) {
  console.error('Name the output and the folder of the errands.')
  process.exit(2)
}
/** The files of which a fifth of the errands is for development. */
const judged = ['agents', 'general', 'kinds', 'software', 'world']
const random = createRandom(seed)
const reads = createReads(shippedWeights)
const files = others.filter((path) => statSync(path).isFile())
const errands = [
  ...readErrands(folder).filter(({ file, id }) => judged.includes(file) && isKeptBack(id)),
  ...others.filter((path) => !files.includes(path)).flatMap(readErrands),
]
const runs = [...errands.flatMap((errand) => runsOf(errand)), ...files.flatMap(readRuns)]
const lines = runs.flatMap((run, at) => measuredSteps(run).map((step) => ({ run: at, ...step })))
writeFileSync(out, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
console.log(`${errands.length} errands, ${runs.length} runs, ${lines.length} steps`)

function upTo(count: number): number {
  return Math.floor(random() * count)
}

/** Clean runs, and runs that leave the errand at any place and come back from foreign work. */
function runsOf(errand: Errand): Made[] {
  const { id, lang, ground, steps } = errand
  const on = (goals: readonly string[]) => goals.map((goal) => ({ goal, off: false }))
  const off = (goals: readonly string[]) => goals.map((goal) => ({ goal, off: true }))
  const others = errands.filter(
    (other) =>
      other.file === errand.file && other.lang === errand.lang && other.domain !== errand.domain,
  )
  const made: Made[] = [{ id, kind: 'clean', lang, ground, events: on(steps) }]
  for (const cut of [0, 1 + upTo(2), 3 + upTo(2), 5 + upTo(2)]) {
    const other = others[upTo(others.length)]
    if (other === undefined) continue
    const from = upTo(other.steps.length - 3)
    const events = [
      ...on(steps.slice(0, cut)),
      ...off(other.steps.slice(from, from + 3)),
      ...on(steps.slice(cut, cut + 2)),
    ]
    made.push({ id, kind: 'foreign', lang, ground, events })
  }
  for (const kind of offKinds) {
    const goals = errand.off.filter((each) => each.kind === kind).map(({ goal }) => goal)
    if (goals.length === 0) continue
    made.push({ id, kind, lang, ground, events: [...on(steps.slice(0, upTo(7))), ...off(goals)] })
  }
  for (const { goal, asked } of errand.off) {
    if (asked !== null) made.push({ id, kind: 'asked', lang, ground: asked, events: on([goal]) })
  }
  return made
}

function readRuns(file: string): Made[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const { id, lang = 'en', ground, events } = JSON.parse(line)
    const read = events.map((event: { type: string; text: string; goal: string; label: string }) =>
      event.type === 'user'
        ? { text: event.text }
        : { goal: event.goal, off: event.label === 'unclear' ? null : event.label === 'off' },
    )
    return { id, kind: 'run', lang, ground, events: read }
  })
}

function measuredSteps({ id, kind, lang, ground, events }: Made) {
  let memory = newMemory('meaning')
  let said: string | undefined
  const measured: object[] = []
  let place = 0
  for (const event of events) {
    if ('text' in event) {
      said = said === undefined ? event.text : `${said}\n${event.text}`
      continue
    }
    const step = {
      goal: event.goal,
      progress: 'advancing',
      distance: 5,
      distanceReported: false,
      ground,
      reads,
    }
    const before = memory
    const detected = detect(memory, {
      ...step,
      ...(said === undefined ? {} : { userMessage: said }),
    })
    memory = detected.memory
    said = undefined
    const features = featuresOf(before, memory, event.goal)
    if (features === null || event.off === null) continue
    measured.push({ id, kind, lang, place: place++, off: event.off, features })
  }
  return measured
}

/** The measurements beside the standing request that the detector has compared; null if it asked for none. */
function featuresOf(before: Memory, after: Memory, goal: string): (number | null)[] | null {
  const newest = readErrand(after.own).read?.at(-1)
  const text = readText(plainGoal(goal))
  if (newest === undefined || !text.text.startsWith(newest.goal)) return null
  const kept = readErrand(after.own).read?.slice(0, -1) ?? []
  const known = readErrand(before.own).read ?? []
  // A full list has lost its oldest step.
  const isFull = known.length === mostReadSteps && kept.length === mostReadSteps - 1
  const earlier = isFull ? known : kept
  for (const request of standingTexts(assignmentOf(after))) {
    const sequence = readSequence(reads, earlier, readText(plainErrand(request)), text)
    if (sequence === null || sequence.measured[0] !== newest.serves) continue
    return [...sequence.measured].map((value) => (Number.isNaN(value) ? null : value))
  }
  return null
}
