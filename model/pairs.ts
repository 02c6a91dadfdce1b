import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type Labelled, readLabelled } from '../src/core/evaluation/labelled.ts'

/** A ground and a goal with their label. */
export interface Pair {
  source: string
  ground: string
  goal: string
  drift: boolean
  kind: string
}

/** A training pair with its group of sources for the hold-out, 0–4. */
export interface TrainingPair extends Pair {
  fold: number
}

interface PairLine extends Omit<Pair, 'drift'> {
  label: 'same' | 'drift'
}

/** The number of groups for the hold-out. */
export const foldCount = 5

/** Sources under a share-alike licence. They serve for measurements and never for training. */
const shareAlike: ReadonlySet<string> = new Set(['awsec2', 'awss3'])

// Sources of one family are held out together if they describe the same world.
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
 * Reads the training pairs: those without a share-alike licence. Injections use grounds of other sources and
 * are held out with them.
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
    // The licence of a ground that only injections use is not known.
    if (fold === undefined && source.startsWith(injections)) return []
    if (fold === undefined) throw new Error(`no fold is named for the source ${source}`)
    return [{ ...pair, fold }]
  })
}

/** Reads the labelled pairs of a file, compressed or not. */
export function readPairs(file: string): Pair[] {
  return readLines<PairLine>(file).map(({ source, ground, goal, label, kind }) => ({
    source,
    ground,
    goal,
    drift: label === 'drift',
    kind,
  }))
}

/** Reads every line of a file of JSON lines, compressed or not. */
export function readLines<Line>(file: string): Line[] {
  const bytes = readFileSync(file)
  const text = (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** Reads a line of labelled pairs or runs without messages of users. Throws an error with the field if it is none. */
export function readGoals(line: unknown): Labelled {
  const labelled = readLabelled(line)
  if ('fault' in labelled) throw new Error(labelled.fault)
  if (labelled.kind === 'events') throw new Error('events are not read here')
  return labelled
}
