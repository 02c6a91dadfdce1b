// Measures what an adaptation table adds on work that is newer than the table:
//   npm run model:adaptation-newer -- HISTORY...
// A history is a folder of a git repository, or a ChangeLog file such as Debian has under
// /usr/share/doc/PACKAGE/changelog.gz. The table learns from the older three fifths of the commits, as
// `plumbline adapt --git` does. It is measured on the newer two fifths, in two ways: on pairs of a subject
// with a file of its own commit and with a file of another commit of that time; and on runs through the files
// of a commit, of which every other run goes on with the files of another commit.

import { basename, dirname } from 'node:path'
import type { Example } from '../src/core/detector/meaning/adaptation-table.ts'
import type { Labelled, LabelledStep } from '../src/core/evaluation/labelled.ts'
import { createRandom, seed } from '../src/core/evaluation/resampling.ts'
import {
  alarmsHead,
  alarmsOf,
  build,
  gainHead,
  report,
  reportAlarms,
  scored,
} from './adaptation-scores.ts'
import { readHistory } from './histories.ts'

const olderShare = 0.6
const stepsOfPart = 3

const histories = process.argv.slice(2)
if (histories.length === 0) {
  console.error('Name a history: npm run model:adaptation-newer -- REPOSITORY_OR_CHANGELOG...')
  process.exit(2)
}

console.log(gainHead)
const runs = []
for (const path of histories) {
  const commits = await readHistory(path)
  const until = Math.floor(olderShare * commits.length)
  const built = build(commits.slice(0, until))
  const newer = commits.slice(until)
  if (built === null || newer.length < 2) {
    console.error(`${path}: ${commits.length} commits with files are too few.`)
    process.exit(2)
  }
  const random = createRandom(seed)
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] as Item
  /** A commit that shares no file with the given one. */
  const otherThan = ({ parts }: Example): Example | null => {
    const other = pick(newer)
    return other.parts.some((part) => parts.includes(part)) ? null : other
  }

  const pairs = newer.flatMap((commit) => {
    const other = otherThan(commit)
    if (other === null) return []
    const pair = (goal: string, drift: boolean) => ({
      ground: commit.errand,
      goal: `edit ${goal}`,
      drift,
      kind: 'file',
    })
    return [pair(pick(commit.parts), false), pair(pick(other.parts), true)]
  })
  const name = path.endsWith('.gz') ? basename(dirname(path)) : basename(path)
  report(name, scored(built.table, pairs), built.length)

  const labelled = ({ parts }: Example, from: number, label: LabelledStep['label']) =>
    parts.slice(from, from + stepsOfPart).map(
      (part): LabelledStep => ({
        goal: `edit ${part}`,
        label,
        progress: 'advancing',
        distance: null,
      }),
    )
  for (const [place, commit] of newer.entries()) {
    const other = otherThan(commit)
    if (other === null || commit.parts.length < stepsOfPart || other.parts.length < stepsOfPart) {
      continue
    }
    const after =
      place % 2 === 0 ? labelled(other, 0, 'drift') : labelled(commit, stepsOfPart, 'same')
    const run: Labelled = {
      kind: 'run',
      ground: commit.errand,
      steps: [...labelled(commit, 0, 'same'), ...after],
      source: path,
    }
    runs.push({ run, table: built.table })
  }
}
console.log(alarmsHead)
reportAlarms('newer commits', alarmsOf(runs.map(({ run }) => ({ run, table: null }))))
reportAlarms('  with table', alarmsOf(runs))
