import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type LabelledEvents, readLabelled } from '../src/core/evaluation/labelled.ts'

/** How a goal leaves its errand. */
export const offKinds = ['neighbour', 'creep', 'entity', 'opposite', 'hijack', 'rabbit'] as const

export type OffKind = (typeof offKinds)[number]

/** A goal that leaves its errand, and a request under which the same goal is honest. */
export interface OffGoal {
  kind: OffKind
  goal: string
  /** Null if nobody has written one yet. */
  asked: string | null
}

/** An authored errand with its honest steps in order. */
export interface Errand {
  /** The file without its ending. */
  file: string
  id: string
  domain: string
  lang: string
  ground: string
  plan: string[] | null
  steps: string[]
  off: OffGoal[]
}

/** Reads the errands of a folder, with the counter-requests of their off goals: in a file of their own, or beside the goal. */
export function readErrands(folder: string): Errand[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  const asked = new Map<string, string>()
  for (const name of names.filter((name) => name.startsWith('asked-'))) {
    for (const line of readLines<{ id: string; k: number; asked: string }>(join(folder, name))) {
      asked.set(`${line.id} ${line.k}`, line.asked)
    }
  }
  return names
    .filter((name) => !name.startsWith('asked-') && !name.startsWith('runs'))
    .sort()
    .flatMap((name) =>
      readLines<StoredErrand>(join(folder, name)).map(
        ({ id, domain, lang = 'en', ground, plan, steps, off }) => ({
          file: basename(name, '.jsonl'),
          id,
          domain,
          lang,
          ground,
          plan: plan ?? null,
          steps,
          off: off.map((each, k) => ({
            ...each,
            asked: each.asked ?? asked.get(`${id} ${k}`) ?? null,
          })),
        }),
      ),
    )
}

/**
 * Whether the training of the encoder kept an errand of the development files back: a fifth of them, by their ids.
 * As `place` in encoder/data.py.
 */
export function isKeptBack(id: string): boolean {
  return Number.parseInt(createHash('sha256').update(id).digest('hex').slice(0, 8), 16) % 100 < 20
}

/** Reads the labelled runs of a folder. */
export function readAuthoredRuns(folder: string): LabelledEvents[] {
  return readLines<unknown>(join(folder, 'runs.jsonl')).map((line) => {
    const run = readLabelled(line)
    if ('fault' in run) throw new Error(run.fault)
    if (run.kind !== 'events') throw new Error('a run must have events')
    return run
  })
}

interface StoredErrand {
  id: string
  domain: string
  lang?: string
  ground: string
  plan?: string[]
  steps: string[]
  off: { kind: OffKind; goal: string; asked?: string }[]
}

function readLines<Line>(file: string): Line[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line))
}
