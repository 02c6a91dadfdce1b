import { publishedFigures } from '../../src/core/evaluation/published-figures.ts'
import type { Share } from '../../src/core/figures.ts'

const [written, authored] = publishedFigures.rows.map(({ found, ...row }) => ({
  ...row,
  foundWithin3: new Map(found.map(({ kind, within_3 }) => [kind, within_3])),
}))
const ofAny = authored?.foundWithin3.get('any kind')
if (written === undefined || authored === undefined || ofAny === undefined) {
  throw new Error('the published figures lack a set of runs')
}

/**
 * How often the detector is right: the published figures, and those that stand in model/README.md and docs/detector.md
 * alone (a test compares). `npm run model:eval -- FOLDER` measures it.
 */
export const figures = {
  errands: 520,
  falseAlarmsPer1000: written.false_alarms_per_1000,
  publishedFalseAlarmsPer1000: 995,
  precisionAt10Percent: written.precision_at_10_percent,
  uncertainShare: { value: 0.11, low: 0.1, high: 0.12 } as Share,
  /** The share of runs whose drift is found within three steps, by its kind, best first. */
  foundWithin3: Object.fromEntries(
    [...written.foundWithin3].sort(([, one], [, other]) => other.value - one.value),
  ),
  /** Whole runs as people wrote them, with plans and messages of users. */
  authored: {
    runs: 200,
    falseAlarmsPer1000: authored.false_alarms_per_1000,
    precisionAt10Percent: {
      value: authored.precision_at_10_percent,
      low: 0.35,
      high: 0.6,
    } as Share,
    foundWithin3: ofAny,
  },
} as const

/** What each kind of drift is, in a few words. */
export const kindsInWords: Readonly<Record<string, string>> = {
  foreign: 'Another task',
  creep: 'More than was asked',
  hijack: 'A planted instruction',
  neighbour: 'A task next to it',
  rabbit: 'A rabbit hole',
  opposite: 'The opposite',
  entity: 'The wrong name or number',
}
