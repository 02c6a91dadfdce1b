import { wordsOf } from '../detector/words/words.ts'
import type { Doings } from './evidence.ts'
import type { Act } from './host-event.ts'

/** How much of what an agent did its errand explains. Acts are counted, 0 or more; shares are 0–1. */
export interface ActCoverage {
  /** Whether there are enough acts to say. */
  known: boolean
  acts: number
  /** Acts of these that were counted and not read, and the greatest k of which every k-th was read (1 reads all). */
  skipped: number
  every: number
  /** Share of the acts that were read of which that is known, and of the newest twenty, that share a word or a folder with the errand; null without acts. */
  share: number | null
  recent: number | null
  /** Acts that failed. */
  failed: number
  /** Share of the acts of which the host told how they ended; null without acts. */
  outcomes: number | null
}

/** Fewest acts of which a share is told. */
const fewestActs = 8
const mostTerms = 400
const longestTerm = 40
const mostFolders = 40
const versionControl = /^(?:git|gh|hg|svn|jj)\b/

/** The words that explain an act: stems of the errand, the plan and the stated goal, at most 400. */
export function termsOf(texts: readonly (string | null)[]): string[] {
  const words = texts.flatMap((text) => (text === null ? [] : [...wordsOf(text)]))
  return [...new Set(words)].filter(({ length }) => length <= longestTerm).slice(0, mostTerms)
}

/** What explains the acts of an agent. */
export interface Explained {
  terms: readonly string[]
  /** Folders in which an explained act read or edited, the newest last. */
  folders: readonly string[]
  /** Whether an explained act has edited something. */
  hasEdited: boolean
}

/**
 * Whether the errand explains an act: they share a word; or the act is in a folder, other than the root, of an act that
 * was explained; or it tests or commits after an edit that was explained.
 */
export function explains({ terms, folders, hasEdited }: Explained, act: Act): boolean {
  if (hasEdited && (act.family === 'verify' || versionControl.test(act.words))) return true
  if (act.paths.map(folderOf).some((folder) => folder !== '' && folders.includes(folder)))
    return true
  return wordsInAct(act).some((word) => terms.includes(word))
}

/** What explains the next acts, after one that was explained. */
export function explainedAfter(explained: Explained, act: Act): Explained {
  const touches = act.family === 'edit' || act.family === 'read' || act.family === 'search'
  const entered = touches ? act.paths.map(folderOf).filter((folder) => folder !== '') : []
  const others = explained.folders.filter((folder) => !entered.includes(folder))
  return {
    terms: explained.terms,
    folders: [...others, ...new Set(entered)].slice(-mostFolders),
    hasEdited: explained.hasEdited || act.family === 'edit',
  }
}

/** The folder of a path inside the project; '' for its root and for places outside. */
function folderOf(path: string): string {
  if (path.startsWith('~')) return ''
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
}

function wordsInAct({ words, paths, said }: Act): readonly string[] {
  const parts = [...paths, words].map((text) =>
    text.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/[/\\._-]+/g, ' '),
  )
  return wordsOf([...parts, said ?? ''].join(' '))
}

/** How much of what an agent did its errand explains. */
export function coverageOf({
  acts,
  covered,
  failed,
  outcomes,
  recent,
  unplaced = 0,
  skipped = 0,
  every = 1,
}: Doings): ActCoverage {
  const newest = recent.slice(-20).filter(({ isCovered }) => isCovered !== null)
  const placed = acts - unplaced
  const share = (part: number, of: number) =>
    of === 0 ? null : Math.round((100 * part) / of) / 100
  return {
    known: placed >= fewestActs,
    acts: acts + skipped,
    skipped,
    every,
    share: share(covered, placed),
    recent: share(newest.filter(({ isCovered }) => isCovered === true).length, newest.length),
    failed,
    outcomes: share(outcomes, acts),
  }
}
