import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** A ground and a goal with what was found of them. */
export interface Pair {
  source: string
  ground: string
  goal: string
  drift: boolean
  kind: string
}

/** A training pair with the group of sources it is held out with, 0–4. */
export interface TrainingPair extends Pair {
  fold: number
}

interface PairLine extends Omit<Pair, 'drift'> {
  label: 'same' | 'drift'
}

/** How many groups the sources are held out in. */
export const foldCount = 5

/** Sources under a share-alike licence: measured with, never trained on. */
const shareAlike: ReadonlySet<string> = new Set(['awsec2', 'awss3'])

// Sources of one family are held out together where they describe the same world.
const folds: Readonly<Record<string, number>> = {
  alfred: 0,
  virtualhome: 0,
  'pr:flask': 0,
  'pr:jekyll': 0,
  clinc: 1,
  'pr:compose': 1,
  'pr:rubocop': 1,
  apibench: 2,
  'pr:helm': 2,
  'pr:cargo': 2,
  bfcl: 3,
  toolbench: 3,
  'pr:datasets': 3,
  'pr:webpack': 3,
  tldr: 4,
  powershell: 4,
  'pr:mocha': 4,
  'pr:ipython': 4,
  'pr:ember.js': 4,
}
const injections = 'hijack:'

/**
 * The pairs to train on: those without a share-alike licence. Injections stand on grounds of other
 * sources and are held out with them.
 */
export function readTrainingPairs(folder: string): TrainingPair[] {
  const pairs = readPairs(join(folder, 'train.jsonl.gz'))
  const sourceOf = new Map<string, string>()
  for (const { ground, source } of pairs) {
    if (!source.startsWith(injections)) sourceOf.set(ground, source)
  }
  return pairs.flatMap((pair) => {
    const source = sourceOf.get(pair.ground) ?? pair.source
    if (shareAlike.has(source)) return []
    const fold = folds[source]
    // A ground that only injections stand on is not known to be free.
    if (fold === undefined && source.startsWith(injections)) return []
    if (fold === undefined) throw new Error(`no fold is named for the source ${source}`)
    return [{ ...pair, fold }]
  })
}

/** The labelled pairs of a file, packed or not. */
export function readPairs(file: string): Pair[] {
  return readLines<PairLine>(file).map(({ source, ground, goal, label, kind }) => ({
    source,
    ground,
    goal,
    drift: label === 'drift',
    kind,
  }))
}

/** Every line of a file of JSON lines, packed or not. */
export function readLines<Line>(file: string): Line[] {
  const bytes = readFileSync(file)
  const text = (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
