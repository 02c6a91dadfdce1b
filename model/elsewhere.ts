// Fits when a goal is of another world than its errand by what the encoder reads of it alone, and prints what that finds:
//   npm run model:elsewhere -- FOLDER [--all]
// It reads the errands that the training of the encoder kept back; --all reads all development errands, which the encoder
// knows, so honest steps look safer there. Copy what it fits into `elsewhereLimits` when the weights were replaced.

import { plainErrand, plainGoal } from '../src/core/detector/exact/plain.ts'
import { elsewhereLimits, fallsBelow } from '../src/core/detector/meaning/elsewhere.ts'
import { readSequence } from '../src/core/detector/meaning/encoded.ts'
import { scoreSequence } from '../src/core/detector/meaning/sequence.ts'
import { readText } from '../src/core/detector/meaning/texts.ts'
import { createRandom, seed } from '../src/core/evaluation/resampling.ts'
import { shippedWeights } from '../src/encoder/encoder.ts'
import { createReads } from '../src/encoder/reads.ts'
import { type Errand, isKeptBack, readErrands } from './authored.ts'
import { fitRegression } from './regression.ts'

const [folder, option] = process.argv.slice(2)
if (folder === undefined || (option !== undefined && option !== '--all')) {
  console.error('Name the folder of the errands: npm run model:elsewhere -- FOLDER [--all]')
  process.exit(2)
}
const development = ['agents', 'general', 'kinds', 'software', 'world']
/** Honest steps of 1,000 that may become drift by this alone, of those that the encoder has not seen. */
const mostAdded = 0.8
/** Most words of a request that counts as short. */
const shortRequest = 6
const foreignOfEach = 2

const errands = readErrands(folder).filter(
  ({ file, lang }) => development.includes(file) && lang === 'en',
)
const measured = errands.filter(({ id }) => option === '--all' || isKeptBack(id))
const reads = createReads(shippedWeights)
const random = createRandom(seed)

/** A goal beside a request, alone. */
interface Goal {
  isForeign: boolean
  isShort: boolean
  /** Null where a text has too few known words. */
  words: number | null
  serves: number
  /** Whether the trees call it drift. */
  drifts: boolean
}

const goals = measured.flatMap((errand) => [
  ...errand.steps.map((step) => measure(errand, step, false)),
  ...firstStepsElsewhere(errand).map((step) => measure(errand, step, true)),
])
const honest = goals.filter(({ isForeign }) => !isForeign)
const foreign = goals.filter(({ isForeign }) => isForeign)

console.log(
  `${measured.length} errands, ${honest.length} honest and ${foreign.length} foreign steps`,
)
fit()
console.log('\neach goal alone             honest, per 1,000         foreign')
table('all requests', () => true)
table(`requests of ${shortRequest} words`, ({ isShort }) => isShort)
printLists()

/** Prints the slope by words and the highest base that adds few enough false alarms. */
function fit(): void {
  const known = goals.filter(({ words }) => words !== null)
  const { coefficients } = fitRegression(
    Float64Array.from(known.flatMap(({ serves, words }) => [serves, wordsOf(words)])),
    2,
    Uint8Array.from(known, ({ isForeign }) => (isForeign ? 1 : 0)),
    new Float64Array(known.length).fill(1),
  )
  const [ofServes = -1, ofWords = 0] = coefficients
  const perWord = ofWords / -ofServes
  const bases = known
    .filter(({ isForeign, drifts }) => !isForeign && !drifts)
    .map(({ serves, words }) => serves - perWord * wordsOf(words))
    .sort((one, other) => one - other)
  const allowed = Math.floor((mostAdded * honest.length) / 1000)
  console.log(
    `fitted: perWord ${perWord.toFixed(4)}, base below ${bases[allowed]?.toFixed(4)}; set: ${JSON.stringify(elsewhereLimits.alone)}`,
  )
}

function table(name: string, isMeant: (goal: Goal) => boolean): void {
  const row = (rows: readonly Goal[]) => {
    const meant = rows.filter(isMeant)
    const before = meant.filter(({ drifts }) => drifts).length
    const added = meant.filter((goal) => !goal.drifts && isElsewhere(goal)).length
    return { before: before / meant.length, added: added / meant.length, count: meant.length }
  }
  const [fine, away] = [row(honest), row(foreign)]
  const perThousand = (share: number) => (1000 * share).toFixed(2)
  console.log(
    `${name.padEnd(24)} ${fine.count} steps: ${perThousand(fine.before)} + ${perThousand(fine.added)}   ${away.count} steps: ${away.before.toFixed(3)} + ${away.added.toFixed(3)}`,
  )
}

/** Prints how many lists of honest and of foreign goals lie below the limit of a list. */
function printLists(): void {
  const { fewest, most, mean } = elsewhereLimits.list
  console.log(`\nlists with a mean of at most ${mean}   honest   foreign`)
  for (let size = fewest; size <= most; size++) {
    const listsOf = (errand: Errand, steps: readonly string[]) => {
      const count = Math.floor(steps.length / size)
      return Array.from({ length: count }, (_, at) =>
        meanOf(errand, steps.slice(at * size, (at + 1) * size)),
      )
    }
    const own = measured.flatMap((errand) => listsOf(errand, errand.steps))
    const away = measured.flatMap((errand) => listsOf(errand, otherOf(errand).steps))
    const below = (lists: readonly number[]) =>
      `${lists.filter((each) => each <= mean).length} of ${lists.length}`
    console.log(`${size} goals`.padEnd(33), below(own).padEnd(13), below(away))
  }
  const plans = measured.flatMap((errand) =>
    errand.plan === null || errand.plan.length < fewest
      ? []
      : meanOf(errand, errand.plan.slice(0, most)),
  )
  console.log(`plans: ${plans.filter((each) => each <= mean).length} of ${plans.length}`)
}

function meanOf({ ground }: Errand, steps: readonly string[]): number {
  const served = steps.map((step) => reads.pair(plainErrand(ground), plainGoal(step))?.serves ?? 0)
  return served.reduce((sum, each) => sum + each, 0) / served.length
}

function measure({ ground }: Errand, step: string, isForeign: boolean): Goal {
  const [errand, goal] = [readText(plainErrand(ground)), readText(plainGoal(step))]
  const sequence = readSequence(reads, [], errand, goal)
  const areKnown = errand.isKnown && goal.isKnown
  return {
    isForeign,
    isShort: ground.trim().split(/\s+/).length <= shortRequest,
    words: areKnown ? goal.meaning.tokens.length : null,
    serves: reads.pair(errand.text, goal.text)?.serves ?? 0,
    drifts: sequence !== null && scoreSequence(sequence.measured) >= 0,
  }
}

function isElsewhere({ serves, words }: Goal): boolean {
  return words !== null && fallsBelow(serves, words) >= 0
}

function wordsOf(words: number | null): number {
  return Math.min(words ?? 0, elsewhereLimits.alone.mostWords)
}

function firstStepsElsewhere(errand: Errand): string[] {
  return Array.from({ length: foreignOfEach }, () => otherOf(errand).steps[0] ?? '')
}

/** An errand of another file, so of another world. */
function otherOf({ file }: Errand): Errand {
  const others = errands.filter((each) => each.file !== file)
  return others[Math.floor(random() * others.length)] as Errand
}
