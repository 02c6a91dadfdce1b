// Measures the displacement between windows of one document, and between those of different ones:
//   npm run model:corpus -- FILE...
// Each file is a document on one subject, read line by line. Each window is compared with the first window of
// its own document, as it stands and with shuffled lines, and with the first window of another document. The
// two floors in src/core/corpus/windows.ts come from these rows.

import { readFileSync } from 'node:fs'
import { measureCorpus, type WindowDrift } from '../src/core/corpus/windows.ts'
import { createRandom, seed } from '../src/core/evaluation/resampling.ts'

const mostWindows = 40
const documents = process.argv.slice(2).map((path) => readFileSync(path, 'utf8').split('\n'))
const random = createRandom(seed)

console.log(
  `${documents.length} documents; phi at 10 %, 50 % and 90 % of the windows, and the share drifting`,
)
for (const window of [5, 10, 20, 50, 200]) {
  const rows: Record<string, WindowDrift[]> = { shuffled: [], same: [], other: [] }
  for (const [place, lines] of documents.entries()) {
    const another = documents[(place + 1) % documents.length] ?? []
    const same = measure(lines, window)
    const [first, ...later] = same
    if (first === undefined || later.length === 0) continue
    rows.same?.push(...later)
    rows.shuffled?.push(...measure(shuffled(lines), window).slice(1))
    rows.other?.push(...measure([...lines.slice(0, first.to + 1), ...another], window).slice(1))
  }
  for (const [name, windows] of Object.entries(rows)) {
    const phis = windows.map(({ phi }) => phi).sort((a, b) => a - b)
    const at = (share: number) => (phis[Math.floor(share * phis.length)] ?? 0).toFixed(2)
    const drifting = windows.filter((each) => each.drifting).length / Math.max(1, windows.length)
    console.log(
      `${String(window).padStart(4)} lines  ${name.padEnd(9)} ${String(windows.length).padStart(6)} windows  ` +
        `phi ${at(0.1)} ${at(0.5)} ${at(0.9)}  drifting ${(100 * drifting).toFixed(1).padStart(5)} %`,
    )
  }
}

function measure(lines: readonly string[], window: number): WindowDrift[] {
  const work = measureCorpus({ lines: linesOf(lines), window })
  let slice = work.next()
  while (!slice.done) slice = work.next()
  return 'fault' in slice.value ? [] : slice.value.windows.slice(0, mostWindows)
}

function* linesOf(lines: readonly string[]): Generator<string, null> {
  yield* lines
  return null
}

/** The shuffle of Fisher and Yates. */
function shuffled(lines: readonly string[]): string[] {
  const mixed = [...lines]
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    ;[mixed[last], mixed[other]] = [mixed[other] ?? '', mixed[last] ?? '']
  }
  return mixed
}
